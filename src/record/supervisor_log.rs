//! `supervisor-{id}-output.jsonl`: the reviews of one session, appended to by both ways of
//! supervising.

use std::path::Path;

use serde_json::json;

use super::sink::Sink;
use crate::stream::{Line, Part};

#[derive(Default)]
pub struct SupervisorLog {
    sink: Option<Sink>,
}

impl SupervisorLog {
    /// `id` is the agent's session.
    pub fn open(state_dir: &Path, id: &str) -> Self {
        let path = state_dir.join(format!("supervisor-{id}-output.jsonl"));
        Self { sink: Some(Sink::shared(&path)) }
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

    pub fn flush(&mut self) {
        if let Some(sink) = &mut self.sink {
            sink.flush();
        }
    }
}
