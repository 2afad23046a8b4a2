//! Follows the client's transcript as it is written. It is read when a hook reports something, and
//! polled only while a review runs.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use memchr::memmem;

use crate::client::stream::{Line, Message};
use crate::files;
use crate::threads::named;

/// The client reports the end of a turn before it has written it to the transcript.
const PATIENCE: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// How often the transcript is polled during a review, so that a new message is noticed within a tenth
/// of a second.
const WATCHING: Duration = Duration::from_millis(100);
/// How long it is still polled after the review: another hook (the person's own, a `/goal`) may send the agent
/// on, which no hook reports.
const AFTERWARDS: Duration = Duration::from_secs(10);
/// The limit for one read, and for one line.
const MOST: u64 = 64 << 20;

/// A request to the thread that reads the transcript.
#[derive(Debug)]
pub enum Wanted {
    /// Everything new, waiting `until` the agent's last words are in it.
    News { call: u64, path: PathBuf, until: Option<String> },
    /// Start or stop reporting new lines as they appear.
    Watch(bool),
}

/// New lines. `call` is the call that asked for them; `None` while watching.
#[derive(Debug)]
pub struct News {
    pub call: Option<u64>,
    pub lines: Vec<Vec<u8>>,
    /// The conversation that this one was branched from.
    pub copy_of: Option<String>,
}

/// Starts the thread that reads the transcript; new lines are passed to `on_news`.
pub fn follow(on_news: impl Fn(News) -> bool + Send + 'static) -> io::Result<Sender<Wanted>> {
    let (wanted, wishes) = unbounded();
    named("transcript", move || run(&wishes, on_news))?;
    Ok(wanted)
}

fn run(wishes: &Receiver<Wanted>, on_news: impl Fn(News) -> bool) {
    let mut follower = Follower::default();
    let (mut watching, mut until) = (false, Instant::now());
    loop {
        let wish = if watching || Instant::now() < until {
            match wishes.recv_timeout(WATCHING) {
                Ok(wish) => Some(wish),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            }
        } else {
            match wishes.recv() {
                Ok(wish) => Some(wish),
                Err(_) => return,
            }
        };
        let heard = match wish {
            Some(Wanted::Watch(on)) => {
                (watching, until) = (on, Instant::now() + AFTERWARDS);
                true
            }
            Some(Wanted::News { call, path, until }) => {
                follower.turn_to(&path);
                let lines = follower.until(until.as_deref());
                on_news(News { call: Some(call), lines, copy_of: follower.copy_of.clone() })
            }
            None => {
                let lines = follower.read();
                lines.is_empty() || on_news(News { call: None, lines, copy_of: None })
            }
        };
        if !heard {
            return;
        }
    }
}

#[derive(Default)]
struct Follower {
    path: Option<PathBuf>,
    copy_of: Option<String>,
    at: u64,
    /// The start of a line whose end has not been written yet.
    rest: Vec<u8>,
}

impl Follower {
    /// Switches to another conversation. Lines already in it are skipped: they are older than this session.
    fn turn_to(&mut self, path: &Path) {
        if self.path.as_deref() == Some(path) {
            return;
        }
        self.at = std::fs::metadata(path).map_or(0, |found| found.len());
        self.rest.clear();
        self.path = Some(path.to_owned());
        self.copy_of = copy_of(path);
    }

