//! `ccc --supervisor`: the supervised session.

mod surfaces;

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;

use super::questions::Questions;
use super::sessions::take_up;
use super::supervision::pinned_options;
use super::{Usage, checks, init, prompt, release};
use crate::checks::Check;
use crate::cli::{OutputFormat, SessionArgs};
use crate::client::args::{ClientArgs, read_args};
use crate::client::launch::{AgentStart, ReviewOptions};
use crate::config::clients::{
    Clients, JudgeSettings, JudgedBy, Limits, Surroundings, modes, of_this_process, user_settings,
};
use crate::config::{self, Config, Judge, Notify, Supervisor, managed, profile};
use crate::directories::Directories;
use crate::executables;
use crate::files::WatchedFiles;
use crate::machine::{Modes, Rules};
use crate::prompt::external_editor;
use crate::record::{Begun, CastHeader, Recorder, find};
use crate::review::instructions::{self, Instructions, Problem};
use crate::session::{Earlier, JudgeLaunch, ReadEarlierCommands, Setup, Workplace};
use crate::surface::{Whereabouts, look};
use crate::tree;
use surfaces::Wishes;
pub use surfaces::run_session;

pub fn run(
    place: Directories,
    config: &Config,
    args: SessionArgs,
    provider: Option<&str>,
) -> Result<i32> {
    let taken = read_args(args.rest);
    let format = output_format(args.output_format, &taken)?;
    if let Some(format) = taken.input_format.as_deref().filter(|format| *format != "text") {
        let problem = format!("ccc reads its prompt as text; leave out --input-format {format}");
        return Err(Usage(problem).into());
    }
    let person = surfaces::somebody(format) && args.prompt.is_none() && !taken.print;
    let typed = one_prompt(args.prompt.flatten(), &taken, config)?;
    let prompt = if person { typed } else { prompt::resolve(typed)? };
    if !person && prompt.is_none() {
        let problem = "there is neither a terminal nor a prompt; give a prompt with -p TEXT or on \
            standard input";
        return Err(Usage(problem.into()).into());
    }
    if person && format.is_some() {
        return Err(Usage("--output-format is for unattended sessions; add -p TEXT".into()).into());
    }

    let claude = release::supervised_client()?;
    let instructions = find_instructions(&place, person)?;
    let wishes = checks::Wishes { none: args.no_checks, trust: args.trust_checks };
    let supervisor = config.supervisor()?;
    let notify = notify(supervisor.notify)?;
    let own = supervisor.checks.clone();
    let allowed = checks::allowed(&place, own, Some(&instructions), wishes, person)?;
    let lines = args.plain || supervisor.plain || look::asked_for_lines();
    let taken_up = take_up(&place, &taken, person, lines)?;
    let limits = Limits::of(config, args.max_iterations)?;
    let user = user_settings(taken.settings.as_deref())?;
    let defaults = Rules::default();
    let rules = Rules {
        person,
        max_iterations: limits.max_iterations,
        review_timeout: limits.review_timeout,
        judging: supervisor.judging(instructions.front.proof),
        background_wait: supervisor.background_wait()?.unwrap_or(defaults.background_wait),
        resume: taken_up.resume,
        carried: taken_up.carried,
        client_may_leave: taken.exits,
        checking: allowed.rules(),
        modes: modes(&place, config, provider, user.as_ref(), &taken.rest, &of_this_process()),
        seed: uuid::Uuid::new_v4().as_u64_pair().0,
        ..defaults
    };
    let mut clients =
        Clients::prepare(&place, config, provider, user.as_ref(), &limits, JudgedBy::Session)?;
    clients.agent.env.push(("CCC_SUPERVISOR_PTY".into(), "1".into()));
    if person {
        // A person may want to go back to an earlier message and restore the files as well.
        clients.agent.env.push(("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING".into(), "1".into()));
    }

    let here = whereabouts(&place, provider, &instructions, &rules);
    let size = crossterm::terminal::size().unwrap_or((120, 40));
    let recorder = (!args.no_record).then(|| recorder(&place, provider, &rules, size, &supervisor));
    let (state_dir, seed) = (place.state_dir.clone(), rules.seed);
    let earlier_commands = earlier_commands(&taken_up.first, state_dir.clone());
    let earlier = earlier(&taken_up.first, state_dir, seed);
    let mut judges = judges(&place, &supervisor, &taken, clients.judges).into_iter();
    let claude_args = in_the_mode_of_the_start(&rules.modes, taken.rest);
    let setup = Setup {
        rules,
        prompt,
        first: taken_up.first,
        ccc: executables::ccc()?,
        start_files: start_files(&claude)?,
        claude: vec![claude.into()],
        scripted_agent: None,
        claude_args,
        live: false,
        introduced: person,
        settings: Some(clients.agent.settings),
        agent_env: clients.agent.env,
        judge: judges.next().unwrap_or_default(),
        other_judges: judges.collect(),
        watched: watched(&place, instructions.path),
        managed: Some(managed::fingerprint()),
        instructions: instructions.text,
        workplace: Some(Workplace::of(&place.project)?),
        dir: place.project,
        size,
        earlier,
        earlier_commands,
        recorder,
        editor: external_editor::command(env::var_os("VISUAL"), env::var_os("EDITOR")),
        pager: external_editor::pager(env::var_os("PAGER")),
        native: None,
    };
    let wishes = Wishes {
        plain: lines,
        place: here,
        notify,
        theme: supervisor.theme,
        editor_mode: supervisor.editor_mode,
        state_dir: place.state_dir,
        records: !args.no_record,
    };
    Ok(surfaces::run(setup, format, &wishes)?.exit_code)
}

