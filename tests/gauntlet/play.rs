//! Plays one session with one judge: the real ccc, in a project of its own, with both clients
//! scripted.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use ccc::fixture::scripted_client::{FromClient, ToClient, write_line};
use ccc::fixture::{Received, ScriptStep, ScriptedClient};
use ccc::gauntlet::agent;
use ccc::gauntlet::session::{Act, GauntletSession};
use serde_json::{Value, json};

use crate::judge::{Cites, Judge, Seen};
use crate::room::Room;

/// What came of one judge.
#[derive(Clone)]
pub struct Played {
    pub review: Review,
    /// It was not believed, and another one judged after it in the same session.
    pub went_on: bool,
    /// What the first judge of the session was told about the work.
    pub told: Arc<str>,
    pub session: Arc<Ended>,
}

/// How a session ended, whoever judged in it.
pub struct Ended {
    pub code: Option<i32>,
    pub report: Value,
    pub rounds: usize,
}

#[derive(Clone, Default)]
pub struct Review {
    /// What the judge answered first.
    pub answered: String,
    /// Why its first answer did not count, if it did not.
    pub doubted: String,
    /// Messages to the judge, questions for its proof included.
    pub asked: usize,
}

impl Played {
    pub fn is_confirmed(&self) -> bool {
        !self.went_on && self.session.report["outcome"] == "completed"
    }

    pub fn is_without_proof(&self) -> bool {
        let rounds = self.session.report["rounds"].as_array();
        let last = rounds.and_then(|rounds| rounds.last());
        !self.went_on && last.is_some_and(|last| last["without_proof"] == true)
    }

    /// Whether this evidence of a lazy judge's was believed: it is not among what does not hold, or it
    /// is all that the judge had to say in the end.
    pub fn is_believed(&self, cites: Cites) -> bool {
        if cites == Cites::File {
            return self.is_confirmed();
        }
        let id = cites.id();
        self.review.answered.contains(&format!("\"id\":\"{id}\""))
            && !self.review.doubted.contains(&format!("\n- {id} ("))
    }

    /// What ccc found out itself, as the first judge was told it.
    pub fn brief(&self) -> String {
        let after = self.told.split_once("# What ccc knows\n").map_or("", |(_, after)| after);
        after.split("\n# ").next().unwrap_or_default().to_owned()
    }
}

/// The project of a session as it is before anybody works on it.
pub fn project(session: &GauntletSession) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    let written = ccc::gauntlet::project::write(session, dir.path());
    written.unwrap_or_else(|why| panic!("{}: {why:#}", session.name));
    dir
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(from, to).expect("a copy");
        }
    }
}

/// What both clients of a run know of it.
struct Play<'a> {
    session: &'a GauntletSession,
    judges: &'a [Judge],
    project: PathBuf,
    state: Mutex<PlayState>,
}

#[derive(Default)]
struct PlayState {
    /// What the user has said so far.
    said: usize,
    ran: Vec<(String, String)>,
    last_words: String,
    told: String,
    /// One for each judge that was asked.
    reviews: Vec<Review>,
}

/// One session, in which the first judge reviews first, the next one after it has been told no, and so on.
/// As many of them come back as were asked; with a red check nobody is, and that is what came of each.
pub fn play(
    room: &Room,
    session: &GauntletSession,
    template: &Path,
    judges: &[Judge],
    proof: &str,
) -> Vec<Played> {
    copy(template, &room.path("project"));
    let checks: Vec<_> = session.checks.iter().map(|check| format!("  - {check:?}\n")).collect();
    let checks =
        if checks.is_empty() { String::new() } else { "checks:\n".to_owned() + &checks.concat() };
    let instructions = format!("---\nproof: {proof}\n{checks}---\nBe strict.\n");
    room.write("home/.claude/SUPERVISOR.md", instructions);
    // What keeps a judge from changing files has a suite of its own.
    // One round for each judge, and of each earlier message of the user's, is enough to see whether it is believed; how it ends is
    // the critic's part, and that of a check that stays red.
    let ends = judges == [Judge::Critic] || !session.checks.is_empty();
    let most = if ends { 10 } else { session.turns().len() - 1 + judges.len() };
    room.config(&json!({"supervisor": {"sandbox": "off", "max_iterations": most}}));
    let socket = room.path("socket");
    let listener = UnixListener::bind(&socket).expect("a socket");
    let ccc = env!("CARGO_BIN_EXE_ccc");
    let client = format!("#!/bin/sh\nexec '{ccc}' scripted-client '{}' \"$@\"\n", socket.display());
    room.client(&client);
    let play = Play { session, judges, project: room.path("project"), state: Mutex::default() };
    let over = AtomicBool::new(false);
    let turns = session.turns();
    let (mut code, mut report) = (None, Value::Null);
    thread::scope(|scope| {
        let (play, over) = (&play, &over);
        scope.spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                scope.spawn(move || serve(client, play));
            }
        });
        let _ends = Ends { over, socket: &socket };
        for (at, (said, _)) in turns.iter().enumerate() {
            play.state().said = at;
            let id = report["session_id"].as_str().unwrap_or_default().to_owned();
            let mut args =
                vec!["--supervisor", "--trust-checks", "--output-format", "json", "-p", said];
            if at > 0 {
                args.extend(["--resume", id.as_str()]);
            }
            let done = room.ccc(&args).run();
            code = done.status().code();
            report = serde_json::from_str(&done.out())
                .unwrap_or_else(|why| panic!("{}: {why}: {}", session.name, done.err()));
        }
    });
    let PlayState { told, reviews, .. } = play.state.into_inner().expect("nobody has panicked");
    let rounds = report["rounds"].as_array().map_or(0, Vec::len);
    let (told, ended) = (told.into(), Arc::new(Ended { code, report, rounds }));
    let of = |went_on, review| Played {
        review,
        went_on,
        told: Arc::clone(&told),
        session: Arc::clone(&ended),
    };
    if reviews.is_empty() {
        return vec![of(false, Review::default()); judges.len()];
    }
    let last = reviews.len() - 1;
    reviews.into_iter().enumerate().map(|(at, review)| of(at < last, review)).collect()
}

