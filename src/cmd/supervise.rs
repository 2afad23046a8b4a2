//! `ccc --supervisor`: the supervised session.

use std::env;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::place::Place;
use super::{Usage, init, logging, looks, place, prompt};
use crate::claude_args::{Resume, Taken, take_over};
use crate::cli::{OutputFormat, SessionArgs};
use crate::config::{self, Config};
use crate::event::Report;
use crate::instructions::{self, Instructions, Problem};
use crate::launch::{AgentStart, ReviewOptions, belongs_to_a_session};
use crate::machine::Rules;
use crate::record::Recorder;
use crate::session::{self, Control, Session, Setup};
use crate::surface::{JsonSurface, StreamJsonSurface, Surface, TextSurface};
use crate::{files, session_id, signals};

pub fn run(args: SessionArgs) -> Result<i32> {
    let place = Place::find()?;
    logging::start(place.state_dir.join("ccc.log"));
    let config = Config::load(&place.config_dir)?;
    let mut rest = args.rest;
    let provider = take_provider(&config, &mut rest);
    let taken =
        take_over(config.claude_args().into_iter().map(OsString::from).chain(rest).collect());

    let person = args.prompt.is_none()
        && !taken.print
        && std::io::stdin().is_terminal()
        && std::io::stdout().is_terminal();
    let typed = args.prompt.flatten().or_else(|| taken.prompt.clone());
    let prompt = if person { typed } else { prompt::resolve(typed)? };
    if !person && prompt.is_none() {
        return Err(Usage(
            "there is no terminal and no prompt: give one with -p TEXT, or on standard input"
                .into(),
        )
        .into());
    }
    let format = output_format(args.output_format, &taken)?;
    if person && format.is_some() {
        return Err(
            Usage("--output-format is for sessions without a person: add -p TEXT".into()).into()
        );
    }

    let instructions = find_instructions(&place, person)?;
    let supervisor = config.supervisor()?;
    let defaults = Rules::default();
    let rules = Rules {
        person,
        max_iterations: args
            .max_iterations
            .or(supervisor.max_iterations)
            .unwrap_or(defaults.max_iterations),
        review_timeout: supervisor.timeout()?.unwrap_or(defaults.review_timeout),
        background_wait: supervisor.background_wait()?.unwrap_or(defaults.background_wait),
        resume: match &taken.resume {
            Some(Resume::Session(id)) => Some(id.clone()),
            _ => None,
        },
        seed: uuid::Uuid::new_v4().as_u64_pair().0,
        ..defaults
    };
    let (settings, agent_env) = provider_setup(&place, &config, provider.as_deref(), Role::Agent)?;
    let second = supervisor.provider.as_deref().or(provider.as_deref());
    let (review_settings, review_env) = provider_setup(&place, &config, second, Role::Supervisor)?;

    let setup = Setup {
        rules,
        prompt,
        first: first_start(&taken)?,
        ccc: env::current_exe().context("ccc cannot find its own executable")?,
        claude: vec![place::claude()?.into()],
        claude_args: taken.rest,
        settings: Some(settings),
        agent_env,
        review_env,
        review: ReviewOptions {
            settings: Some(review_settings),
            model: supervisor.model,
            allowed_tools: supervisor.allowed_tools,
        },
        instructions: instructions.text,
        dir: place.project,
        size: crossterm::terminal::size().unwrap_or((120, 40)),
        recorder: (!args.no_record).then(|| Recorder::new(place.state_dir)),
    };
    let report = if person {
        interactive(setup)?
    } else {
        headless(setup, format.unwrap_or(OutputFormat::Text))?
    };
    Ok(report.exit_code)
}

fn interactive(setup: Setup) -> Result<Report> {
    todo!()
}

fn headless(setup: Setup, format: OutputFormat) -> Result<Report> {
    let out = std::io::stdout();
    match format {
        OutputFormat::Text => session(setup, &mut TextSurface::new(out, looks::plain())),
        OutputFormat::StreamJson => session(setup, &mut StreamJsonSurface::new(out)),
        OutputFormat::Json => session(setup, &mut JsonSurface::new(out)),
    }
}

/// Runs a session whose keys and signals come in through its control channel.
fn session(setup: Setup, surface: &mut dyn Surface) -> Result<Report> {
    let (to_control, control) = session::control();
    let signalled = to_control.clone();
    signals::listen(move |signal| signalled.send(Control::Signal(signal)).is_ok())?;
    Ok(Session::new(setup, surface, (to_control, control)).run())
}