    fn until(&mut self, last_words: Option<&str>) -> Vec<Vec<u8>> {
        let wanted = last_words.map(str::trim).filter(|words| !words.is_empty());
        let wanted = wanted.and_then(|words| serde_json::to_string(words).ok());
        let wanted = wanted.as_deref().map(|words| words.trim_matches('"').as_bytes());
        let deadline = Instant::now() + PATIENCE;
        let mut lines = Vec::new();
        loop {
            lines.extend(self.read());
            let there = wanted
                .is_none_or(|wanted| lines.iter().any(|line| memmem::find(line, wanted).is_some()));
            if there || Instant::now() >= deadline {
                return lines;
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// Complete lines added since the last read.
    fn read(&mut self) -> Vec<Vec<u8>> {
        let Some(file) = self.path.as_deref().and_then(|path| files::open_regular(path).ok())
        else {
            return Vec::new();
        };
        self.read_from(file).unwrap_or_else(|error| {
            log::debug!("the transcript cannot be read: {error}");
            Vec::new()
        })
    }

    fn read_from(&mut self, mut file: File) -> io::Result<Vec<Vec<u8>>> {
        file.seek(SeekFrom::Start(self.at))?;
        let mut bytes = std::mem::take(&mut self.rest);
        self.at += file.take(MOST).read_to_end(&mut bytes)? as u64;
        let whole = memchr::memrchr(b'\n', &bytes).map_or(0, |end| end + 1);
        self.rest = bytes.split_off(whole);
        if self.rest.len() as u64 > MOST {
            self.rest.clear();
        }
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        Ok(lines.map(<[u8]>::to_vec).collect())
    }
}

/// The conversation that `/branch` copied; every copied entry names it.
fn copy_of(path: &Path) -> Option<String> {
    const FIRST_ENTRIES: u64 = 256 << 10;
    let mut first = Vec::new();
    files::open_regular(path).ok()?.take(FIRST_ENTRIES).read_to_end(&mut first).ok()?;
    let copied = first.split(|byte| *byte == b'\n').find_map(|line| {
        memmem::find(line, br#""forkedFrom""#)?;
        serde_json::from_slice::<serde_json::Value>(line).ok()
    })?;
    Some(copied["forkedFrom"]["sessionId"].as_str()?.to_owned())
}

/// The line if it has the form that a client prints: an answer of the agent or the result of a tool.
pub fn of_the_agent(line: &[u8]) -> Option<Line> {
    if memmem::find(line, br#""isSidechain":true"#).is_some() {
        return None;
    }
    let line = Line::decode(line.to_vec());
    let agents = line.messages().any(|envelope| {
        matches!(envelope.message, Message::Assistant { .. } | Message::ToolResults(_))
    });
    agents.then_some(line)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn only_what_the_agent_and_its_tools_said_is_handed_on() {
        let is = |line: &str| of_the_agent(line.as_bytes()).is_some();
        assert!(is(
            r#"{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"x"}]}}"#
        ));
        assert!(is(
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}}"#
        ));
        for line in [
            r#"{"type":"assistant","isSidechain":true,"message":{"model":"m","content":[]}}"#,
            r#"{"type":"user","message":{"content":"typed"},"origin":{"kind":"human"}}"#,
            r#"{"type":"queue-operation","operation":"enqueue","content":"q"}"#,
            r#"{"type":"result","result":"forged","num_turns":1}"#,
            "half a li",
        ] {
            assert!(!is(line), "{line}");
        }
    }

    #[test]
    fn whole_lines_and_only_new_ones() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        std::fs::write(&path, "old\n").unwrap();
        let mut follower = Follower::default();
        follower.turn_to(&path);
        assert!(follower.read().is_empty());
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"one\ntw").unwrap();
        assert_eq!(follower.read(), [b"one".to_vec()]);
        file.write_all(b"o\n").unwrap();
        assert_eq!(follower.read(), [b"two".to_vec()]);
        assert!(follower.read().is_empty());
    }

    #[test]
    fn a_branch_says_what_it_is_a_copy_of() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        assert_eq!(copy_of(&path), None);
        std::fs::write(
            &path,
            "{\"type\":\"mode\"}\n{\"uuid\":\"u\",\"text\":\"a \\\"forkedFrom\\\"\"}\n",
        )
        .unwrap();
        assert_eq!(copy_of(&path), None);
        std::fs::write(&path, "{\"type\":\"mode\"}\n{\"forkedFrom\":{\"sessionId\":\"s\"}}\n")
            .unwrap();
        assert_eq!(copy_of(&path).as_deref(), Some("s"));
    }
}
