//! Chooses the surface of a session, and connects its inputs: keys, lines, signals.

use std::env;
use std::fs::File;
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use crossbeam_channel::{Receiver, Sender};

use crate::cli::OutputFormat;
use crate::config::{EditorMode, Notify, Theme};
use crate::console;
use crate::event::{Outcome, Report};
use crate::process::child::is_readable;
use crate::process::{orphans, signals};
use crate::prompt::history::History;
use crate::prompt::project_files::ProjectFiles;
use crate::record::{Cast, Recorder};
use crate::session::{self, Incoming, RecordedSurface, Session, Setup, Tee};
use crate::surface::look;
use crate::surface::{
    self, Aids, AnswerSurface, Attention, Hurry, JsonSurface, KeyReader, LineSurface, Look, Outlet,
    RealScreen, StreamJsonSurface, Surface, Terminal, TextSurface, Whereabouts,
};
use crate::{clock, threads};

/// Lines that arrive within this time of each other are a paste.
const PASTE_MS: u16 = 30;

/// Whether there is a person who types and reads the output as it comes: on a terminal or through a
/// pipe, but not in a file, and not in a format for programs.
pub fn somebody(format: Option<OutputFormat>) -> bool {
    let out = console::stdout();
    let piped = || {
        let out = File::from(out.as_fd().try_clone_to_owned().ok()?);
        let kind = out.metadata().ok()?.file_type();
        Some(format.is_none() && (kind.is_fifo() || kind.is_socket()))
    };
    std::io::stdin().is_terminal() && (out.is_terminal() || piped().unwrap_or(false))
}

/// The user's preferences for the surface, beyond what the terminal decides.
pub struct Wishes {
    /// Nothing on the screen may be overwritten.
    pub plain: bool,
    pub place: Whereabouts,
    pub notify: Notify,
    pub theme: Theme,
    pub editor_mode: EditorMode,
    pub state_dir: PathBuf,
    /// What is typed may be saved.
    pub records: bool,
}

pub fn run(setup: Setup, format: Option<OutputFormat>, wishes: &Wishes) -> Result<Report> {
    let plain = wishes.plain;
    let person = setup.rules.person;
    if person && (plain || look::only_lines()) {
        lines(setup, wishes)
    } else if person {
        interactive(setup, wishes)
    } else {
        headless(setup, format.unwrap_or(OutputFormat::Text), plain)
    }
}

fn interactive(mut setup: Setup, wishes: &Wishes) -> Result<Report> {
    setup.live = true;
    let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let attention = Attention::chosen(wishes.notify, &setup.dir, set);
    surface::restore_on_panic();
    let reflow = surface::reflows(|name| env::var_os(name));
    let (to_control, control) = session::control();
    let keys = to_control.clone();
    let keys = KeyReader::start(move |input| {
        let incoming = match input {
            Ok(input) => Incoming::Input(input),
            Err(error) => Incoming::KeysLost(error),
        };
        keys.send(incoming).is_ok()
    })?;
    let out = Outlet::stdout()?;
    let hurry = out.hurry();
    let screen = Tee::drawing(RealScreen::new(out, keys), cast(&setup));
    let terminal = Terminal::new(screen, look::terminal(wishes.theme), reflow)?;
    let mut terminal =
        terminal.for_session(wishes.place.clone(), attention).with_aids(aids(&setup.dir, wishes));
    if wishes.editor_mode == EditorMode::Vim {
        terminal.toggle_vim();
    }
    run_session(setup, &mut terminal, vec![hurry], (to_control, control))
}

/// The aids for typing. A history that cannot be read or written is simply missing.
fn aids(project: &Path, wishes: &Wishes) -> Aids {
    let mut files = ProjectFiles::new(project);
    let history = History::new(&wishes.state_dir);
    let earlier = history.load().unwrap_or_else(|error| {
        log::warn!("{error:#}");
        Vec::new()
    });
    let keeps = wishes.records;
    let remember = move |text: &str| {
        if keeps && let Err(error) = history.add(text) {
            log::warn!("{error:#}");
        }
    };
    Aids { history: earlier, remember: Box::new(remember), files: Box::new(move || files.list()) }
}

