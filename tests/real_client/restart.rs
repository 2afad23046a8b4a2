//! An agent that dies in the middle of its work is started again where it was.

use std::fs;
use std::path::{Path, PathBuf};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::on_each_client;
use crate::script::{begins_review, confirms, is_agents, only, rejects, session_id};
use crate::support::api::{Api, Gate, Request, Rule};
use crate::support::ccc::{Ccc, Finished};
use crate::support::client::CleanRoom;
use crate::support::patience::{PATIENCE, wait_until};
use crate::support::processes::{self, Process};

on_each_client!(
    an_agent_killed_in_the_middle_of_its_work_is_resumed,
    an_agent_killed_before_its_first_answer_gets_the_prompt_again,
    an_agent_killed_over_the_feedback_still_acts_on_it,
);

/// A session whose agent is killed when an answer stands at the gate; and the agent after that.
/// The client writes its transcript a moment later than it acts: `recorded` has to be there.
fn killed_at(gate: &Gate, recorded: &str, client: &Path, api: &Api) -> (Finished, Process) {
    let room = CleanRoom::new();
    let running = Ccc::new(&room).client(client).api(api).supervised("zq-build-it").start();
    gate.wait_reached(PATIENCE);
    wait_recorded(&room, recorded);
    let first = processes::wait_for(running.pid(), Process::is_agent);
    assert!(!first.has_arg("--resume"), "{first:?}");
    kill(Pid::from_raw(first.pid), Signal::SIGKILL).expect("kill the agent");
    let second = processes::wait_for(running.pid(), |process| {
        process.is_agent() && process.pid != first.pid
    });
    (running.finish(), second)
}

fn wait_recorded(room: &CleanRoom, text: &str) {
    let files = |dir: &Path| -> Vec<PathBuf> {
        fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    let projects = room.home().join(".claude/projects");
    wait_until(&format!("{text:?} is in a transcript"), || {
        let transcripts = files(&projects).into_iter().flat_map(|project| files(&project));
        transcripts
            .filter_map(|path| fs::read_to_string(path).ok())
            .any(|lines| lines.contains(text))
    });
}

/// The user's words in a review, and nothing that ccc itself had to say.
fn assert_said(review: &Request) {
    let text = review.recent_text();
    assert!(text.contains("Message 1:\n> zq-build-it\n\n"), "{text}");
    assert!(!text.contains("Message 2:"), "{text}");
}

fn an_agent_killed_in_the_middle_of_its_work_is_resumed(client: &Path) {
    let gate = Gate::new();
    let api = Api::start(vec![
        confirms(),
        Rule::on("zq-build-it").tool("Bash", json!({"command": "echo zq-from-the-tool"})).times(1),
        Rule::on("zq-from-the-tool").gate(&gate).text("never seen").times(1),
        Rule::any().text("zq-built."),
    ]);
    let (done, second) = killed_at(&gate, "\"tool_result\"", client, &api);
    assert_eq!(done.code, Some(0), "{done}");
    let requests = api.requests();
    let agents = only(&requests, is_agents);
    let [before, _, after] = agents.as_slice() else { panic!("{} requests\n{done}", agents.len()) };
    let id = session_id(before);
    assert!(second.has_arg("--resume") && second.has_arg(&id), "{id}: {second:?}");
    assert_eq!(session_id(after), id);
    for text in ["zq-build-it", "echo zq-from-the-tool"] {
        assert!(after.messages_text().contains(text), "{text} is lost");
    }

    let reviews = only(&requests, begins_review);
    let [review] = reviews.as_slice() else { panic!("{} reviews\n{done}", reviews.len()) };
    assert!(review.messages_text().contains("zq-built."));
    assert_said(review);
}

/// There is no conversation yet that could be resumed.
fn an_agent_killed_before_its_first_answer_gets_the_prompt_again(client: &Path) {
    let gate = Gate::new();
    let api = Api::start(vec![
        confirms(),
        Rule::on("zq-build-it").gate(&gate).text("never seen").times(1),
        Rule::on("zq-build-it").text("zq-built."),
    ]);
    let (done, _) = killed_at(&gate, "zq-build-it", client, &api);
    assert_eq!(done.code, Some(0), "{done}");
    let requests = api.requests();
    let reviews = only(&requests, begins_review);
    let [review] = reviews.as_slice() else { panic!("{} reviews\n{done}", reviews.len()) };
    assert!(review.messages_text().contains("zq-built."));
    assert_said(review);
}

fn an_agent_killed_over_the_feedback_still_acts_on_it(client: &Path) {
    let gate = Gate::new();
    let api = Api::start(vec![
        rejects("zq-tests-are-missing").times(1),
        confirms(),
        Rule::on("zq-build-it").text("zq-built."),
        Rule::on("zq-tests-are-missing").gate(&gate).text("never seen").times(1),
        Rule::on("zq-tests-are-missing").text("zq-tested."),
        Rule::any().text("zq-went-on."),
    ]);
    let (done, second) = killed_at(&gate, "feedback:\\nzq-tests-are-missing", client, &api);
    assert_eq!(done.code, Some(0), "{done}");
    let requests = api.requests();
    let agents = only(&requests, is_agents);
    assert!(second.has_arg("--resume"), "{second:?}");
    assert!(agents.iter().all(|request| session_id(request) == session_id(agents[0])), "{done}");

    let reviews = only(&requests, begins_review);
    let [_, review] = reviews.as_slice() else { panic!("{} reviews\n{done}", reviews.len()) };
    for text in ["zq-built.", "zq-tests-are-missing", "zq-tested."] {
        assert!(review.messages_text().contains(text), "{text} is lost\n{done}");
    }
    assert_said(review);
}
