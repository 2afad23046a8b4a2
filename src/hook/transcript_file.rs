//! A transcript on disk, read once in full and then only where it has grown. The client writes it
//! shortly after it has run its hook, and keeps writing while the hook runs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use memchr::memmem;

use crate::client::stream::{Lines, SplitLine};
use crate::client::transcript::ClientTranscript;
use crate::files;

/// How long the client may take to write an answer that it has already reported.
const PATIENCE: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(25);
/// Longer lines contain a picture or similar, and nothing that matters here.
const LONGEST: usize = 16 << 20;

pub struct TranscriptFile {
    path: Option<PathBuf>,
    file: Option<File>,
    lines: Lines,
    transcript: ClientTranscript,
    sub_agents: SubAgents,
}

/// The transcripts of sub-agents, which the client writes beside that of the session.
#[derive(Default)]
struct SubAgents {
    dir: Option<PathBuf>,
    /// How much of each was read.
    read: BTreeMap<String, u64>,
}

impl SubAgents {
    /// What a sub-agent did, when the line of the session says that it has ended.
    fn ended(&mut self, line: &[u8]) -> Vec<Vec<u8>> {
        let id = [&br#""agentId":""#[..], b"<task-id>"].into_iter().find_map(|key| {
            let from = &line[memmem::find(line, key)? + key.len()..];
            let end = from.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
            std::str::from_utf8(&from[..end]).ok().filter(|id| !id.is_empty())
        });
        id.and_then(|id| self.read_on(id).ok()).unwrap_or_default()
    }

    fn read_on(&mut self, id: &str) -> io::Result<Vec<Vec<u8>>> {
        let Some(dir) = &self.dir else { return Ok(Vec::new()) };
        let mut file = files::open_regular(&dir.join(format!("agent-{id}.jsonl")))?;
        let at = self.read.entry(id.to_owned()).or_default();
        file.seek(SeekFrom::Start(*at))?;
        let mut bytes = Vec::new();
        file.take(LONGEST as u64).read_to_end(&mut bytes)?;
        bytes.truncate(memchr::memrchr(b'\n', &bytes).map_or(0, |end| end + 1));
        *at += bytes.len() as u64;
        Ok(bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect())
    }
}

impl TranscriptFile {
    /// A path that exists but is not a regular file is ignored: reading it might never end.
    pub fn new(path: Option<&str>) -> Self {
        let path = path.map(PathBuf::from).filter(|path| path.is_file() || !path.exists());
        let (lines, transcript) = (Lines::with_limit(LONGEST), ClientTranscript::whole());
        let dir = path.as_ref().map(|path| path.with_extension("").join("subagents"));
        let sub_agents = SubAgents { dir, ..SubAgents::default() };
        Self { path, file: None, lines, transcript, sub_agents }
    }

    pub fn transcript(&self) -> &ClientTranscript {
        &self.transcript
    }

    /// Returns what was read, and the file for reading what is added from now on.
    pub fn split(mut self) -> (ClientTranscript, Self) {
        let transcript = std::mem::take(&mut self.transcript);
        (transcript, self)
    }

    pub fn read_on(&mut self) {
        let Some(path) = &self.path else { return };
        if self.file.is_none() {
            self.file = files::open_regular(path).ok();
        }
        let Some(file) = &mut self.file else { return };
        let mut chunk = vec![0; 256 << 10];
        loop {
            match file.read(&mut chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => return,
                Ok(size) => self.lines.push(&chunk[..size], |piece| {
                    if let SplitLine::Line(line) = piece {
                        for line in self.sub_agents.ended(&line) {
                            self.transcript.tools(&line);
                        }
                        self.transcript.line(&line);
                    }
                }),
            }
        }
    }

    /// Takes a last line that has no newline.
    fn take_the_rest(&mut self) {
        self.lines.finish(|piece| {
            if let SplitLine::Line(line) = piece {
                self.transcript.line(&line);
            }
        });
    }

