//! Detects a client that works on the person's message but reports nothing. Text and an Enter alone do
//! not prove it: they may have been for a dialog of the client (a search, a login), or have come before
//! it read keys. But a message that the agent has taken up appears in a transcript.

use std::fs::{self, DirEntry};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use jiff::Timestamp;

use crate::client::transcript::ClientTranscript;
use crate::files;

/// Only this much of a transcript's end is read.
const LATEST: u64 = 1 << 20;

/// Whether a transcript below this directory contains one of these texts as a message sent since then.
pub fn is_taken_up<'a>(
    projects: &Path,
    since: Timestamp,
    sent: impl Iterator<Item = &'a str> + Clone,
) -> bool {
    let entries = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten();
    let is_recent = |entry: &DirEntry| {
        let changed = entry.metadata().and_then(|found| found.modified()).ok();
        changed.and_then(|at| Timestamp::try_from(at).ok()).is_some_and(|at| at >= since)
    };
    let mut transcripts = entries(projects).flat_map(|project| entries(&project.path()));
    transcripts.any(|entry| {
        is_recent(&entry)
            && latest(&entry.path()).said.iter().any(|spoken| {
                spoken.at.parse::<Timestamp>().is_ok_and(|at| at >= since)
                    && sent.clone().any(|text| spoken.text.contains(text))
            })
    })
}

fn latest(path: &Path) -> ClientTranscript {
    let mut transcript = ClientTranscript::default();
    let Ok(mut file) = files::open_regular(path) else { return transcript };
    let end = file.seek(SeekFrom::End(0)).unwrap_or(0);
    let mut bytes = Vec::new();
    let read = file
        .seek(SeekFrom::Start(end.saturating_sub(LATEST)))
        .and_then(|_| file.take(LATEST).read_to_end(&mut bytes));
    if let Err(error) = read {
        log::debug!("{} cannot be read: {error}", path.display());
    }
    // A partial first line cannot be parsed and is ignored.
    bytes.split(|byte| *byte == b'\n').for_each(|line| transcript.line(line));
    transcript
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_message_that_was_sent_since_counts() {
        let projects = tempfile::tempdir().unwrap();
        let dir = projects.path().join("-project");
        fs::create_dir(&dir).unwrap();
        let began: Timestamp = "2026-01-15T10:00:00Z".parse().unwrap();
        let is_taken_up = |text: &str| is_taken_up(projects.path(), began, [text].into_iter());
        assert!(!is_taken_up("build it"));
        let said = |at: &str, text: &str| {
            format!(r#"{{"type":"user","timestamp":"{at}","message":{{"content":"{text}"}}}}"#)
        };
        let earlier = said("2026-01-15T09:59:59.999Z", "search for me");
        let later = said("2026-01-15T10:00:01.000Z", "now build it");
        fs::write(dir.join("s.jsonl"), format!("{earlier}\n{later}\n")).unwrap();
        assert!(is_taken_up("build it"));
        assert!(!is_taken_up("search"));
    }
}
