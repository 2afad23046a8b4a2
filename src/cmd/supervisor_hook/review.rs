//! One review inside the hook, with the same message and command line as in a supervised session.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use crossbeam_channel::Receiver;

use super::checks;
use super::files::Files;
use super::guard::Guarded;
use super::judge::{self, HookReview, JudgeStart, Judged};
use super::typed;
use crate::checks::{FILES_CHANGED, voids_confirmation};
use crate::client::launch::{Launch, ReviewOptions, review_args};
use crate::client::stream::Usage;
use crate::client::transcript::ClientTranscript;
use crate::cmd::release;
use crate::config::clients::{
    Clients, JudgeSettings, JudgedBy, Limits, Variables, confine, judges_environment,
    of_this_process,
};
use crate::config::{Config, Judge, Supervisor};
use crate::directories::Directories;
use crate::event::{ChangedFile, Notice, ReviewRequest, Said};
use crate::executables;
use crate::files;
use crate::hook::event::HookEvent;
use crate::hook::pinned::Pinned;
use crate::hook::task::Task;
use crate::hook::transcript_file::TranscriptFile;
use crate::process::orphans;
use crate::record::SupervisorLog;
use crate::review::instructions::{self, Instructions, Problem};
use crate::review::policy::Policy;
use crate::review::prompt::review_prompt;
use crate::review::verdict::Verdict;
use crate::session::changed_files;

/// The outcome of a review.
pub struct Reviewed {
    /// `None` if the review was dropped because the person typed something.
    pub verdict: Option<Verdict>,
    /// The fingerprint of the project's files that were judged; `None` if a red check decided.
    pub tree: Option<String>,
    pub cost_usd: f64,
    pub usage: Usage,
    /// What to report besides the verdict.
    pub notices: Vec<Notice>,
    /// The judge confirmed files that have changed since the checks ran.
    void: bool,
}

impl Reviewed {
    fn without_a_judge(verdict: Option<Verdict>, notices: Vec<Notice>) -> Self {
        let (cost_usd, usage) = (0.0, Usage::default());
        Self { verdict, tree: None, cost_usd, usage, notices, void: false }
    }
}

/// The inputs of a review.
pub struct Occasion<'a> {
    /// The settings file of each judge.
    pub settings: &'a [PathBuf],
    pub event: &'a HookEvent,
    pub place: &'a Directories,
    pub config: &'a Config,
    pub limits: &'a Limits,
    pub task: &'a Task,
}

/// As in a session, a confirmation of files that have changed meanwhile is reviewed again, but only
/// once: something may be changing files all the time. Both reviews share the time of one.
pub fn run(
    occasion: &Occasion<'_>,
    transcript: TranscriptFile,
    mut guarded: Option<&mut Guarded>,
) -> Result<Reviewed> {
    orphans::adopt_and_reap().context("cannot look after processes that are left behind")?;
    let (transcript, file) = transcript.split();
    let (typed, began) = (typed::watch(file), Instant::now());
    let mut review = |spent: Duration| {
        let time = occasion.limits.review_timeout.saturating_sub(spent);
        once(occasion, &transcript, &typed, time, guarded.as_deref_mut())
    };
    let mut first = review(Duration::ZERO)?;
    if !first.void {
        return Ok(first);
    }
    super::say(&format!("judged again: {FILES_CHANGED}"));
    first.notices.push(Notice::ReviewFailed {
        round: occasion.task.count,
        reason: FILES_CHANGED.to_owned(),
        retrying: true,
    });
    let mut second = review(began.elapsed())?;
    second.cost_usd += first.cost_usd;
    second.usage += first.usage;
    second.notices.splice(0..0, first.notices);
    Ok(second)
}