fn take_provider(config: &Config, rest: &mut Vec<OsString>) -> Option<String> {
    let named =
        rest.first().and_then(|word| word.to_str()).filter(|word| config.has_provider(word));
    match named.map(str::to_owned) {
        Some(provider) => {
            rest.remove(0);
            Some(provider)
        }
        None => config.default_provider(),
    }
}

fn output_format(own: Option<OutputFormat>, taken: &Taken) -> Result<Option<OutputFormat>> {
    match taken.output_format.as_deref() {
        None => Ok(own),
        Some("text") => Ok(Some(OutputFormat::Text)),
        Some("json") => Ok(Some(OutputFormat::Json)),
        Some("stream-json") => Ok(Some(OutputFormat::StreamJson)),
        Some(other) => {
            Err(Usage(format!("--output-format is text, json or stream-json, not {other:?}"))
                .into())
        }
    }
}

fn first_start(taken: &Taken) -> Result<AgentStart> {
    Ok(match &taken.resume {
        Some(Resume::Session(session_id)) if session_id::is_safe(session_id) => {
            AgentStart::Resume { session_id: session_id.clone() }
        }
        Some(Resume::Session(other)) => {
            return Err(Usage(format!("{other:?} is no session id")).into());
        }
        Some(Resume::Latest) => AgentStart::Continue,
        None if taken.names_session => AgentStart::AsUserSays,
        None => AgentStart::New { session_id: uuid::Uuid::new_v4().to_string() },
    })
}

/// SUPERVISOR.md; a person who has none is offered the default.
fn find_instructions(place: &Place, person: bool) -> Result<Instructions> {
    match instructions::find(&place.project, &place.config_dir) {
        Ok(found) => Ok(found),
        Err(Problem::Missing { looked_in }) if person => {
            let [project, _] = &looked_in;
            println!("There is no SUPERVISOR.md, which tells the supervisor what counts as done.");
            print!("Write the default to {}? [Y/n] ", project.display());
            std::io::stdout().flush()?;
            let mut answer = String::new();
            std::io::stdin().read_line(&mut answer)?;
            if !matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes")
                || !answer.ends_with('\n')
            {
                anyhow::bail!("{}", Problem::Missing { looked_in });
            }
            init::write(project)?;
            Ok(Instructions { path: project.clone(), text: instructions::DEFAULT.to_owned() })
        }
        Err(problem) => anyhow::bail!("{problem}"),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Role {
    Agent,
    Supervisor,
}

/// The generated settings of a provider, and the environment for a client that uses them.
fn provider_setup(
    place: &Place,
    config: &Config,
    provider: Option<&str>,
    role: Role,
) -> Result<(PathBuf, Vec<(OsString, OsString)>)> {
    let mut settings = config.settings(provider);
    config::expand(&mut settings, &|name| env::var(name).ok())?;
    if role == Role::Supervisor
        && let Some(settings) = settings.as_object_mut()
    {
        settings.remove("hooks");
        settings.insert("disableAllHooks".into(), json!(true));
    }
    let own = settings.get("env").and_then(Value::as_object);
    let has_endpoint = own.is_some_and(|env| env.keys().any(|name| name.starts_with("ANTHROPIC_")));
    // Settings beat the environment variable by variable; an inherited key would still go to the
    // provider's endpoint.
    let fights = |name: &str| has_endpoint && name.starts_with("ANTHROPIC_");
    let mut env: Vec<_> = env::vars_os()
        .filter(|(name, _)| !belongs_to_a_session(name) && !fights(&name.to_string_lossy()))
        .collect();
    env.push(("CCC_STATE_DIR".into(), place.state_dir.clone().into()));
    match role {
        Role::Agent => env.push(("CCC_SUPERVISOR_PTY".into(), "1".into())),
        Role::Supervisor => env.push(("CCC_SUPERVISOR_HOOK".into(), "1".into())),
    }
    let suffix = if role == Role::Supervisor { "-supervisor" } else { "" };
    let path = config::settings_path(&place.config_dir, provider, suffix);
    files::replace(&path, serde_json::to_string_pretty(&settings)?.as_bytes())?;
    Ok((path, env))
}
