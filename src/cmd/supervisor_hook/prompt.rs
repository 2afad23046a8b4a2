//! A message of the person's, before the agent sees it: `/supervisor` and `/supervisoroff` alone are
//! carried out here and cost no request, and a message that begins another task has the project's files
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
    // What follows the word is for the agent, and then the command itself switches.
    let switch = match event.prompt.as_deref().map(str::trim) {
        Some("/supervisor" | "/ccc:supervisor") => Some(true),
        Some("/supervisoroff" | "/ccc:supervisoroff") => Some(false),
        _ => None,
    };
    match switch {
        // Should the client write that later, the next stop undoes the switch.
        Some(false) if is_scheduled(event) => {
            let told = "This /supervisoroff was scheduled, and not typed by you: supervision stays as it is.";
            return Ok(Decision::Block(told.to_owned()));
        }
        Some(on) => {
            let switched = Switched { state, file: &file, session: &event.session_id, state_dir };
            let cwd = event.cwd.as_deref();
            return Ok(Decision::Block(if on { switched.on(cwd)? } else { switched.off()? }));
        }
        None => note_files(event, &file)?,
    }
    Ok(Decision::Silent)
}

fn is_scheduled(event: &HookEvent) -> bool {
    let mut transcript = TranscriptFile::new(event.transcript_path.as_deref());
    transcript.read_on();
    transcript.transcript().schedule_is_due()
}

/// The message is not in the transcript yet. One that is there already began the task before.
fn note_files(event: &HookEvent, file: &crate::hook::pinned::PinnedFile) -> Result<()> {
    let Some(pinned) = Pinned::load(&file.current())? else { return Ok(()) };
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