/// Ends the thread that waits for clients, also when the play fails.
struct Ends<'a> {
    over: &'a AtomicBool,
    socket: &'a Path,
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        drop(UnixStream::connect(self.socket));
    }
}

impl Play<'_> {
    fn state(&self) -> std::sync::MutexGuard<'_, PlayState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The judge whose turn it is; the last one judges for as long as it goes on.
    fn next_judge(&self) -> usize {
        let mut state = self.state();
        if state.reviews.len() < self.judges.len() {
            state.reviews.push(Review::default());
        }
        state.reviews.len() - 1
    }

    /// No other message of the user's is to come.
    fn is_last_turn(&self) -> bool {
        self.state().said + 1 == self.session.turns().len()
    }
}

/// One client, from its start to its end.
fn serve(socket: UnixStream, play: &Play<'_>) {
    let mut tell = socket.try_clone().expect("a socket");
    let mut args = Vec::new();
    let mut client = ScriptedClient::new("");
    let mut judge = None;
    for line in BufReader::new(socket).lines().map_while(Result::ok) {
        let line = match serde_json::from_str(&line).expect("a line of the scripted client") {
            FromClient::Started(started) => {
                args = started;
                let id = args.iter().position(|arg| arg == "--session-id" || arg == "--resume");
                let id = id.and_then(|at| args.get(at + 1)).expect("a session").clone();
                client = ScriptedClient::new(&id);
                continue;
            }
            FromClient::Line(line) => line,
        };
        let Some(Received::Message { uuid, text }) = Received::parse(&line) else { continue };
        let mut print = |lines: Vec<Value>| {
            for line in lines {
                // A client that is ended reads no more.
                let _ = write_line(&mut tell, &ToClient::Print(line.to_string()));
            }
        };
        if args.iter().any(|arg| arg == "--fork-session") {
            // Only the last message of the user's is judged; until then the agent waits for it.
            if play.is_last_turn() {
                let at = *judge.get_or_insert_with(|| play.next_judge());
                review(play, at, &text, &mut client, &mut print);
            } else {
                print(waits_for_the_user(&mut client));
            }
        } else {
            print(client.takes(&uuid, &text, true));
            agent(play, &text, &mut client, &mut print);
        }
    }
}

fn agent(
    play: &Play<'_>,
    text: &str,
    client: &mut ScriptedClient,
    print: &mut dyn FnMut(Vec<Value>),
) {
    let turns = play.session.turns();
    let (said, acts) = turns[play.state().said];
    // Whatever a supervisor wants: there is nothing more to come.
    if text != said {
        let again = format!("As I said: {}", play.session.last_words());
        play.state().last_words.clone_from(&again);
        return print(client.prints(&ScriptStep::AgentDone(again)).expect("a line"));
    }
    for act in acts {
        let step = match act {
            Act::Says { says } => {
                play.state().last_words.clone_from(says);
                ScriptStep::AgentDone(says.clone())
            }
            act => {
                let run = agent::act(act, &play.project).expect("it works").expect("a tool");
                if let Some(command) = run.input["command"].as_str() {
                    play.state().ran.push((command.to_owned(), run.output.clone()));
                }
                ScriptStep::AgentRuns(run)
            }
        };
        print(client.prints(&step).expect("a line"));
    }
}

fn waits_for_the_user(client: &mut ScriptedClient) -> Vec<Value> {
    let wait = json!({"completed": false, "status": "blocked", "feedback": "What else?"});
    client.prints(&ScriptStep::SupervisorDone(wait.to_string())).expect("a line")
}

fn review(
    play: &Play<'_>,
    at: usize,
    text: &str,
    client: &mut ScriptedClient,
    print: &mut dyn FnMut(Vec<Value>),
) {
    let judge = play.judges[at];
    if play.state().told.is_empty() {
        text.clone_into(&mut play.state().told);
    }
    let word = text.split("The word of this review is \"").nth(1);
    let word = word.and_then(|rest| rest.split('"').next()).unwrap_or_default();
    if judge == Judge::Honest {
        for command in &play.session.judge_runs {
            let run = agent::shell(command, &play.project).expect("a shell");
            print(client.prints(&ScriptStep::SupervisorRuns(run)).expect("a line"));
        }
    }
    let mut state = play.state();
    let state = &mut *state;
    let review = &mut state.reviews[at];
    if review.asked == 1 {
        text.clone_into(&mut review.doubted);
    }
    let answer = judge.answer(&Seen {
        session: play.session,
        answers: review.asked,
        word,
        last_words: &state.last_words,
        ran: &state.ran,
    });
    if review.asked == 0 {
        review.answered.clone_from(&answer);
    }
    review.asked += 1;
    print(client.prints(&ScriptStep::SupervisorDone(answer)).expect("a line"));
}