/// With the mode that a session begins in when nobody chose one: some releases (2.1.300) begin in auto
/// mode, in which a model allows what nobody was asked about.
fn in_the_mode_of_the_start(modes: &Modes, user_args: Vec<OsString>) -> Vec<OsString> {
    let begins = modes.begins.as_ref().filter(|_| modes.unchosen);
    let stated = begins.map(|mode| ["--permission-mode".into(), mode.name().into()]);
    stated.into_iter().flatten().chain(user_args).collect()
}

/// `CCC_NOTIFY`, or else the setting in ccc.json.
fn notify(configured: Notify) -> Result<Notify> {
    match env::var("CCC_NOTIFY") {
        Ok(name) if !name.is_empty() => Notify::named(&name).ok_or_else(|| {
            Usage(format!("CCC_NOTIFY must be auto, bell, desktop or off, not {name:?}")).into()
        }),
        _ => Ok(configured),
    }
}

fn whereabouts(
    place: &Directories,
    provider: Option<&str>,
    instructions: &Instructions,
    rules: &Rules,
) -> Whereabouts {
    let below = |dir: &Path, path: &Path, sign: &str| {
        Some(format!("{sign}{}", path.strip_prefix(dir).ok()?.display()))
    };
    let at_home = |path: &Path| {
        let home = dirs::home_dir().filter(|home| path != home)?;
        below(&home, path, "~/")
    };
    let names = |checks: &[Check]| checks.iter().map(|check| check.name.clone()).collect();
    let path = &instructions.path;
    let named = below(&place.project, path, "").or_else(|| at_home(path));
    Whereabouts {
        ccc: env!("CARGO_PKG_VERSION").to_owned(),
        directory: at_home(&place.project).unwrap_or_else(|| place.project.display().to_string()),
        root: place.project.display().to_string(),
        branch: tree::branch(&place.project),
        provider: provider.unwrap_or_default().to_owned(),
        login: login(|name| env::var(name).ok()),
        instructions: named.unwrap_or_else(|| path.display().to_string()),
        checks: names(&rules.checking.checks),
        skipped: names(&rules.checking.untrusted),
    }
}