fn lines(setup: Setup, wishes: &Wishes) -> Result<Report> {
    let out = Outlet::stdout()?;
    let hurry = out.hurry();
    let out = Tee::text(out, cast(&setup));
    let surface = LineSurface::new(out, look::lines(wishes.plain), console::is_terminal());
    let mut surface = surface.at(wishes.place.clone());
    let (to_control, control) = session::control();
    let typed = to_control.clone();
    threads::named("lines", move || {
        let more_typed = || is_readable(&std::io::stdin(), PASTE_MS);
        let read = surface::read_typed(std::io::stdin().lock(), more_typed, |line| {
            typed.send(Incoming::Typed(line)).is_ok()
        });
        if let Err(error) = read {
            // Fails if the session is already over.
            drop(typed.send(Incoming::KeysLost(error)));
        }
    })?;
    let report = run_session(setup, &mut surface, vec![hurry], (to_control, control))?;
    if let Outcome::Unwritten(why) = &report.outcome {
        complain(why);
        console::say(
            "Ctrl-C also reaches the program that your output is piped to; `tee -i` ignores it.",
        );
        if let Some(id) = &report.session_id {
            console::say(format!("Resume with: ccc --supervisor --resume {id}"));
        }
    }
    Ok(report)
}

/// The transcript goes to standard error if standard output is needed for the result: for text if
/// standard output is not a terminal, for JSON if standard error is one.
fn headless(setup: Setup, format: OutputFormat, plain: bool) -> Result<Report> {
    let (out, cast) = (Outlet::stdout()?, cast(&setup));
    let mut hurries = vec![out.hurry()];
    let readable = format == OutputFormat::Text;
    // A client that is only asked for its help or version prints the answer itself.
    let apart = !console::is_terminal() && readable && !setup.rules.client_may_leave
        || format == OutputFormat::Json && console::stderr_is_terminal();
    let look = match plain {
        true => look::lines(true),
        false if readable && !apart => look::plain(),
        false => look::beside(),
    };
    let look = Look { hints: false, ..look };
    let beside = if apart {
        let errors = Outlet::stderr()?;
        hurries.push(errors.hurry());
        Some(errors)
    } else {
        None
    };
    let mut surface: Box<dyn Surface> = match format {
        OutputFormat::Text if apart => {
            Box::new(RecordedSurface::new(AnswerSurface::new(out), look, beside, cast))
        }
        OutputFormat::Text => Box::new(TextSurface::new(Tee::text(out, cast), look)),
        OutputFormat::StreamJson => {
            let lines = StreamJsonSurface::new(out, !console::is_terminal());
            Box::new(RecordedSurface::new(lines, look, beside, cast))
        }
        OutputFormat::Json => {
            Box::new(RecordedSurface::new(JsonSurface::new(out), look, beside, cast))
        }
    };
    let report = run_session(setup, surface.as_mut(), hurries, session::control())?;
    if let Outcome::Unwritten(why) = &report.outcome {
        complain(why);
    }
    Ok(report)
}

/// Reported on standard error, because the usual output failed.
fn complain(why: &str) {
    console::say(format!("ccc: cannot write the output: {why}"));
}

fn cast(setup: &Setup) -> Option<Cast> {
    setup.recorder.as_ref().map(Recorder::cast)
}

pub fn run_session(
    setup: Setup,
    surface: &mut dyn Surface,
    hurries: Vec<Hurry>,
    (to_control, control): (Sender<Incoming>, Receiver<Incoming>),
) -> Result<Report> {
    orphans::adopt_and_reap()?;
    clock::watch_for_stops()?;
    let signalled = to_control.clone();
    signals::listen(move |signal| {
        let heard = signalled.send(Incoming::Signal(signal)).is_ok();
        // Sent after the signal itself: a write that gives up is then explained by the signal.
        if signals::asks_to_end(signal) {
            hurries.iter().for_each(Hurry::up);
        }
        heard
    })?;
    Ok(Session::new(setup, surface, (to_control, control)).run())
}