fn once(
    occasion: &Occasion<'_>,
    transcript: &ClientTranscript,
    typed: &Receiver<Instant>,
    time: Duration,
    mut guarded: Option<&mut Guarded>,
) -> Result<Reviewed> {
    let Occasion { settings, event, place, config, limits, .. } = *occasion;
    let supervisor = config.supervisor()?;
    let found = instructions(place, guarded.as_deref_mut())?;
    let task = transcript.said.get(occasion.task.earlier);
    let project_files = Files::of(place.project.clone(), guarded.as_deref(), task)?;
    let answer = event.last_assistant_message.as_deref().unwrap_or_default();
    let (mut examined, mut diffs) = project_files.compare(answer);
    let (own, changed) = (supervisor.checks.clone(), examined.changed.as_ref());
    let checked = checks::run(place, own, &found, changed, time / 2, typed)?;
    let mut notices: Vec<_> = checked.results.iter().cloned().map(Notice::CheckEnded).collect();
    if checked.dropped {
        return Ok(Reviewed::without_a_judge(None, notices));
    }
    if let Some(red) = checked.red {
        return Ok(Reviewed::without_a_judge(Some(Verdict::new(false, &red)), notices));
    }
    if checked.ran {
        (examined, diffs) = project_files.compare(answer);
    }
    let (text, front) = (found.text, found.front);
    let brief = checks::told(&checked.results, &examined, event, transcript, false);
    let request = request(occasion, transcript, brief);
    let (round, max) = (request.round, request.max);
    notices.push(Notice::ReviewStarted { round, max, attempt: 1, judge: None });
    if !request.brief.is_empty() {
        notices.push(Notice::Brief { round, text: request.brief.clone() });
    }
    guarded.as_deref().map(Guarded::check_judge).transpose()?;
    let judges = judges(settings, place, config, limits, guarded.as_deref_mut())?;
    let claude = match guarded.as_deref().map(|guarded| &guarded.pinned) {
        Some(Pinned { program: Some(program), .. }) => program.found()?,
        Some(Pinned { claude: Some(claude), .. }) => claude.clone(),
        _ => executables::claude()?,
    };
    release::refuse_too_old(&claude)?;
    let start = Start {
        judges,
        supervisor: &supervisor,
        place,
        // Unknown if the session was not supervised from its start.
        add_dirs: pinned_args(guarded.as_deref(), |pinned| &pinned.add_dirs),
        prompt_options: pinned_args(guarded.as_deref(), |pinned| &pinned.prompt_options),
        claude,
        ccc: executables::ccc()?,
        git: project_files.workplace.git.clone(),
        text: &text,
        changed: guarded.map(|guarded| guarded.for_the_judge()).unwrap_or_default(),
    };
    let log = if super::is_set(super::NO_RECORD) {
        SupervisorLog::default()
    } else {
        SupervisorLog::open(&place.state_dir, &event.session_id)
    };
    let judging = supervisor.judging(front.proof);
    let policy = Policy::hook(time.saturating_sub(checked.took), &judging);
    let before = {
        let project_files = project_files.clone();
        std::thread::spawn(move || project_files.look())
    };
    let further = start.add_dirs.iter().map(|dir| place.project.join(dir));
    let roots: Vec<_> = std::iter::once(place.project.clone()).chain(further).collect();
    let (ran, checks) = (&transcript.commands, &checked.results);
    let (mut brief_for_fresh_eyes, mut diff) = (String::new(), String::new());
    if judging.judges.iter().any(|judge| judge.fresh) {
        brief_for_fresh_eyes = checks::told(&checked.results, &examined, event, transcript, true);
        diff = project_files.diff(&diffs);
    }
    let old = project_files.old_lines(&examined, diffs);
    let review = HookReview {
        request: &request,
        ran,
        roots: &roots,
        state_dir: &place.state_dir,
        checks,
        still_the_same: &|| examined.fingerprint == Some(project_files.look().fingerprint()),
        brief_for_fresh_eyes: &brief_for_fresh_eyes,
        diff: &diff,
        old: old.as_ref(),
        typed: typed.clone(),
    };
    let judged = judge::run(&|request| start.of(request), log, policy, review);
    let mut changed = false;
    if let Ok(before) = before.join() {
        let after = project_files.workplace.look_again(Some(&before));
        let (files, more) = changed_files(&before.changes(&after));
        changed = !files.is_empty();
        if changed {
            tell_changes(&files, more);
            notices.push(Notice::TreeChanged { round, files, more });
        }
    }
    let Judged { verdict, cost_usd, usage } = judged?;
    let void = verdict.as_ref().is_some_and(|verdict| verdict.completed)
        && voids_confirmation(&checked.checks, changed);
    Ok(Reviewed { verdict, tree: examined.fingerprint, cost_usd, usage, notices, void })
}

fn request(occasion: &Occasion<'_>, transcript: &ClientTranscript, brief: String) -> ReviewRequest {
    let Occasion { event, limits, task, .. } = *occasion;
    ReviewRequest {
        review: task.count,
        round: task.count,
        max: limits.max_iterations,
        session_id: event.session_id.clone(),
        model: transcript.model.clone().unwrap_or_default(),
        said: said(transcript, task),
        last_answer: event.last_assistant_message.clone().unwrap_or_default(),
        background: event.background().into_iter().map(|task| task.name).collect(),
        brief,
        requirements: task.requirements.clone(),
        ..ReviewRequest::default()
    }
}

/// What the judges are started with.
struct Start<'a> {
    judges: Vec<(Judge, JudgeSettings, Variables)>,
    supervisor: &'a Supervisor,
    place: &'a Directories,
    add_dirs: Vec<OsString>,
    prompt_options: Vec<OsString>,
    claude: PathBuf,
    ccc: PathBuf,
    git: Option<PathBuf>,
    /// The instructions from SUPERVISOR.md.
    text: &'a str,
    /// What has changed since supervision began.
    changed: String,
}

