use std::fs;

use super::*;
use crate::event::{Carried, Event, Said};
use crate::machine::Rules;
use crate::record::find;
use crate::record::read::{AGENT, EVENTS};
use crate::record::sample::{SampleRecording, append};

const MORNING: &str = "2026-01-02T08:00:00Z";
const NOON: &str = "2026-01-02T12:00:00Z";

struct Shelf(tempfile::TempDir);

impl Shelf {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn dir(&self, id: &str) -> PathBuf {
        self.0.path().join("sessions").join(id)
    }

    fn sample(&self, id: &str, began: &str, rules: Rules) -> SampleRecording {
        let mut sample = SampleRecording::begin(&self.dir(id), began, rules);
        sample.event(Event::Start { prompt: None });
        sample
    }

    fn read(&self, id: &str) -> Story {
        Story::read(&self.dir(id)).unwrap()
    }

    fn earlier(&self, id: &str) -> Option<Carried> {
        find::earlier(self.0.path(), id, 99)
    }
}

fn said(texts: &[&str]) -> Vec<Said> {
    texts
        .iter()
        .map(|text| Said { text: (*text).into(), earlier: false, ..Said::default() })
        .collect()
}

/// A session that was rejected once and is in the middle of its second turn.
fn half_way(sample: &mut SampleRecording) -> &mut SampleRecording {
    sample.said("/model opus").agent(r#"{"type":"result","num_turns":0,"result":"ok"}"#);
    sample.said("build it").turn("S", "built", 0.25).verdict(false, "add tests")
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

#[test]
fn a_whole_session_is_summarised() {
    let shelf = Shelf::new();
    let mut sample = shelf.sample("S", MORNING, Rules::default());
    half_way(&mut sample).turn("S", "tested", 0.5).verdict(true, "fine").event(Event::Leave);
    sample.end(Outcome::Completed);
    let story = shelf.read("S");
    assert_eq!((story.id.as_str(), story.session_id.as_str(), story.runs), ("S", "S", 1));
    assert_eq!(story.project.as_deref(), Some("/p/here"));
    assert_eq!((story.provider.as_deref(), story.ccc.as_deref()), (Some("kimi"), Some("0.1.0")));
    assert_eq!(story.task.as_deref(), Some("build it"), "a command is no task");
    assert_eq!(story.messages, ["/model opus", "build it"]);
    assert_eq!(story.state, SessionState::Over(Outcome::Completed));
    let completed: Vec<_> = story.rounds.iter().map(|round| round.verdict.completed).collect();
    assert_eq!(completed, [false, true]);
    assert!(near(story.cost_usd, 0.52), "{}", story.cost_usd);
    assert!(near(story.seconds.total, 30.0) && near(story.seconds.reviewing, 10.0));
    let carried = shelf.earlier("S").unwrap();
    assert!(carried.fresh && carried.said == said(&["build it"]), "{carried:?}");
}

#[test]
fn events_are_told_in_order() {
    let shelf = Shelf::new();
    half_way(&mut shelf.sample("S", MORNING, Rules::default()));
    let name = |what: StoryEvent| match what {
        StoryEvent::RunBegan(number) => Some(format!("run {number}")),
        StoryEvent::Told(Notice::UserMessage { text }) => Some(format!("said {text}")),
        StoryEvent::Told(Notice::Verdict { .. }) => Some("verdict".into()),
        StoryEvent::Told(_) => None,
        StoryEvent::Turn(turn) => {
            Some(format!("{} {:?} {}", turn.answer, turn.tools, turn.seconds))
        }
        StoryEvent::Reviewed(_) => Some("supervisor".into()),
        StoryEvent::CheckPrinted(text) => Some(text),
    };
    let mut told = Vec::new();
    tell(&shelf.dir("S"), &mut |entry| {
        told.extend(name(entry.what));
        Ok(())
    })
    .unwrap();
    assert_eq!(
        told,
        [
            "run 1",
            "said /model opus",
            "ok [] 0",
            "said build it",
            "built [(\"Edit\", 1)] 10",
            "supervisor",
            "supervisor",
            "verdict",
        ]
    );
}

#[test]
fn a_killed_session_is_summarised_up_to_its_last_line() {
    let shelf = Shelf::new();
    half_way(&mut shelf.sample("S", MORNING, Rules::default()));
    append(&shelf.dir("S").join(EVENTS), br#"{"v":9,"from":"tomorrow"}"#);
    let events = shelf.dir("S").join(EVENTS);
    let mut text = fs::read(&events).unwrap();
    text.extend(br#"{"v":2,"time":"20"#);
    fs::write(&events, text).unwrap();
    let story = shelf.read("S");
    assert_eq!((&story.state, story.unread), (&SessionState::BrokenOff, 1));
    assert_eq!((story.rounds.len(), story.rounds[0].round), (1, 1));
    assert!(near(story.rounds[0].cost_usd, 0.01) && near(story.rounds[0].seconds, 5.0));
    assert!(near(story.cost_usd, 0.26), "{}", story.cost_usd);
    let carried = shelf.earlier("S").unwrap();
    assert_eq!((carried.round, carried.fresh), (1, false));
    assert_eq!(carried.said, said(&["build it"]));
    assert!(near(carried.cost_usd, 0.26));
}

#[test]
fn a_review_that_was_cut_off_does_not_count() {
    let shelf = Shelf::new();
    half_way(&mut shelf.sample("S", MORNING, Rules::default())).turn("S", "tested", 0.5);
    assert_eq!(shelf.earlier("S").unwrap().round, 1);
}

#[test]
fn a_resumed_session_is_one_story() {
    let shelf = Shelf::new();
    half_way(&mut shelf.sample("S", MORNING, Rules::default()));
    // Printed but never counted: ccc was killed in between.
    append(&shelf.dir("S").join(AGENT), br#"{"type":"result","num_turns":1,"result":"lost"}"#);
    let carried = shelf.earlier("S");
    let rules = Rules { resume: Some("S".into()), carried, ..Rules::default() };
    let mut sample = shelf.sample("S", NOON, rules);
    sample.said("go on").turn("S", "tested", 0.125).verdict(true, "fine");
    sample.end(Outcome::Ended);
    let story = shelf.read("S");
    assert_eq!((story.runs, story.messages.len()), (2, 3));
    assert_eq!(story.began, Some(MORNING.parse().unwrap()));
    let rounds: Vec<_> = story.rounds.iter().map(|round| round.round).collect();
    assert_eq!(rounds, [1, 2]);
    assert!(near(story.cost_usd, 0.26 + 0.125 + 0.01), "{}", story.cost_usd);
    assert!(near(story.seconds.total, 30.0), "{:?}", story.seconds);
    let carried = shelf.earlier("S").unwrap();
    assert!(carried.fresh, "the verdict after the lost line is found");
    assert_eq!(carried.said, said(&["build it", "go on"]));
}

#[test]
fn after_clear_the_conversation_has_another_id() {
    let shelf = Shelf::new();
    let mut sample = shelf.sample("S", MORNING, Rules::default());
    half_way(&mut sample).turn("S", "tested", 0.5).verdict(true, "fine");
    sample.said("/clear").agent(r#"{"type":"system","subtype":"init","session_id":"T"}"#);
    sample.agent(r#"{"type":"result","num_turns":0,"result":""}"#);
    sample.said("something else").turn("T", "done", 0.1);
    assert_eq!(shelf.read("S").session_id, "T");
    assert_eq!(shelf.earlier("S"), None, "that conversation is another one");
    let carried = shelf.earlier("T").unwrap();
    assert_eq!((carried.round, carried.said.clone()), (0, said(&["something else"])));
    // Its next run has a directory of its own, which is newer.
    let rules = Rules { resume: Some("T".into()), carried: Some(carried), ..Rules::default() };
    shelf.sample("T", NOON, rules).said("and more");
    assert_eq!(shelf.earlier("T").unwrap().said.len(), 2);
    assert_eq!(shelf.read("T").messages, ["something else", "and more"]);
    let ids: Vec<_> = all(shelf.0.path()).into_iter().map(|story| story.id).collect();
    assert_eq!(ids, ["T", "S"]);
}

#[test]
fn recordings_without_rules_can_be_read_but_not_continued() {
    let shelf = Shelf::new();
    fs::create_dir_all(shelf.dir("old")).unwrap();
    for line in [
        r#"{"v":1,"time":"2026-01-02T03:04:05Z","event":"user_message","text":"do it"}"#,
        r#"{"v":1,"time":"2026-01-02T03:05:05Z","event":"verdict","round":1,"completed":true,"feedback":"","explicit":true}"#,
    ] {
        append(&shelf.dir("old").join(EVENTS), line.as_bytes());
    }
    fs::create_dir_all(shelf.dir("empty")).unwrap();
    fs::write(shelf.dir("empty").join(EVENTS), "").unwrap();
    fs::create_dir_all(shelf.dir("\x1b[2J")).unwrap();
    fs::write(shelf.dir("\x1b[2J").join(EVENTS), "").unwrap();
    assert_eq!(all(shelf.0.path()).len(), 2);
    let story = shelf.read("old");
    assert_eq!((story.task.as_deref(), story.rounds.len()), (Some("do it"), 1));
    assert_eq!((shelf.earlier("old"), shelf.earlier("empty")), (None, None));
    assert_eq!(shelf.read("empty").began, None);
}

#[test]
fn a_lock_tells_that_a_session_is_running() {
    let shelf = Shelf::new();
    half_way(&mut shelf.sample("S", MORNING, Rules::default()));
    let file = File::open(shelf.dir("S")).unwrap();
    assert_eq!(shelf.read("S").state, SessionState::BrokenOff);
    file.try_lock().unwrap();
    assert_eq!(shelf.read("S").state, SessionState::Running);
    drop(file);
    assert_eq!(shelf.read("S").state, SessionState::BrokenOff);
}

#[test]
fn a_recorded_run_does_not_count_as_its_own_predecessor() {
    let shelf = Shelf::new();
    half_way(&mut shelf.sample("S", MORNING, Rules::default()));
    let before = shelf.earlier("S");
    shelf.sample("S", NOON, Rules { seed: 99, ..Rules::default() }).said("go on");
    assert_eq!(before.as_ref().map(|carried| carried.round), Some(1));
    assert_eq!(shelf.earlier("S"), before);
}
