//! One review inside the hook: the same message and the same command line as in the supervised session.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};

use super::checks;
use super::guard::Guarded;
use super::judge::{self, Review};
use crate::client::launch::{Launch, ReviewOptions, review_args};
use crate::client::transcript::Transcript;
use crate::config::Config;
use crate::config::clients::{Clients, JudgedBy, Limits, judges_environment, of_this_process};
use crate::directories::Directories;
use crate::event::{ReviewRequest, Said};
use crate::executables;
use crate::files;
use crate::hook::event::StopEvent;
use crate::hook::pinned::Pinned;
use crate::record::SupervisorLog;
use crate::review::instructions::{self, Instructions, Problem};
use crate::review::policy::{Judging, Policy};
use crate::review::prompt::review_prompt;
use crate::review::requirement::Requirement;
use crate::review::verdict::Verdict;
use crate::session::{changed_files, one_time_word};
use crate::tree::{Change, Snapshot};

/// How far the task has come.
pub struct Task {
    pub round: u32,
    /// What its last review found.
    pub requirements: Vec<Requirement>,
}

pub fn run(
    settings: Option<&Path>,
    event: &StopEvent,
    transcript: &Transcript,
    place: &Directories,
    config: &Config,
    limits: &Limits,
    Task { round, requirements }: Task,
    mut guarded: Option<&mut Guarded>,
) -> Result<Verdict> {
    let supervisor = config.supervisor()?;
    let pinned = guarded.as_deref_mut().and_then(|guarded| guarded.instructions(place));
    let found = match pinned {
        Some(pinned) => pinned.map_err(|problem| anyhow!("{problem}"))?,
        None => instructions(place)?,
    };
    let own = supervisor.checks.clone();
    let checked = checks::run(place, own, &found, limits.review_timeout / 2)?;
    if let Some(red) = checked.red {
        return Ok(Verdict::new(false, &red));
    }
    let (text, front) = (found.text, found.front);
    let proof = front.proof.or(supervisor.proof).unwrap_or_default();
    let request = ReviewRequest {
        review: round,
        round,
        max: limits.max_iterations,
        session_id: event.session_id.clone(),
        model: transcript.model.clone().unwrap_or_default(),
        said: said(transcript),
        last_answer: event.last_assistant_message.clone().unwrap_or_default(),
        background: Vec::new(),
        brief: checks::told(&checked.results, event, transcript),
        requirements,
        word: Some(one_time_word()),
    };
    let (settings, env) = match settings {
        Some(path) => {
            let path = match guarded.as_deref_mut() {
                Some(guarded) => guarded.settings(path)?,
                None => path.to_owned(),
            };
            let text = files::read_text(&path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            let _: serde_json::Value = serde_json::from_str(&text)
                .with_context(|| format!("{} is broken", path.display()))?;
            let provider = guarded.as_deref().and_then(|guarded| guarded.pinned.provider.clone());
            let provider = provider.or_else(|| config.default_provider());
            let env = of_this_process();
            (path, judges_environment(place, config, provider.as_deref(), &env)?)
        }
        None => {
            let client = Clients::prepare(
                place,
                config,
                config.default_provider().as_deref(),
                None,
                limits,
                JudgedBy::Hook,
            )?
            .supervisor;
            (client.settings, client.env)
        }
    };
    let options = ReviewOptions {
        form: supervisor.review,
        settings: Some(settings),
        second_opinion: supervisor.provider.is_some(),
        model: supervisor.model,
        allowed_tools: supervisor.allowed_tools,
        // Of a session that was not supervised from its start they are not known.
        add_dirs: pinned_args(guarded.as_deref(), |pinned| &pinned.add_dirs),
        prompt_options: pinned_args(guarded.as_deref(), |pinned| &pinned.prompt_options),
        sandbox: supervisor.sandbox,
    };
    if let Some(reason) = options.form(&request).1 {
        log::info!("supervisor-hook: the review is asked for with a schema, because {reason}");
    }
    let claude = match guarded.as_deref().and_then(|guarded| guarded.pinned.claude.clone()) {
        Some(claude) => claude,
        None => executables::claude()?,
    };
    let changed = guarded.map(|guarded| guarded.for_the_judge()).unwrap_or_default();
    let launch = Launch {
        ccc: executables::ccc()?,
        claude: vec![claude.into()],
        args: review_args(&request, &text, &options),
        env,
        // Where the session began: the client finds it only from there.
        dir: place.project.clone(),
        case: options.sandbox.case(&place.project, &options.add_dirs),
    };
    let log = SupervisorLog::open(&place.state_dir, &event.session_id);
    let judging = Judging { allowed_tools: options.allowed_tools, ..Judging::today(proof) };
    let policy = Policy::hook(limits.review_timeout.saturating_sub(checked.took), &judging);
    let prompt = format!("{}{changed}", review_prompt(&text, &request));
    let git = executables::on_path(Path::new("git"));
    let (project, looked_at_with) = (place.project.clone(), git.clone());
    let before = std::thread::spawn(move || Snapshot::take(&project, looked_at_with.as_deref()));
    let roots = [place.project.clone()];
    let (ran, checks) = (&transcript.commands, &checked.results);
    let review = Review { request: &request, ran, roots: &roots, checks };
    let verdict = judge::run(&launch, &prompt, log, policy, review);
    if let Ok(before) = before.join() {
        let changes = before.changes(&Snapshot::take(&place.project, git.as_deref()));
        tell_changes(&changes);
    }
    verdict
}

fn said(transcript: &Transcript) -> Vec<Said> {
    let said = transcript.said.iter();
    said.map(|said| Said { text: said.text.clone(), earlier: false }).collect()
}

/// An alarm: nothing of the project should change while it is judged.
fn tell_changes(changes: &[Change]) {
    let (files, more) = changed_files(changes);
    if !files.is_empty() {
        let files: Vec<_> = files.iter().map(ToString::to_string).collect();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let text = format!(
            "while the review ran, files of the project changed: {}{more}",
            files.join(", ")
        );
        super::say(&text);
        log::warn!("supervisor-hook: {text}");
    }
}

fn pinned_args(guarded: Option<&Guarded>, of: fn(&Pinned) -> &Vec<String>) -> Vec<OsString> {
    let args = guarded.map(|guarded| of(&guarded.pinned).iter().map(OsString::from).collect());
    args.unwrap_or_default()
}

/// The hook cannot ask for a SUPERVISOR.md, so it writes the default where there is none.
fn instructions(place: &Directories) -> Result<Instructions> {
    match instructions::find(&place.project, &place.config_dir) {
        Ok(found) => Ok(found),
        Err(Problem::Missing { looked_in: [_, global] }) => {
            if let Err(error) =
                files::create_new(&global, instructions::DEFAULT.as_bytes(), files::FOR_ALL)
            {
                super::say(&format!("{} could not be written: {error}", global.display()));
            }
            Instructions::default_at(&global).map_err(|problem| anyhow!("{problem}"))
        }
        Err(problem) => bail!("{problem}"),
    }
}
