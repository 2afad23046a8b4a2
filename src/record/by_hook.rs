//! The recording of a session that the Stop hook judges: what the person said and how each review
//! ended. No process runs between two stops, so each stop appends to the file and rewrites the
//! report so far. Such a recording holds no events that a machine could run again.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::events::push;
use super::format::Entry;
use super::read::{EVENTS, Recording};
use crate::event::{Carried, Notice, Now, Outcome, Report, Round, Said, Seconds};
use crate::files;

pub struct RecordedStop<'a> {
    pub session_id: &'a str,
    pub said: Vec<Said>,
    /// What to tell the person about this stop, in order.
    pub notices: Vec<Notice>,
    pub outcome: Outcome,
    pub round: Option<Round>,
    /// Carried over to the next run of the session.
    pub count: u32,
    pub settled: bool,
    pub last_answer: &'a str,
}

const PREFIX: &str = "hook-";

/// A name of its own: a ccc session of the same conversation may have a recording too.
pub fn directory(state_dir: &Path, session_id: &str) -> PathBuf {
    state_dir.join("sessions").join(format!("{PREFIX}{session_id}"))
}

/// Whether a recording is one of these.
pub fn is_by_hook(recording: &Path) -> bool {
    recording.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX))
}

pub fn add(state_dir: &Path, stop: RecordedStop<'_>) -> Result<()> {
    let dir = directory(state_dir, stop.session_id);
    files::create_dir(&dir)?;
    let _lock = super::lock(&dir)?;
    let path = dir.join(EVENTS);
    let before = path.exists().then(|| Recording::open(&dir)?.runs()).transpose()?;
    let before = before.and_then(|runs| runs.into_iter().next());
    let (report, carried) = before.map(|run| (run.ended, run.carried)).unwrap_or_default();
    let mut lines = Vec::new();
    let mut tell = |content: Entry| push(&mut lines, Now::ZERO, content);
    if report.is_none() {
        let session_id = stop.session_id.to_owned();
        tell(Entry::Notice(Notice::Session { session_id }));
    }
    let known = carried.map_or(0, |carried| carried.said.len());
    for said in stop.said.iter().skip(known) {
        tell(Entry::Notice(Notice::UserMessage { text: said.text.clone() }));
    }
    stop.notices.into_iter().for_each(|notice| tell(Entry::Notice(notice)));
    let mut report = report.unwrap_or_else(|| empty(stop.session_id));
    if let Some(round) = stop.round {
        report.seconds.total += round.seconds;
        report.seconds.reviewing += round.seconds;
        report.cost_usd += round.cost_usd;
        report.supervision.reviews += 1;
        report.supervision.cost_usd += round.cost_usd;
        report.supervision.usage += round.usage;
        report.rounds.push(round);
    }
    report.exit_code = stop.outcome.exit_code();
    report.outcome = stop.outcome;
    stop.last_answer.clone_into(&mut report.result);
    let carried = Carried {
        round: stop.count,
        fresh: stop.settled,
        said: stop.said,
        cost_usd: report.cost_usd,
        ..Carried::default()
    };
    tell(Entry::Ended { ended: Box::new(report), carried: Some(Box::new(carried)) });
    let mut file = files::append(&path).with_context(|| format!("{}", path.display()))?;
    Ok(file.write_all(&lines)?)
}

fn empty(session_id: &str) -> Report {
    Report {
        outcome: Outcome::Ended,
        exit_code: 0,
        session_id: Some(session_id.to_owned()),
        rounds: Vec::new(),
        result: String::new(),
        denials: Vec::new(),
        cost_usd: 0.0,
        supervision: crate::event::Supervision::default(),
        seconds: Seconds::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::stream::Usage;
    use crate::record::find::{self, Prefer};
    use crate::record::rerun;
    use crate::record::story::{SessionState, Story};
    use crate::review::verdict::Verdict;

    #[test]
    fn every_stop_appends_to_the_same_story() {
        let state = tempfile::tempdir().unwrap();
        let said = |texts: &[&str]| {
            let said = texts.iter().map(|text| Said {
                text: (*text).into(),
                earlier: false,
                ..Said::default()
            });
            said.collect::<Vec<_>>()
        };
        let stop = |texts: &[&str], completed: bool, number| RecordedStop {
            session_id: "abc",
            said: said(texts),
            notices: Vec::new(),
            outcome: if completed { Outcome::Completed } else { Outcome::Ended },
            round: Some(Round {
                round: number,
                verdict: Verdict::new(completed, "more"),
                seconds: 2.0,
                cost_usd: 0.5,
                usage: Usage::default(),
            }),
            count: number,
            settled: completed,
            last_answer: "done",
        };
        add(state.path(), stop(&["build it"], false, 1)).unwrap();
        add(state.path(), stop(&["build it", "and test it"], true, 2)).unwrap();
        let found = find::find(state.path(), "abc", Prefer::Recording).unwrap().unwrap();
        assert_eq!((found.id.as_str(), found.conversation.as_str()), ("hook-abc", "abc"));
        let error = rerun::check(&Recording::open(&found.dir).unwrap()).unwrap_err();
        assert!(error.to_string().contains("`ccc sessions show hook-abc`"), "{error}");
        let story = Story::read(&found.dir).unwrap();
        assert_eq!(story.state, SessionState::Over(Outcome::Completed));
        assert_eq!(story.messages, ["build it", "and test it"]);
        let rounds: Vec<_> = story.rounds.iter().map(|it| it.verdict.completed).collect();
        assert_eq!((rounds, story.supervision.reviews), (vec![false, true], 2));
        assert!((story.cost_usd - 1.0).abs() < 1e-9 && story.unread == 0);
        let carried = find::carried(&found.dir, None).unwrap();
        assert_eq!((carried.round, carried.fresh, carried.said.len()), (2, true, 2));
    }
}
