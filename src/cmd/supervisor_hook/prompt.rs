//! A message of the person's, before the agent sees it: `/supervisor` and `/supervisoroff` alone, and the
//! plugin's `/ccc:status`, are carried out here and cost no request, and a message that begins another task has the project's files
//! noted.

use std::path::Path;

use anyhow::Result;

use super::{Args, Decision};
use crate::cmd::base;
use crate::cmd::supervisor_mode::Switched;
use crate::hook::event::HookEvent;
use crate::hook::pinned::Pinned;
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
    // The plugin's commands have its name in front.
    let (command, plugin) = match prompt.strip_prefix("/ccc:") {
        Some(command) => (command, "ccc:"),
        None => (prompt.strip_prefix('/').unwrap_or_default(), ""),
    };
    // What follows the word is for the agent, and then the command itself switches.
    Ok(Decision::Taken(match command {
        "supervisor" => {
            switched.on(event.cwd.as_deref())?;
            told(true, plugin)
        }
        // Should the client write that later, the next stop undoes the switch.
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

/// What is so from now on, and the command that changes it.
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

/// The message is not in the transcript yet. One that is there already began the task before.
fn note_files(event: &HookEvent, file: &crate::hook::pinned::PinnedFile) -> Result<()> {
    let Some(pinned) = Pinned::load(&file.current())? else { return Ok(()) };
    file.ask()?;
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