/// What the client identifies itself with when ccc gives it no provider; in the client's own order.
fn login(env: impl Fn(&str) -> Option<String>) -> String {
    let clouds = [
        ("CLAUDE_CODE_USE_BEDROCK", "Amazon Bedrock"),
        ("CLAUDE_CODE_USE_VERTEX", "Google Vertex AI"),
        ("CLAUDE_CODE_USE_FOUNDRY", "Microsoft Foundry"),
    ];
    let keys = [
        (profile::AUTH_TOKEN, "token"),
        (profile::API_KEY, "key"),
        ("CLAUDE_CODE_OAUTH_TOKEN", "token"),
    ];
    let is_set = |name: &str| env(name).is_some_and(|value| !value.is_empty());
    if let Some((_, cloud)) = clouds.into_iter().find(|(name, _)| is_set(name)) {
        return cloud.to_owned();
    }
    let key = keys.into_iter().find(|(name, _)| is_set(name));
    key.map_or_else(
        || "claude's own login".to_owned(),
        |(name, what)| format!("{what} from {name}"),
    )
}

pub fn judges(
    place: &Directories,
    supervisor: &Supervisor,
    taken: &ClientArgs,
    clients: Vec<Surroundings>,
) -> Vec<JudgeLaunch> {
    let prompt_options = pinned_options(&place.config_dir, &taken.prompt_options);
    let start = |(judge, client): (Judge, Surroundings)| {
        let options = ReviewOptions {
            form: supervisor.review,
            settings: None,
            second_opinion: judge.provider.is_some(),
            model: judge.model,
            allowed_tools: supervisor.allowed_tools.clone(),
            add_dirs: taken.add_dirs.clone(),
            prompt_options: prompt_options.clone(),
            sandbox: supervisor.sandbox,
        };
        let settings = JudgeSettings { content: client.content, file: client.settings };
        JudgeLaunch { env: client.env, settings: Some(settings), options }
    };
    supervisor.all_judges().into_iter().zip(clients).map(start).collect()
}

/// Reads what earlier runs of the session left; a new session has none.
pub fn earlier(first: &AgentStart, state_dir: PathBuf, seed: u64) -> Earlier {
    match first {
        AgentStart::New { .. } => Box::new(|_| None),
        AgentStart::Continue => Box::new(find::read_ahead(state_dir, seed)),
        _ => Box::new(move |id| find::earlier(&state_dir, id, seed)),
    }
}

pub fn earlier_commands(first: &AgentStart, state_dir: PathBuf) -> Option<ReadEarlierCommands> {
    let begins_here = matches!(first, AgentStart::New { .. });
    (!begins_here).then(|| {
        let read: ReadEarlierCommands = Arc::new(move |id| find::commands(&state_dir, id));
        read
    })
}

/// Fails if there are two prompts, because one of them would be lost.
fn one_prompt(own: Option<String>, taken: &ClientArgs, config: &Config) -> Result<Option<String>> {
    let words = [own, taken.prompt.clone(), taken.surplus.clone()];
    let mut words = words.into_iter().flatten();
    let (first, second) = (words.next(), words.next());
    let (Some(first), Some(second)) = (&first, second.filter(|_| !taken.exits)) else {
        return Ok(first);
    };
    let known: Vec<_> = config.provider_names().collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let problem = format!(
        "there are two prompts, {first:?} and {second:?}. Put a prompt of several words in \
         quotes. If one of them is a provider, put it before the arguments for claude (providers: \
         {known})"
    );
    Err(Usage(problem).into())
}

fn output_format(own: Option<OutputFormat>, taken: &ClientArgs) -> Result<Option<OutputFormat>> {
    match taken.output_format.as_deref() {
        None => Ok(own),
        Some("text") => Ok(Some(OutputFormat::Text)),
        Some("json") => Ok(Some(OutputFormat::Json)),
        Some("stream-json") => Ok(Some(OutputFormat::StreamJson)),
        Some(other) => {
            Err(Usage(format!("--output-format must be text, json or stream-json, not {other:?}"))
                .into())
        }
    }
}

