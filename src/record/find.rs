//! Finds the recording that a name means. A recording is named after the conversation it began
//! with; `/clear` begins another conversation in it, whose id is the one people see. Both ids are
//! accepted everywhere.

use std::cell::Cell;
use std::cmp::Reverse;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Result, bail};
use jiff::Timestamp;
use memchr::memmem;

use super::format::{Entry, EventLine};
use super::read::{AGENT, EVENTS, RecordedRun, Recording, WholeLines, sessions};
use super::rerun;
use super::story::Story;
use crate::client::stream::Line;
use crate::event::{Carried, Notice};
use crate::files;
use crate::review::commands::Commands;

/// Bytes read from the end of the events; enough for nearly every recording.
const TAIL: u64 = 64 << 10;
const CANDIDATES: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundRecording {
    pub dir: PathBuf,
    pub id: String,
    /// The conversation it ended in.
    pub conversation: String,
    pub last: Option<Timestamp>,
}

impl FoundRecording {
    /// Read from the last lines where they say enough, as they do after every orderly end.
    pub fn read(dir: &Path) -> Result<Self> {
        let recording = Recording::open(dir)?;
        let (mut last, mut conversation) = (None, None);
        for line in last_lines(&dir.join(EVENTS))?.rsplit(|byte| *byte == b'\n') {
            let Ok(line) = serde_json::from_slice::<EventLine>(line) else { continue };
            last = last.or(Some(line.time));
            conversation = conversation_in(&line.content);
            if conversation.is_some() {
                break;
            }
        }
        let conversation =
            conversation.or_else(|| conversations(&recording).pop()).unwrap_or(recording.id());
        Ok(Self { dir: dir.to_owned(), id: recording.id(), conversation, last })
    }
}

/// The time of the last event that can be read.
pub(super) fn last_time(dir: &Path) -> Option<Timestamp> {
    let lines = last_lines(&dir.join(EVENTS)).ok()?;
    let time = |line: &[u8]| serde_json::from_slice::<EventLine>(line).ok().map(|line| line.time);
    lines.rsplit(|byte| *byte == b'\n').find_map(time)
}

fn last_lines(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = files::open_regular(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    bytes.truncate(memchr::memrchr(b'\n', &bytes).unwrap_or(0));
    if length > TAIL {
        let first = memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |end| end + 1);
        bytes.drain(..first);
    }
    Ok(bytes)
}

fn conversation_in(content: &Entry) -> Option<String> {
    match content {
        Entry::Notice(Notice::Session { session_id }) => Some(session_id.clone()),
        Entry::Ended { ended, .. } => ended.session_id.clone(),
        Entry::Begun { begun } => begun.rules.resume.clone(),
        _ => None,
    }
}

/// Every conversation of a recording, in order.
pub fn conversations(recording: &Recording) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let names = [b"\"session_id\":".as_slice(), b"\"begun\":", b"\"ended\":"];
    let names = names.map(memmem::Finder::new);
    let Ok(mut lines) = recording.lines(EVENTS) else { return found };
    while let Ok(Some(line)) = lines.next_line() {
        if !names.iter().any(|name| name.find(line).is_some()) {
            continue;
        }
        let Ok(line) = serde_json::from_slice::<EventLine>(line) else { continue };
        found.extend(conversation_in(&line.content).filter(|id| found.last() != Some(id)));
    }
    found
}

/// All recordings of a project, the newest first.
pub fn all(state_dir: &Path) -> Vec<FoundRecording> {
    let named = sessions(state_dir).into_iter().filter_map(|dir| FoundRecording::read(&dir).ok());
    let mut all: Vec<_> = named.collect();
    all.sort_by(|one, other| {
        Reverse(one.last).cmp(&Reverse(other.last)).then_with(|| one.id.cmp(&other.id))
    });
    all
}

/// Which id takes precedence where a name fits different recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefer {
    /// The recording's own, which is the one that lists show.
    Recording,
    /// The conversation's: it can be resumed.
    Conversation,
}

