//! How the project's files were when the task began that the Stop hook judges: kept beside what else
//! counts for the supervision, out of the project.

use std::path::Path;

use crate::files;
use crate::hook::pinned::PinnedFile;
use crate::session::Workplace;
use crate::tree::Snapshot;

/// A task begins now. A failure costs the comparison, and nothing else.
pub fn renew(file: &PinnedFile, project: &Path) {
    let written = Workplace::of(project).and_then(|workplace| {
        files::replace(&file.base(), &serde_json::to_vec(&workplace.look())?)
    });
    if let Err(error) = written {
        log::warn!("cannot store the state of the files: {error:#}");
        let _ = std::fs::remove_file(file.base());
    }
}

pub fn load(file: &PinnedFile) -> Option<Snapshot> {
    let bytes = files::read_own(&file.base()).ok()?;
    serde_json::from_slice(&bytes).inspect_err(|error| log::warn!("{error}")).ok()
}
