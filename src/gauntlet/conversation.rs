//! The conversation of a scripted agent in the form in which the client stores conversations, so
//! that a judge can be a fork of it, as in a real session.
//!
//! The alternative, to let the real client play the agent against an API inside ccc, needs a server
//! and a second process, runs the user's own hooks and servers, and cannot play a fetched page. The
//! few fields below are all that the client needs: every release that ccc knows accepts such a file
//! and sends its messages unchanged (`tests/real_client/judge.rs`).

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::files;
use crate::fixture::ToolRun;

/// The client shortens longer names in its own way.
const LONGEST_NAME: usize = 200;

/// Removed from the client's directory when dropped.
#[derive(Debug)]
pub struct StoredConversation {
    /// For this project only.
    dir: PathBuf,
    project: PathBuf,
    session_id: String,
    lines: Vec<Value>,
}

impl StoredConversation {
    /// `client_dir` is the client's own directory; `project` is the directory in which it is
    /// started, without links.
    pub fn new(client_dir: &Path, project: &Path, session_id: &str) -> Result<Self> {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = project.to_string_lossy().chars().map(plain).collect();
        ensure!(name.len() <= LONGEST_NAME, "the path of {} is too long", project.display());
        let projects = client_dir.join("projects");
        fs::create_dir_all(&projects)
            .with_context(|| format!("cannot create {}", projects.display()))?;
        let dir = projects.join(name);
        // An existing directory belongs to somebody else, and stays.
        fs::create_dir(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
        let (project, session_id) = (project.to_owned(), session_id.to_owned());
        Ok(Self { dir, project, session_id, lines: Vec::new() })
    }

    pub fn user(&mut self, text: &str) {
        self.add("user", json!({"role": "user", "content": text}));
    }

    pub fn says(&mut self, text: &str) {
        self.assistant(json!({"type": "text", "text": text}), "end_turn");
    }

    pub fn runs(&mut self, run: &ToolRun) {
        let id = format!("toolu_{}", self.lines.len());
        let call = json!({"type": "tool_use", "id": id, "name": run.tool, "input": run.input});
        self.assistant(call, "tool_use");
        let result = json!({
            "type": "tool_result", "tool_use_id": id, "content": run.output, "is_error": run.error,
        });
        self.add("user", json!({"role": "user", "content": [result]}));
    }

    fn assistant(&mut self, block: Value, stop_reason: &str) {
        let message = json!({
            "id": format!("msg_{}", self.lines.len()), "type": "message", "role": "assistant",
            "model": "scripted", "content": [block], "stop_reason": stop_reason,
            "stop_sequence": null, "usage": {"input_tokens": 0, "output_tokens": 0},
        });
        self.add("assistant", message);
    }

    fn add(&mut self, kind: &str, message: Value) {
        let parent = self.lines.last().map(|line| line["uuid"].clone());
        self.lines.push(json!({
            "parentUuid": parent, "isSidechain": false, "type": kind, "message": message,
            "uuid": uuid::Uuid::new_v4().to_string(), "timestamp": Timestamp::now().to_string(),
            "userType": "external", "cwd": self.project, "sessionId": self.session_id,
        }));
    }

    /// Stores the conversation where the client finds it.
    pub fn write(&self) -> Result<()> {
        let lines: Vec<_> = self.lines.iter().map(|line| format!("{line}\n")).collect();
        let path = self.dir.join(format!("{}.jsonl", self.session_id));
        files::replace(&path, lines.concat().as_bytes())
    }
}

impl Drop for StoredConversation {
    fn drop(&mut self) {
        // The client creates directories of its own in it.
        if let Err(error) = fs::remove_dir_all(&self.dir) {
            log::warn!("{} stays: {error}", self.dir.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_stored_until_dropped_and_replaces_nothing() {
        let home = tempfile::tempdir().unwrap();
        let project = Path::new("/tmp/x.Y_1/project");
        let mut conversation = StoredConversation::new(home.path(), project, "S").unwrap();
        conversation.user("do it");
        let run = crate::gauntlet::agent::shell("true", home.path()).unwrap();
        conversation.runs(&run);
        conversation.says("done");
        conversation.write().unwrap();
        let dir = home.path().join("projects/-tmp-x-Y-1-project");
        let text = fs::read_to_string(dir.join("S.jsonl")).unwrap();
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let kinds: Vec<_> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["user", "assistant", "user", "assistant"]);
        assert!(lines.windows(2).all(|pair| pair[1]["parentUuid"] == pair[0]["uuid"]));
        let result = &lines[2]["message"]["content"][0];
        assert_eq!(result["tool_use_id"], lines[1]["message"]["content"][0]["id"]);
        assert_eq!(result["content"], "(Bash completed with no output)");
        // A second one for the same project would remove the first one's files.
        assert!(StoredConversation::new(home.path(), project, "T").is_err());
        drop(conversation);
        assert!(!dir.exists() && home.path().join("projects").exists());
    }
}