/// The recording that a name means: the id of its directory, the id of a conversation in it, or the
/// beginning of either. `None` if no recording has that name; an error lists the candidates if
/// there are several.
pub fn find(state_dir: &Path, name: &str, first: Prefer) -> Result<Option<FoundRecording>> {
    let all = all(state_dir);
    let by_id = |all: &[FoundRecording]| all.iter().find(|named| named.id == name).cloned();
    let by_conversation =
        |all: &[FoundRecording]| all.iter().find(|named| named.conversation == name).cloned();
    let exact = match first {
        Prefer::Recording => by_id(&all).or_else(|| by_conversation(&all)),
        Prefer::Conversation => by_conversation(&all).or_else(|| by_id(&all)),
    };
    if exact.is_some() || name.is_empty() {
        return Ok(exact);
    }
    let begins = |named: &&FoundRecording| {
        named.id.starts_with(name) || named.conversation.starts_with(name)
    };
    let mut meant: Vec<FoundRecording> = all.iter().filter(begins).cloned().collect();
    let listed = |named: &&FoundRecording| named.id.starts_with(name);
    if first == Prefer::Recording && all.iter().any(|named| listed(&named)) {
        meant.retain(|named| listed(&named));
    }
    if meant.is_empty() {
        // A conversation in the middle of a recording that was cleared more than once.
        let has = |named: &&FoundRecording| {
            Recording::open(&named.dir).is_ok_and(|recording| {
                conversations(&recording).iter().any(|id| id.starts_with(name))
            })
        };
        meant = all.iter().filter(has).cloned().collect();
    }
    if first == Prefer::Conversation {
        // Of several recordings of one conversation, the newest knows most.
        let mut seen = std::collections::BTreeSet::new();
        meant.retain(|named| seen.insert(named.conversation.clone()));
    }
    match meant.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one.clone())),
        several => bail!(
            "{name:?} is the beginning of {} session ids; type more of the id you mean:{}",
            several.len(),
            candidates(several)
        ),
    }
}

/// One line for each candidate, with its task.
fn candidates(several: &[FoundRecording]) -> String {
    let line = |named: &FoundRecording| {
        let now = if named.id == named.conversation {
            String::new()
        } else {
            format!(" (now {})", named.conversation)
        };
        let task = Story::read(&named.dir).ok().and_then(|story| story.task).unwrap_or_default();
        let task = task.lines().next().unwrap_or_default();
        format!("\n  {}{now}  {task}", named.id).trim_end().to_owned()
    };
    let mut lines: Vec<String> = several.iter().take(CANDIDATES).map(line).collect();
    if several.len() > CANDIDATES {
        lines.push(format!("\n  and {} more", several.len() - CANDIDATES));
    }
    lines.concat()
}

/// What the newest recording of a conversation hands on to another run of it. That run may already
/// be recorded itself; `seed`, the seed of its rules, tells it apart.
pub fn earlier(state_dir: &Path, conversation: &str, seed: u64) -> Option<Carried> {
    let newest = all(state_dir).into_iter().find(|named| named.conversation == conversation)?;
    carried(&newest.dir, Some(seed))
}

/// Bytes of an earlier run's lines that are searched for commands: more than the number of commands
/// kept can need.
const LATEST: u64 = 32 << 20;

/// The latest commands that the agent ran in earlier runs of a conversation. If the current run is
/// already recorded, its own commands may be among them.
pub fn commands(state_dir: &Path, conversation: &str) -> Commands {
    let mut commands = Commands::default();
    let named = all(state_dir).into_iter().find(|named| named.conversation == conversation);
    let lines = named.and_then(|named| WholeLines::last_of(&named.dir.join(AGENT), LATEST).ok());
    let Some(mut lines) = lines else { return commands };
    while let Ok(Some(line)) = lines.next_line() {
        // Most lines contain neither, and need not be decoded.
        if memmem::find(line, b"tool_use").is_some() || memmem::find(line, b"tool_result").is_some()
        {
            commands.line(&Line::decode(line.to_vec()));
        }
    }
    commands
}

/// `earlier` for `--continue`, where only the client knows which conversation it will be. That is
/// nearly always the last recorded one, so a thread reads it while the client starts, and the loop
/// need not wait for it.
pub fn read_ahead(state_dir: PathBuf, seed: u64) -> impl Fn(&str) -> Option<Carried> {
    let dir = state_dir.clone();
    let read = move || {
        let newest = all(&dir).into_iter().next()?;
        let carried = carried(&newest.dir, Some(seed));
        Some((newest.conversation, carried))
    };
    let thread = thread::Builder::new().name("recordings".to_owned()).spawn(read);
    let newest = thread.map(|thread| Cell::new(Some(thread)));
    move |conversation| {
        let newest = newest.as_ref().ok().and_then(Cell::take);
        match newest.and_then(|thread| thread.join().ok().flatten()) {
            Some((id, carried)) if id == conversation => carried,
            _ => earlier(&state_dir, conversation, seed),
        }
    }
}