pub fn recorder(
    place: &Directories,
    provider: Option<&str>,
    rules: &Rules,
    size: (u16, u16),
    supervisor: &Supervisor,
) -> Recorder {
    let begun = Begun {
        ccc: env!("CARGO_PKG_VERSION").to_owned(),
        project: place.project.display().to_string(),
        provider: provider.map(str::to_owned),
        rules: rules.clone(),
        agent_lines: 0,
        supervisor_lines: 0,
    };
    let recorder = Recorder::new(place.state_dir.clone(), begun, header(size));
    if supervisor.record_keys.unwrap_or(true) { recorder } else { recorder.without_keys() }
}

/// What a player of the recording should know about the terminal.
fn header(size: (u16, u16)) -> CastHeader {
    let set = |name| Some((name, env::var(name).ok()?));
    CastHeader { size, env: ["SHELL", "TERM"].into_iter().filter_map(set).collect() }
}

/// The configuration files that were read at the start; a change to them is reported.
pub fn watched(place: &Directories, instructions: PathBuf) -> WatchedFiles {
    let own = place.project.join(instructions::FILE);
    let configured = place.config_dir.join(config::FILE);
    WatchedFiles::now([instructions, own, configured, place.users_settings()])
}

/// The files in the home directory that shells and tools read, the judge's included, and the programs
/// that a judge is started with.
pub fn start_files(claude: &Path) -> Result<WatchedFiles> {
    const NAMES: [&str; 17] = [
        ".bashrc",
        ".bash_profile",
        ".bash_login",
        ".bash_aliases",
        ".profile",
        ".zshenv",
        ".zprofile",
        ".zshrc",
        ".zlogin",
        ".config/fish/config.fish",
        ".gitconfig",
        ".config/git/config",
        ".config/git/attributes",
        ".npmrc",
        ".config/pip/pip.conf",
        ".cargo/config.toml",
        ".config/go/env",
    ];
    let programs = [claude.to_owned(), executables::ccc()?];
    let home = dirs::home_dir().map(|home| WatchedFiles::at_home(&home, &NAMES));
    Ok(home.unwrap_or_default().with_programs(programs))
}

/// Finds SUPERVISOR.md; a person who has none is offered the default.
pub fn find_instructions(place: &Directories, person: bool) -> Result<Instructions> {
    match instructions::find(&place.project, &place.config_dir) {
        Ok(found) => Ok(found),
        Err(Problem::Missing { looked_in }) if person => {
            let [project, _] = &looked_in;
            let mut questions = Questions::terminal();
            questions.say(
                "There is no SUPERVISOR.md, which tells the supervisor what counts as done.",
            )?;
            let question = format!("Write the default to {}?", project.display());
            if !questions.confirm(&question, true).unwrap_or(false) {
                anyhow::bail!("{}", Problem::Missing { looked_in });
            }
            init::write(place, Some(&mut questions))?;
            instructions::find(&place.project, &place.config_dir)
                .map_err(|problem| anyhow::anyhow!("{problem}"))
        }
        Err(problem) => anyhow::bail!("{problem}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_names_the_key_that_is_used() {
        let with = |set: &[(&str, &str)]| {
            login(|name| set.iter().find(|one| one.0 == name).map(|one| one.1.to_owned()))
        };
        assert_eq!(with(&[]), "claude's own login");
        assert_eq!(with(&[("ANTHROPIC_API_KEY", "")]), "claude's own login");
        assert_eq!(with(&[("ANTHROPIC_API_KEY", "k")]), "key from ANTHROPIC_API_KEY");
        assert_eq!(
            with(&[("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_AUTH_TOKEN", "t")]),
            "token from ANTHROPIC_AUTH_TOKEN"
        );
        let bedrock = with(&[("ANTHROPIC_API_KEY", "k"), ("CLAUDE_CODE_USE_BEDROCK", "1")]);
        assert_eq!(bedrock, "Amazon Bedrock");
    }
}