    /// Reads on until the agent's last answer, as the client's event reports it, is in the transcript,
    /// or until `PATIENCE` runs out.
    pub fn wait_for_answer(&mut self, answer: Option<&str>) {
        let answer = answer.map(str::trim).unwrap_or_default();
        let (until, mut waits) = (Instant::now() + PATIENCE, false);
        loop {
            self.read_on();
            let last = self.transcript.last_answer.as_deref();
            let there = last.is_some_and(|last| last.contains(answer));
            if self.path.is_none() || there && self.transcript.has_what_was_answered() {
                return;
            }
            if Instant::now() >= until {
                return self.take_the_rest();
            }
            if !std::mem::replace(&mut waits, true) {
                log::info!("the transcript is not written to its end yet");
            }
            thread::sleep(LOOK_AGAIN);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;

    use super::*;

    #[test]
    fn only_what_was_added_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let mut file = TranscriptFile::new(path.to_str());
        file.read_on();
        let mut out = OpenOptions::new().create(true).append(true).open(&path).unwrap();
        let line = |text: &str| format!(r#"{{"type":"user","message":{{"content":"{text}"}}}}"#);
        // Half a line waits until the other half is written.
        let (one, two) = (line("one"), line("two"));
        write!(out, "{one}\n{}", &two[..10]).unwrap();
        file.read_on();
        assert_eq!(file.transcript().said.len(), 1);
        writeln!(out, "{}", &two[10..]).unwrap();
        file.read_on();
        let said: Vec<_> = file.transcript().said.iter().map(|said| said.text.as_str()).collect();
        assert_eq!(said, ["one", "two"]);
    }

    #[test]
    fn what_a_sub_agent_ran_counts_when_it_has_ended() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let subs = dir.path().join("t/subagents");
        std::fs::create_dir_all(&subs).unwrap();
        let run = |id: &str| {
            format!(
                r#"{{"type":"assistant","isSidechain":true,"message":{{"content":[{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":"make {id}"}}}}]}}}}"#
            )
        };
        std::fs::write(subs.join("agent-a1.jsonl"), format!("{}\n", run("one"))).unwrap();
        let ended =
            r#"{"type":"user","message":{"content":"<task-notification>\n<task-id>a1</task-id>"}}"#;
        std::fs::write(&path, format!("{ended}\n")).unwrap();
        let mut file = TranscriptFile::new(path.to_str());
        let ran = |file: &TranscriptFile| -> Vec<String> {
            file.transcript().commands.iter().map(|ran| ran.command.clone()).collect()
        };
        file.read_on();
        assert_eq!(ran(&file), ["make one"]);
        // It was sent another message. The names of other files are none of a sub-agent.
        let mut out = OpenOptions::new().append(true).open(subs.join("agent-a1.jsonl")).unwrap();
        writeln!(out, "{}", run("two")).unwrap();
        let mut out = OpenOptions::new().append(true).open(&path).unwrap();
        writeln!(out, "{ended}\n{}", ended.replace("a1", "../../t")).unwrap();
        file.read_on();
        assert_eq!(ran(&file), ["make one", "make two"]);
    }

    #[test]
    fn an_answer_that_is_written_first_is_not_taken_for_the_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let mut file = TranscriptFile::new(path.to_str());
        let answer = r#"{"type":"assistant","uuid":"c","parentUuid":"b","message":{"content":[{"type":"text","text":"done"}]}}"#;
        let note = r#"{"type":"attachment","uuid":"b","parentUuid":"a"}"#;
        let message = r#"{"type":"user","uuid":"a","message":{"content":"build it"}}"#;
        std::fs::write(&path, format!("{answer}\n{note}\n")).unwrap();
        file.read_on();
        assert!(!file.transcript().has_what_was_answered());
        let mut out = OpenOptions::new().append(true).open(&path).unwrap();
        writeln!(out, "{message}").unwrap();
        file.wait_for_answer(Some("done"));
        assert!(file.transcript().has_what_was_answered());
        assert_eq!(file.transcript().said.len(), 1);
    }

    #[test]
    fn what_is_no_file_is_left_alone() {
        let mut nothing = TranscriptFile::new(None);
        nothing.wait_for_answer(Some("never"));
        let mut endless = TranscriptFile::new(Some("/dev/zero"));
        endless.wait_for_answer(Some("never"));
        assert!(endless.transcript().said.is_empty());
    }
}