/// What the last run of a recording hands on to another one; see `earlier` for `seed`.
pub fn carried(dir: &Path, seed: Option<u64>) -> Option<Carried> {
    #[cfg(test)]
    tests::RERUNS.with(|count| count.set(count.get() + 1));
    let recording = Recording::open(dir).ok()?;
    let runs = recording.runs().ok()?;
    let seeds = |run: &RecordedRun| run.begun.as_ref().map(|begun| begun.rules.seed);
    let run = runs.iter().rfind(|run| seed.is_none() || seeds(run) != seed)?;
    rerun::carried(&recording, run).inspect_err(|error| log::warn!("{error:#}")).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;
    use crate::machine::Rules;
    use crate::record::sample::SampleRecording;

    thread_local! {
        /// How many recordings this thread has run again, for the test below.
        pub static RERUNS: Cell<usize> = const { Cell::new(0) };
    }

    /// Three sessions; the last one was cleared twice.
    fn recorded() -> tempfile::TempDir {
        let state = tempfile::tempdir().unwrap();
        for (at, ids) in [["abc", "abc", "abc"], ["abcd", "abcd", "abcd"], ["x", "y", "z-long"]]
            .into_iter()
            .enumerate()
        {
            let dir = state.path().join("sessions").join(ids[0]);
            let began = format!("2026-01-0{}T03:04:05Z", at + 1);
            let mut sample = SampleRecording::begin(&dir, &began, Rules::default());
            sample.event(Event::Start { prompt: None });
            let mut last = ids[0];
            for id in ids {
                if std::mem::replace(&mut last, id) != id {
                    sample.said("/clear");
                }
                sample.agent(&format!(
                    r#"{{"type":"system","subtype":"init","model":"m","session_id":"{id}"}}"#
                ));
            }
        }
        state
    }

    #[test]
    fn a_recording_is_found_by_both_ids_and_by_their_beginnings() {
        let state = recorded();
        for (name, id) in [
            ("abc", Some("abc")),
            ("abcd", Some("abcd")),
            ("x", Some("x")),
            ("z-long", Some("x")),
            ("z-", Some("x")),
            ("y", Some("x")),
            ("", None),
            ("elsewhere", None),
        ] {
            for first in [Prefer::Recording, Prefer::Conversation] {
                let found = find(state.path(), name, first).unwrap();
                assert_eq!(found.as_ref().map(|named| named.id.as_str()), id, "{name}");
            }
        }
        let several = find(state.path(), "ab", Prefer::Recording).unwrap_err().to_string();
        assert!(several.ends_with("you mean:\n  abcd\n  abc"), "{several}");
    }

    #[test]
    fn continuing_runs_no_recording_again_unnecessarily() {
        let state = recorded();
        let earlier = read_ahead(state.path().to_owned(), 99);
        assert!(earlier("z-long").is_some());
        assert_eq!(RERUNS.get(), 0, "the newest is run again on its own thread");
        assert!(earlier("abcd").is_some());
        assert_eq!(RERUNS.get(), 1, "another conversation: only its recording");
    }

    #[test]
    fn only_the_end_of_a_long_recording_is_read() {
        let state = recorded();
        let path = state.path().join("sessions/x").join(EVENTS);
        let line =
            r#"{"v":2,"time":"2026-02-02T03:04:05Z","at":9.0,"saw":"tick"}"#.to_owned() + "\n";
        let mut text = std::fs::read_to_string(&path).unwrap();
        text.push_str(&line.repeat(2 * usize::try_from(TAIL).unwrap() / line.len()));
        std::fs::write(&path, &text).unwrap();
        let tail = last_lines(&path).unwrap();
        assert!(tail.starts_with(b"{\"v\"") && tail.len() < usize::try_from(TAIL).unwrap());
        let named = FoundRecording::read(path.parent().unwrap()).unwrap();
        assert_eq!((named.id.as_str(), named.conversation.as_str()), ("x", "z-long"));
        assert_eq!(named.last, Some("2026-02-02T03:04:05Z".parse().unwrap()));
    }
}
