//! `supervisor-{id}-output.jsonl`: the reviews of one session, appended to by sessions and by the
//! Stop hook. If a recording has the same lines, this file is a hard link to the recording's.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::sink::Sink;
use crate::client::stream::{Line, Part};

/// The file's name in a warning.
const NAME: &str = "supervisor-…-output.jsonl";

#[derive(Default)]
pub struct SupervisorLog {
    sink: Option<Sink>,
}

impl SupervisorLog {
    /// `id` is the agent's session.
    pub fn open(state_dir: &Path, id: &str) -> Self {
        Self { sink: Some(Sink::shared(NAME, &path(state_dir, id))) }
    }

    /// For a session whose reviews are recorded in `recorded`: links to that file, so that they are
    /// stored once. A log that the Stop hook began is continued instead.
    pub fn beside(state_dir: &Path, id: &str, recorded: &Path) -> Self {
        let path = path(state_dir, id);
        if is_same(&path, recorded) || fs::hard_link(recorded, &path).is_ok() {
            return Self::default();
        }
        Self::open(state_dir, id)
    }

    /// One JSON value per line, whatever the supervisor's process printed.
    pub fn line(&mut self, line: &Line) {
        let Some(sink) = &mut self.sink else { return };
        match line.parts.as_slice() {
            [Part::Message(_)] if line.raw.starts_with(b"{") => sink.line(&line.raw),
            [] => {}
            _ => {
                let text = String::from_utf8_lossy(&line.raw);
                sink.line(json!({"type": "text", "content": text}).to_string().as_bytes());
            }
        }
    }

    /// What is not written and why; only once.
    pub fn failure(&mut self) -> Option<(&'static str, String)> {
        self.sink.as_mut().and_then(Sink::failure)
    }

    pub fn flush(&mut self) {
        if let Some(sink) = &mut self.sink {
            sink.flush();
        }
    }
}

fn path(state_dir: &Path, id: &str) -> PathBuf {
    state_dir.join(format!("supervisor-{id}-output.jsonl"))
}

fn is_same(one: &Path, other: &Path) -> bool {
    let file = |path: &Path| fs::symlink_metadata(path).map(|meta| (meta.dev(), meta.ino())).ok();
    file(one).is_some_and(|one| file(other) == Some(one))
}
