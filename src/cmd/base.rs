//! The snapshot of the project's files from when the task began that the Stop hook judges. It is kept
//! with the pinned facts, outside the project.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;

use crate::files;
use crate::hook::pinned::PinnedFile;
use crate::session::Workplace;
use crate::tree::Snapshot;

/// Takes a new snapshot because a task begins now. A failure costs only the comparison.
pub fn renew(file: &PinnedFile, project: &Path) {
    let written = Workplace::of(project).and_then(|workplace| {
        files::replace(&file.base(), &serde_json::to_vec(&workplace.look())?)
    });
    if let Err(error) = written {
        log::warn!("cannot store the state of the files: {error:#}");
        let _ = std::fs::remove_file(file.base());
    }
}

/// The client notes a message just before its hook takes the snapshot.
const SAME_MOMENT: Duration = Duration::from_secs(10);

/// Whether the snapshot is from before this moment, at which a message was sent.
pub fn is_older_than(file: &PinnedFile, at: &str) -> bool {
    let taken = std::fs::metadata(file.base()).and_then(|meta| meta.modified()).ok();
    let taken = taken.and_then(|taken| Timestamp::try_from(taken).ok());
    let at = at.parse::<Timestamp>().ok().and_then(|at| at.checked_add(SAME_MOMENT).ok());
    taken.zip(at).is_some_and(|(taken, at)| taken <= at)
}

pub fn load(file: &PinnedFile) -> Option<Snapshot> {
    let bytes = files::read_own(&file.base()).ok()?;
    serde_json::from_slice(&bytes).inspect_err(|error| log::warn!("{error}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_began_before_the_snapshot_is_not_whole_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = PinnedFile::of_session(dir.path(), "S").unwrap();
        let now = Timestamp::now();
        assert!(!is_older_than(&file, &now.to_string()), "there is none");
        std::fs::create_dir_all(file.base().parent().unwrap()).unwrap();
        std::fs::write(file.base(), "").unwrap();
        let ago = |time: Duration| now.checked_sub(time).unwrap().to_string();
        assert!(is_older_than(&file, &ago(Duration::ZERO)));
        assert!(!is_older_than(&file, &ago(Duration::from_secs(60))));
        assert!(!is_older_than(&file, ""));
    }
}
