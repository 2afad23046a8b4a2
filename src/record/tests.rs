use super::*;
use crate::client::stream::Part;
use crate::event::{Outcome, Phase};
use crate::machine::Rules;
use crate::record::read::Recording;
use std::fs;
use std::time::Duration;

const INIT: &[u8] = br#"{"type":"system","subtype":"init","session_id":"s1","model":"m"}"#;
const TEXT: &[u8] = br#"{"type":"assistant","session_id":"s1","message":{"content":[]}}"#;

fn recorder(state: &Path) -> Recorder {
    let begun = Begun {
        ccc: "0.1.0".into(),
        project: "/p".into(),
        provider: Some("kimi".into()),
        rules: Rules::default(),
        agent_lines: 0,
        supervisor_lines: 0,
    };
    Recorder::new(state.to_owned(), begun, CastHeader::default())
}

fn agent(recorder: &mut Recorder, raw: &[u8]) {
    let line = Line::decode(raw.to_vec());
    recorder.agent(&line, Duration::from_secs(1), false);
    for part in line.parts {
        if let Part::Message(envelope) = part {
            recorder.saw(&Event::Agent(*envelope), Duration::from_secs(1));
        }
    }
}

fn phase(recorder: &mut Recorder) {
    let notice = Notice::Phase { phase: Phase::Working, round: 0, max: 10 };
    recorder.did(&Action::Say(notice), Duration::from_secs(2));
}

fn contents(state: &Path) -> Vec<Entry> {
    let recording = Recording::open(&state.join("sessions/s1")).unwrap();
    recording.event_lines().unwrap().map(|line| line.unwrap().content).collect()
}

#[test]
fn nothing_is_on_disk_before_the_session_has_an_id() {
    let state = tempfile::tempdir().unwrap();
    let mut recorder = recorder(state.path());
    recorder.saw(&Event::Start { prompt: None }, Duration::ZERO);
    agent(&mut recorder, b"usage: claude [options]");
    phase(&mut recorder);
    assert_eq!(recorder.flush(), None);
    assert_eq!(fs::read_dir(state.path()).unwrap().count(), 0);
    agent(&mut recorder, INIT);
    phase(&mut recorder);
    assert_eq!(recorder.flush(), None);
    let contents = contents(state.path());
    let kinds: Vec<_> = contents.iter().collect();
    assert!(
        matches!(kinds[0], Entry::Begun { begun } if begun.provider.as_deref() == Some("kimi"))
    );
    assert!(matches!(kinds[1], Entry::Event(Event::Start { .. })));
    assert_eq!(kinds[2], &Entry::Lines(ClientLines::Agent { lines: 1 }));
    assert!(matches!(kinds[3], Entry::Notice(Notice::Phase { .. })));
    assert_eq!(kinds[4], &Entry::Lines(ClientLines::Agent { lines: 1 }));
    let printed = fs::read(state.path().join("sessions/s1").join(AGENT)).unwrap();
    assert!(printed.starts_with(b"usage: claude [options]\n"));
}

#[test]
fn a_later_run_records_how_many_lines_are_older() {
    let state = tempfile::tempdir().unwrap();
    let mut first = recorder(state.path());
    for raw in [INIT, TEXT, b"", TEXT] {
        agent(&mut first, raw);
    }
    // Killed before it could count these lines.
    first.flush();
    drop(first);
    let mut second = recorder(state.path());
    agent(&mut second, INIT);
    phase(&mut second);
    second.flush();
    let begun: Vec<_> = contents(state.path())
        .iter()
        .filter_map(|content| match content {
            Entry::Begun { begun } => Some(begun.agent_lines),
            _ => None,
        })
        .collect();
    assert_eq!(begun, [0, 3]);
    assert_eq!(count_lines(&state.path().join("sessions/s1").join(AGENT)).unwrap(), 4);
}

#[test]
fn two_processes_do_not_write_into_one_recording() {
    let state = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (recorder(state.path()), recorder(state.path()));
    agent(&mut one, INIT);
    agent(&mut two, INIT);
    phase(&mut two);
    assert!(
        matches!(two.flush(), Some(Notice::NotRecorded { why, .. }) if why.contains("another"))
    );
    assert_eq!(two.flush(), None);
    assert_eq!(one.flush(), None);
    assert_eq!(contents(state.path()).len(), 1);
}

#[test]
fn a_directory_that_cannot_be_written_is_reported_once_and_nothing_is_kept_in_memory() {
    let state = tempfile::tempdir().unwrap();
    fs::write(state.path().join("sessions"), "in the way").unwrap();
    let mut recorder = recorder(state.path());
    agent(&mut recorder, INIT);
    assert!(
        matches!(recorder.flush(), Some(Notice::NotRecorded { what, .. }) if what.contains("s1"))
    );
    agent(&mut recorder, TEXT);
    let machine = crate::machine::Machine::new(Rules::default());
    let report = machine.report(Outcome::Ended, Duration::ZERO);
    recorder.ended(&report, machine.carried(), Duration::ZERO);
    assert_eq!(recorder.flush(), None);
}

#[test]
fn one_file_that_fails_does_not_affect_the_others() {
    let state = tempfile::tempdir().unwrap();
    let dir = state.path().join("sessions/s1");
    fs::create_dir_all(&dir).unwrap();
    std::os::unix::fs::symlink("elsewhere", dir.join(CAST)).unwrap();
    let mut recorder = recorder(state.path());
    recorder.cast().output(b"hello");
    agent(&mut recorder, INIT);
    phase(&mut recorder);
    let told = recorder.flush();
    assert!(matches!(&told, Some(Notice::NotRecorded { what, .. }) if what == CAST), "{told:?}");
    phase(&mut recorder);
    assert_eq!(recorder.flush(), None);
    assert_eq!(contents(state.path()).len(), 4);
}