impl Start<'_> {
    fn of(&self, request: &ReviewRequest) -> Result<JudgeStart> {
        let at = request.judge.min(self.judges.len().saturating_sub(1));
        let (judge, settings, env) = &self.judges[at];
        let settings = settings.argument(env)?;
        let mut env = env.clone();
        let allowed = &self.supervisor.allowed_tools;
        confine(&mut env, self.git.as_deref(), &self.place.project, allowed);
        let options = ReviewOptions {
            form: self.supervisor.review,
            settings: Some(settings),
            second_opinion: judge.provider.is_some(),
            model: judge.model.clone(),
            allowed_tools: self.supervisor.allowed_tools.clone(),
            add_dirs: self.add_dirs.clone(),
            prompt_options: self.prompt_options.clone(),
            sandbox: self.supervisor.sandbox,
        };
        if let Some(reason) = options.form(request).1 {
            log::info!("supervisor-hook: the review is asked for with a schema, because {reason}");
        }
        let launch = Launch {
            ccc: self.ccc.clone(),
            claude: vec![self.claude.clone().into()],
            args: review_args(request, self.text, &options),
            env,
            // The directory where the session began: the client finds the session only from there.
            dir: self.place.project.clone(),
            case: options.sandbox.case(&self.place.project, &options.add_dirs),
        };
        let prompt = review_prompt(self.text, request, options.sandbox);
        Ok(JudgeStart { launch, prompt: format!("{prompt}{}", self.changed) })
    }
}

pub fn said(transcript: &ClientTranscript, task: &Task) -> Vec<Said> {
    let said = transcript.said.iter().enumerate();
    said.map(|(at, said)| Said {
        text: said.text.clone(),
        earlier: at < task.earlier,
        ..Said::default()
    })
    .collect()
}

/// The judges, each with its settings and environment.
fn judges(
    settings: &[PathBuf],
    place: &Directories,
    config: &Config,
    limits: &Limits,
    mut guarded: Option<&mut Guarded>,
) -> Result<Vec<(Judge, JudgeSettings, Variables)>> {
    let all = config.supervisor()?.all_judges();
    // A hook written by an earlier version, or by somebody else, names fewer settings files than there
    // are judges.
    if settings.len() < all.len() {
        let provider = config.default_provider();
        let clients =
            Clients::prepare(place, config, provider.as_deref(), None, limits, JudgedBy::Hook)?;
        let judges = clients.judges.into_iter().map(|client| {
            (JudgeSettings { content: client.content, file: client.settings }, client.env)
        });
        return Ok(all
            .into_iter()
            .zip(judges)
            .map(|(judge, (settings, env))| (judge, settings, env))
            .collect());
    }
    let provider = guarded.as_deref().and_then(|guarded| guarded.pinned.provider.clone());
    // A default provider that was set after supervision began is not used: the person may not have chosen it.
    let changed = guarded.as_deref().is_some_and(|guarded| guarded.config_changed);
    let provider = provider.or_else(|| config.default_provider().filter(|_| !changed));
    let own = of_this_process();
    let of_judge = |(at, (judge, given)): (usize, (Judge, &PathBuf))| {
        let settings = match guarded.as_deref_mut() {
            Some(guarded) => guarded.settings(at, given)?,
            None => read_settings(given)?,
        };
        let provider = provider.as_deref();
        let env = judges_environment(place, config, &judge, provider, &own, changed)?;
        Ok((judge, settings, env))
    };
    all.into_iter().zip(settings).enumerate().map(of_judge).collect()
}

fn read_settings(file: &Path) -> Result<JudgeSettings> {
    let text = files::read_text(file).with_context(|| format!("cannot read {}", file.display()))?;
    let content =
        serde_json::from_str(&text).with_context(|| format!("{} is broken", file.display()))?;
    Ok(JudgeSettings { content, file: file.to_owned() })
}

/// Warns that the project changed while it was judged.
fn tell_changes(files: &[ChangedFile], more: usize) {
    let files: Vec<_> = files.iter().map(ToString::to_string).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let files = files.join(", ");
    let text = format!("while the review ran, files of the project changed: {files}{more}");
    super::say(&text);
    log::warn!("supervisor-hook: {text}");
}

fn pinned_args(guarded: Option<&Guarded>, of: fn(&Pinned) -> &Vec<String>) -> Vec<OsString> {
    let args = guarded.map(|guarded| of(&guarded.pinned).iter().map(OsString::from).collect());
    args.unwrap_or_default()
}

/// The instructions from when supervision began. The hook cannot ask for a SUPERVISOR.md, so it writes
/// the default if there is none.
fn instructions(place: &Directories, guarded: Option<&mut Guarded>) -> Result<Instructions> {
    if let Some(pinned) = guarded.and_then(|guarded| guarded.instructions(place)) {
        return pinned.map_err(|problem| anyhow!("{problem}"));
    }
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
