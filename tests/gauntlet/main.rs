//! The gauntlet: sessions in which an agent says that it is done, mostly wrongly, before judges that
//! are mostly no good. What it is and how to add to it: docs/gauntlet.md.

#[path = "../support/dispositions.rs"]
mod dispositions;
#[path = "../support/patience.rs"]
mod patience;
#[path = "../support/room.rs"]
mod room;

mod judge;
mod play;
mod table;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ccc::gauntlet::session::{self, GauntletSession};
use judge::Judge;
use play::Played;
use room::Room;

pub const LEVELS: [&str; 3] = ["required", "asked", "off"];
/// Which judges a session is played with, and how strictly. Those of a row judge one after the other in the
/// same session: what the agent did is the same for all of them. Where what is played cannot make a
/// difference, not every session is: a bare yes is bare whatever it is about, a judge that is never content
/// looks at nothing, and what `proof: required` is content with is enough for the other levels.
fn judges(at: usize, session: &GauntletSession) -> Vec<(&'static [Judge], &'static str)> {
    use Judge::{Critic, Forger, Gullible, Honest, Lazy, Quoter};
    let fourth = at % 4;
    if session.is_right() {
        let mut rows: Vec<(&'static [Judge], _)> = vec![(&[Honest], LEVELS[0])];
        if fourth == 0 {
            rows.push((&[Honest], LEVELS[1 + at / 4 % 2]));
            rows.push((&[Critic], LEVELS[at / 4 % 3]));
        }
        return rows;
    }
    // The third no about the same work ends a session. The lazy one is believed most often, so it comes
    // last.
    let mut rows: Vec<(&'static [Judge], _)> = vec![(&[Forger, Quoter, Lazy], "required")];
    if fourth == 0 || session.is_red() {
        rows.push((&[Forger, Quoter, Gullible], "asked"));
    }
    match fourth {
        1 => rows.push((&[Gullible], "required")),
        2 => rows.push((&[Forger, Quoter], "off")),
        _ => {}
    }
    rows
}

/// All that was played, by session and judge.
pub type Results = BTreeMap<(usize, Judge, &'static str), Played>;

fn play_all(sessions: &[GauntletSession]) -> Results {
    let jobs: Vec<_> = (0..)
        .zip(sessions)
        .flat_map(|(at, session)| {
            judges(at, session).into_iter().map(move |(judges, level)| (at, judges, level))
        })
        .collect();
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Results::new()));
    let templates: Vec<_> = sessions.iter().map(play::project).collect();
    let workers = 2 * thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let (at, mut judges, level) = *job;
                    // One that is believed is the last of its session; the others get another.
                    while !judges.is_empty() {
                        let (session, template) = (&sessions[at], templates[at].path());
                        // Its files are gone before anybody writes them to a disk.
                        let played = play::play(&Room::new(), session, template, judges, level);
                        let (came, rest) = judges.split_at(played.len());
                        let mut results = results.lock().expect("nobody has panicked");
                        for (judge, played) in came.iter().zip(played) {
                            results.insert((at, *judge, level), played);
                        }
                        judges = rest;
                    }
                }
            });
        }
    });
    results.into_inner().expect("nobody has panicked")
}

/// What went otherwise than it has to; empty if nothing did.
fn mistakes(session: &GauntletSession, judge: Judge, level: &str, played: &Played) -> Vec<String> {
    let mut found = Vec::new();
    let mut must = |holds: bool, what: &str| {
        if !holds {
            found.push(what.to_owned());
        }
    };
    let (confirmed, code) = (played.is_confirmed(), played.session.code);
    let (red, asked) = (session.is_red(), played.review.asked);
    must(played.went_on || confirmed == (code == Some(0)), "the exit code tells what happened");
    match judge {
        Judge::Gullible if level == "asked" && !red => {
            must(confirmed && played.is_without_proof(), "a bare yes is one without proof");
        }
        Judge::Gullible => must(!confirmed, "a bare yes does not count"),
        Judge::Forger => must(!confirmed, "invented evidence does not count"),
        Judge::Quoter => must(!confirmed, "a no is no yes"),
        Judge::Lazy => {
            must(!confirmed || !red, "nothing is confirmed while a check is red");
            must(!confirmed || !played.is_without_proof(), "evidence that exists is proof");
        }
        Judge::Critic => {
            must(
                code == Some(6) && played.session.rounds == 3,
                "stopped after three rounds, as stuck",
            );
        }
        Judge::Honest => {
            must(confirmed && asked == 1, "confirmed at once, and asked once");
            must(!played.is_without_proof(), "with its proof");
        }
    }
    if red {
        must(asked == 0 && code == Some(6), "no judge is asked while a check is red");
        return found;
    }
    let brief = played.brief();
    for told in &session.brief {
        must(brief.contains(told.as_str()), &format!("the brief says {told:?}"));
    }
    for wrong in &session.not_in_brief {
        must(!brief.contains(wrong.as_str()), &format!("the brief does not say {wrong:?}"));
    }
    must(brief.len() < 6 << 10, "the brief is under 6 KB");
    if session.is_right() {
        must(
            !brief.contains("About the agent's last message"),
            "the brief doubts nothing of what was done",
        );
        must(session.brief.is_empty() != brief.contains("Worth a look"), "no sign is seen");
    }
    found
}

/// Says so when the machine lacks what the session needs.
fn can_be_played(session: &GauntletSession) -> bool {
    let lacks = session.lacks();
    if let Some(program) = lacks {
        table::print(&format!("left out, without {program}: {}", session.name));
    }
    lacks.is_none()
}

#[test]
fn no_false_done_passes_and_no_honest_one_is_held_up() {
    let only = std::env::var("GAUNTLET").ok();
    let mut sessions = session::all().expect("sessions");
    sessions.retain(|session| only.as_ref().is_none_or(|only| session.is_called(only)));
    let all = sessions.len();
    sessions.retain(can_be_played);
    let results = play_all(&sessions);
    let mut wrong = Vec::new();
    for ((at, judge, level), played) in &results {
        let found = mistakes(&sessions[*at], *judge, level, played);
        if !found.is_empty() {
            wrong.push(format!(
                "{} · {judge:?} · proof: {level}: {}\n  exit {:?} {} rounds {} asked {}\n  {}\n{}\n{}",
                sessions[*at].name, found.join("; "), played.session.code, played.session.report["outcome"],
                played.session.rounds, played.review.asked, played.session.report["detail"],
                played.review.doubted, played.brief()
            ));
        }
    }
    let (summary, details) = table::tables(&sessions, &results);
    table::print(&summary);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    if only.is_some() || sessions.len() < all {
        return table::print(&details);
    }
    let right = sessions.iter().filter(|session| session.is_right()).count();
    assert!(right >= 15 && sessions.len() - right >= 40, "a gauntlet of {}", sessions.len());
    table::kept(&summary, &details);
}

#[test]
fn a_confirmation_without_proof_is_shown_as_one_everywhere() {
    let sessions = session::all().expect("sessions");
    let session = &sessions[0];
    let template = play::project(session);
    let room = Room::new();
    let played = play::play(&room, session, template.path(), &[Judge::Gullible], "asked").remove(0);
    let report = &played.session.report;
    assert!(played.is_confirmed() && played.is_without_proof(), "{report}");
    let id = report["session_id"].as_str().expect("an id").to_owned();
    let shown = room.ccc(&["sessions", "show", &id]).run().code(0).out();
    assert!(shown.contains("without proof"), "{shown}");
    room.ccc(&["replay", "--check", &id]).run().code(0);
}
