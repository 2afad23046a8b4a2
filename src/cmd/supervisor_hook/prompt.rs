//! Handles a message of the person before the agent sees it. `/supervisor` and `/supervisoroff` without
//! further text, and the plugin's `/ccc:status`, are carried out here without a request to the model.
//! When a message begins another task, a snapshot of the project's files is taken.

use std::path::Path;

use anyhow::Result;

use super::{Args, Decision};
use crate::cmd::base;
use crate::cmd::supervisor_mode::Switched;
use crate::hook::event::HookEvent;
use crate::hook::pinned::{Asked, Pinned};
use crate::hook::state::StateFile;
use crate::hook::transcript_file::TranscriptFile;

pub fn submitted(
    args: &Args,
    event: &HookEvent,
    state: &StateFile,
    state_dir: &Path,
) -> Result<Decision> {
    let file = args.pinned(event)?;
    let prompt = event.prompt.as_deref().map(str::trim).unwrap_or_default();
    let switched = Switched { state, file: &file, session: &event.session_id, state_dir };
    // The plugin's commands are prefixed with its name.
    let (command, plugin) = match prompt.strip_prefix("/ccc:") {
        Some(command) => (command, "ccc:"),
        None => (prompt.strip_prefix('/').unwrap_or_default(), ""),
    };
    // With text after it, the command is left to the client: it switches supervision itself, and the
    // agent gets the text.
    Ok(Decision::Taken(match command {
        "supervisor" => {
            switched.on(event.cwd.as_deref())?;
            told(true, plugin)
        }
        // If the client runs the scheduled command later all the same, the next stop undoes the switch.
        "supervisoroff" if is_scheduled(event) => format!(
            "This /{plugin}supervisoroff was scheduled, and not typed by you: supervision stays as it is."
        ),
        "supervisoroff" => {
            switched.off()?;
            told(false, plugin)
        }
        "status" if !plugin.is_empty() => status(&switched, plugin)?,
        _ => {
            note_files(event, &file)?;
            return Ok(Decision::Silent);
        }
    }))
}

/// The state from now on, and the command that changes it.
fn told(on: bool, plugin: &str) -> String {
    if on {
        format!(
            "Supervision is on: each time the agent stops, ccc reviews its work, until the work is \
             confirmed. /{plugin}supervisoroff turns it off."
        )
    } else {
        format!(
            "Supervision is off: ccc does not review the agent's work. /{plugin}supervisor turns it on \
             again."
        )
    }
}

fn status(switched: &Switched<'_>, plugin: &str) -> Result<String> {
    let on = switched.is_on()?;
    let reviews = match switched.state.load()?.map_or(0, |state| state.task.count) {
        _ if !on => String::new(),
        0 => " This task has not been reviewed yet.".to_owned(),
        1 => " This task has been reviewed once.".to_owned(),
        count => format!(" This task has been reviewed {count} times."),
    };
    Ok(format!("{}{reviews} In a terminal, `ccc sessions` shows every review.", told(on, plugin)))
}

fn is_scheduled(event: &HookEvent) -> bool {
    let mut transcript = TranscriptFile::new(event.transcript_path.as_deref());
    transcript.read_on();
    transcript.transcript().schedule_is_due()
}

/// Takes a snapshot of the project's files if this message begins a task. The message is not in the
/// transcript yet; if the transcript has new messages already, the task has begun before.
fn note_files(event: &HookEvent, file: &crate::hook::pinned::PinnedFile) -> Result<()> {
    let Some(pinned) = Pinned::load(&file.current())? else { return Ok(()) };
    file.ask(&Asked { turn: event.prompt_id.clone() })?;
    if !pinned.task.settled || pinned.session_id != event.session_id {
        return Ok(());
    }
    let mut transcript = TranscriptFile::new(event.transcript_path.as_deref());
    transcript.read_on();
    if transcript.transcript().said.len() == pinned.task.heard {
        base::renew(file, &pinned.project);
    }
    Ok(())
}
