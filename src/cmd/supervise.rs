//! `ccc --supervisor`: the supervised session.

use std::env;
use std::io::{IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, Result};
use crossbeam_channel::{Receiver, Sender};

use super::client::{Clients, Limits, user_settings};
use super::place::{self, Place};
use super::{Usage, init, looks, prompt};
use crate::claude_args::{Resume, Taken, take_over};
use crate::cli::{OutputFormat, SessionArgs};
use crate::config::Config;
use crate::event::Report;
use crate::history::History;
use crate::instructions::{self, Instructions, Problem};
use crate::launch::{AgentStart, ReviewOptions};
use crate::machine::Rules;
use crate::project_files::ProjectFiles;
use crate::record::Recorder;
use crate::session::{self, Control, Session, Setup};
use crate::surface::{
    self, Aids, JsonSurface, Keys, RealScreen, StreamJsonSurface, Surface, Terminal, TextSurface,
};
use crate::{external_editor, session_id, signals};

pub fn run(
    place: Place,
    config: &Config,
    args: SessionArgs,
    provider: Option<&str>,
) -> Result<i32> {
    let taken = take_over(args.rest);
    let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let person = terminal && args.prompt.is_none() && !taken.print;
    let typed = args.prompt.flatten().or_else(|| taken.prompt.clone());
    let prompt = if person { typed } else { prompt::resolve(typed)? };
    if !person && prompt.is_none() {
        let problem =
            "there is no terminal and no prompt: give one with -p TEXT, or on standard input";
        return Err(Usage(problem.into()).into());
    }
    let format = output_format(args.output_format, &taken)?;
    if person && format.is_some() {
        return Err(
            Usage("--output-format is for sessions without a person: add -p TEXT".into()).into()
        );
    }

    let instructions = find_instructions(&place, person)?;
    let supervisor = config.supervisor()?;
    let limits = Limits::of(config, args.max_iterations)?;
    let defaults = Rules::default();
    let rules = Rules {
        person,
        max_iterations: limits.max_iterations,
        review_timeout: limits.review_timeout,
        background_wait: supervisor.background_wait()?.unwrap_or(defaults.background_wait),
        resume: match &taken.resume {
            Some(Resume::Session(id)) => Some(id.clone()),
            _ => None,
        },
        client_may_leave: taken.leaves,
        seed: uuid::Uuid::new_v4().as_u64_pair().0,
        ..defaults
    };
    let user = user_settings(taken.settings.as_deref())?;
    let mut clients = Clients::prepare(&place, config, provider, user.as_ref(), &limits)?;
    clients.agent.env.push(("CCC_SUPERVISOR_PTY".into(), "1".into()));

    let setup = Setup {
        rules,
        prompt,
        first: first_start(&taken)?,
        ccc: env::current_exe().context("ccc cannot find its own executable")?,
        claude: vec![place::claude()?.into()],
        claude_args: taken.rest,
        settings: Some(clients.agent.settings),
        agent_env: clients.agent.env,
        review_env: clients.supervisor.env,
        review: ReviewOptions {
            settings: Some(clients.supervisor.settings),
            second_opinion: supervisor.provider.is_some(),
            model: supervisor.model,
            allowed_tools: supervisor.allowed_tools,
        },
        instructions: instructions.text,
        dir: place.project,
        size: crossterm::terminal::size().unwrap_or((120, 40)),
        recorder: (!args.no_record).then(|| Recorder::new(place.state_dir.clone())),
        editor: external_editor::command(env::var_os("VISUAL"), env::var_os("EDITOR")),
    };
    let report = if person {
        let history = History::new(&place.state_dir);
        let aids = aids(history, !args.no_record, &setup.dir);
        interactive(setup, aids)?
    } else {
        headless(setup, format.unwrap_or(OutputFormat::Text))?
    };
    Ok(report.exit_code)
}

/// What helps a person to type. A history that cannot be read or written costs the history.
fn aids(history: History, keeps: bool, project: &Path) -> Aids {
    let mut files = ProjectFiles::new(project);
    let earlier = history.load().unwrap_or_else(|error| {
        log::warn!("{error:#}");
        Vec::new()
    });
    let remember = move |text: &str| {
        if keeps && let Err(error) = history.add(text) {
            log::warn!("{error:#}");
        }
    };
    Aids { history: earlier, remember: Box::new(remember), files: Box::new(move || files.list()) }
}

fn interactive(setup: Setup, aids: Aids) -> Result<Report> {
    surface::restore_on_panic();
    let reflow = surface::reflows(|name| env::var_os(name));
    let (to_control, control) = session::control();
    let keys = to_control.clone();
    let keys = Keys::start(move |input| keys.send(Control::Input(input)).is_ok())?;
    let terminal = Terminal::new(RealScreen::new(keys)?, looks::terminal(), reflow)?;
    let mut terminal = terminal.with_aids(aids);
    run_session(setup, &mut terminal, (to_control, control))
}

fn headless(setup: Setup, format: OutputFormat) -> Result<Report> {
    let out = std::io::stdout();
    match format {
        OutputFormat::Text => {
            run_session(setup, &mut TextSurface::new(out, looks::plain()), session::control())
        }
        OutputFormat::StreamJson => {
            run_session(setup, &mut StreamJsonSurface::new(out), session::control())
        }
        OutputFormat::Json => run_session(setup, &mut JsonSurface::new(out), session::control()),
    }
}

fn run_session(
    setup: Setup,
    surface: &mut dyn Surface,
    (to_control, control): (Sender<Control>, Receiver<Control>),
) -> Result<Report> {
    let signalled = to_control.clone();
    signals::listen(move |signal| signalled.send(Control::Signal(signal)).is_ok())?;
    Ok(Session::new(setup, surface, (to_control, control)).run())
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
