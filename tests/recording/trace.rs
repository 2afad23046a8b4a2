//! The files of one session, and what they must always be.

use std::fs;
use std::path::{Path, PathBuf};

use ccc::record::EventLine;
use ccc::record::read::{AGENT, CAST, EVENTS, Recording, SUPERVISOR};
use serde_json::Value;

use crate::room::{Room, STATE_DIR};

pub struct Trace {
    pub dir: PathBuf,
}

pub struct CastEvent {
    pub at: f64,
    pub code: String,
    pub data: String,
}

impl Trace {
    /// Of the only session in the room.
    #[track_caller]
    pub fn of(room: &Room) -> Self {
        let dirs: Vec<_> = fs::read_dir(room.path(STATE_DIR).join("sessions"))
            .expect("recordings")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        assert_eq!(dirs.len(), 1, "{dirs:?}");
        Self { dir: dirs[0].clone() }
    }

    pub fn of_session(room: &Room, id: &str) -> Option<Self> {
        let dir = room.path(STATE_DIR).join("sessions").join(id);
        dir.is_dir().then_some(Self { dir })
    }

    pub fn id(&self) -> String {
        self.dir.file_name().expect("a name").to_string_lossy().into_owned()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(fs::read(self.path(name)).expect(name)).expect("UTF-8")
    }

    /// A file that a dead ccc left; one that it did not come to make is empty.
    pub fn left(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_default()
    }

    #[track_caller]
    pub fn recording(&self) -> Recording {
        Recording::open(&self.dir).expect("a recording")
    }

    /// Every line of its events; all of them can be read.
    #[track_caller]
    pub fn events(&self) -> Vec<EventLine> {
        let lines = self.recording().event_lines().expect("events");
        lines.map(|line| line.unwrap_or_else(|| panic!("{}", self.text(EVENTS)))).collect()
    }

    /// The header, and the events in the order of time. Half a line at the end is none.
    #[track_caller]
    pub fn cast(&self) -> (Value, Vec<CastEvent>) {
        let left = self.left(CAST);
        let text = String::from_utf8_lossy(whole_lines(&left));
        let mut lines = text.lines();
        let header: Value = serde_json::from_str(lines.next().unwrap_or("null")).expect("a header");
        let events: Vec<CastEvent> = lines
            .map(|line| {
                let (at, code, data) =
                    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
                CastEvent { at, code, data }
            })
            .collect();
        assert!(events.is_sorted_by(|one, two| one.at <= two.at), "{text}");
        (header, events)
    }

    /// Everything of one kind in the cast.
    pub fn cast_events(&self, code: &str) -> Vec<String> {
        let (_, events) = self.cast();
        events.into_iter().filter(|event| event.code == code).map(|event| event.data).collect()
    }

    /// Each line but the last is whole. Says whether half of one is at the end.
    #[track_caller]
    pub fn check_lines(&self) -> bool {
        let mut torn = false;
        for name in [EVENTS, AGENT, SUPERVISOR, CAST] {
            let left = self.left(name);
            let whole = whole_lines(&left);
            torn |= whole.len() < left.len();
            for line in whole.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                let json = line.strip_prefix(b"a warning ").unwrap_or(line);
                let mut values = serde_json::Deserializer::from_slice(json).into_iter::<Value>();
                let whole = values.all(|value| value.is_ok());
                assert!(whole, "{name}: {}", String::from_utf8_lossy(line));
            }
        }
        torn
    }
}

pub fn whole_lines(bytes: &[u8]) -> &[u8] {
    &bytes[..memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1)]
}

/// Every file of a directory tree.
pub fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).expect("a directory").flatten() {
            let path = entry.path();
            if path.is_dir() {
                dirs.push(path.clone());
            }
            found.push(path);
        }
    }
    found
}
