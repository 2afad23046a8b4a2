//! `kill -9` at any moment: what was on record stays so, and can be read and continued.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use ccc::record::read::{AGENT, CAST, EVENTS};

use crate::client::{NO, room};
use crate::played::played;
use crate::rerun::rerun;
use crate::room::Room;
use crate::trace::{Trace, whole_lines};

const RUNS: u32 = 200;
const AT_ONCE: u32 = 4;
/// Of these, every so many are resumed afterwards.
const RESUMED: u32 = 5;
/// Runs can be repeated with the seed that they printed.
const SEED: &str = "CCC_TEST_SEED";

/// Numbers that look random: SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn up_to(&mut self, most: Duration) -> Duration {
        let part = u32::try_from(self.next() >> 40).expect("24 bits");
        most.mul_f64(f64::from(part) / f64::from(1 << 24))
    }

    fn session_id(&mut self) -> String {
        let (one, two) = (self.next(), self.next());
        format!("{:08x}-0000-4000-8000-{:012x}", one & 0xffff_ffff, two & 0xffff_ffff_ffff)
    }
}

#[derive(Debug, Default)]
struct Found {
    recorded: u32,
    /// Killed before there was anything to record.
    early: u32,
    /// With half a line at the end of a file.
    torn: u32,
    resumed: u32,
    decisions: usize,
}

#[test]
fn killed_at_any_moment() {
    let seed = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = seed.unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().0);
    eprintln!("{SEED}={seed}");
    let found = Mutex::new(Found::default());
    thread::scope(|scope| {
        for worker in 0..AT_ONCE {
            let found = &found;
            scope.spawn(move || {
                let room = room(&[NO]);
                let mut random = Random(seed.wrapping_add(u64::from(worker)));
                let whole = whole_run(&room, &mut random);
                for run in (worker..RUNS).step_by(AT_ONCE as usize) {
                    killed(&room, run, &mut random, whole, found);
                }
            });
        }
    });
    let found = found.into_inner().expect("no test failed");
    eprintln!("{found:?}");
    assert_eq!(found.recorded + found.early, RUNS);
    assert!(found.recorded > RUNS / 4 && found.decisions > 1000, "{found:?}");
}

fn args(run: u32) -> [&'static str; 7] {
    let format = ["text", "stream-json", "json"][run as usize % 3];
    ["--supervisor", "-p", "go", "--max-iterations", "5", "--output-format", format]
}

/// How long a session takes that nobody kills.
fn whole_run(room: &Room, random: &mut Random) -> Duration {
    let id = random.session_id();
    let began = Instant::now();
    room.ccc(&args(0)).args(&["--session-id", &id]).run().code(6);
    let trace = Trace::of_session(room, &id).expect("a recording");
    assert_eq!(trace.text(AGENT), room.seen(&format!("{id}.agent.printed")));
    began.elapsed()
}

fn killed(room: &Room, run: u32, random: &mut Random, whole: Duration, found: &Mutex<Found>) {
    let id = random.session_id();
    let moment = random.up_to(whole);
    let mut ccc = room.ccc(&args(run)).args(&["--session-id", &id]).start();
    thread::sleep(moment);
    ccc.kill();
    let _ = ccc.finish();
    let trace = Trace::of_session(room, &id).filter(|trace| trace.path(EVENTS).is_file());
    let Some(trace) = trace.filter(|trace| !trace.left(EVENTS).is_empty()) else {
        found.lock().expect("no failure").early += 1;
        return;
    };
    let torn = trace.check_lines();
    let decisions = rerun(&trace.recording());
    nothing_lost(room, &trace);
    let resumes = run.is_multiple_of(RESUMED);
    if !trace.left(CAST).is_empty() {
        trace.cast();
        // Each start of asciinema costs as much as the session did.
        if resumes && !torn {
            played(&trace.path(CAST));
        }
    }
    if resumes {
        resume(room, &trace);
    }
    let mut found = found.lock().expect("no failure");
    found.recorded += 1;
    found.torn += u32::from(torn);
    found.resumed += u32::from(resumes);
    found.decisions += decisions;
}

/// A message reached the agent only after the review of what it did before, and by then that was
/// written down.
#[track_caller]
fn nothing_lost(room: &Room, trace: &Trace) {
    let id = trace.id();
    let printed = room.seen(&format!("{id}.agent.printed"));
    let left = trace.left(AGENT);
    let recorded = String::from_utf8_lossy(whole_lines(&left));
    assert!(printed.starts_with(&*recorded), "printed:\n{printed}\nrecorded:\n{recorded}");
    let read = room.seen(&format!("{id}.agent.input")).lines().count();
    let results = recorded.matches(r#""type":"result""#).count();
    assert!(results + 1 >= read, "{read} messages, {results} results on record");
}

#[track_caller]
fn resume(room: &Room, trace: &Trace) {
    let before = trace.events().len();
    let args = ["--supervisor", "-p", "go on", "--max-iterations", "1", "--resume", &trace.id()];
    let done = room.ccc(&args).run().code(3);
    assert!(!done.transcript().contains("Not recorded"), "{}", done.transcript());
    assert!(!trace.check_lines());
    let recording = trace.recording();
    assert!(trace.events().len() > before + 10);
    rerun(&recording);
    if let Some(text) = played(&trace.path(CAST)) {
        assert!(text.contains("go on"), "{text}");
    }
}
