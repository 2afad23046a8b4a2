//! What the supervisor is: a fork of the agent's conversation that knows its instructions and the
//! user's words, sees everything, and can change nothing.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::script::{
    begins_review, confirms, count, is_agents, is_review, judged, only, session_id,
};
use crate::support::api::{Api, Request, Rule};
use crate::support::ccc::{Ccc, INSTRUCTIONS};
use crate::support::client::CleanRoom;
use crate::{on_each_client, on_the_newest_client, on_the_release_between};

on_each_client!(
    the_review_is_a_fork_with_the_instructions_and_the_users_words,
    the_supervisor_has_the_agents_tools_and_cannot_write_with_them,
    only_the_last_words_count_and_are_asked_for_once_more,
    with_a_schema_the_supervisor_has_no_tools_to_edit_with,
    the_supervisor_sees_the_directories_of_the_agent,
);
on_the_release_between!(
    the_review_is_a_fork_with_the_instructions_and_the_users_words,
    the_supervisor_has_the_agents_tools_and_cannot_write_with_them,
);
// The environment that ccc starts a client with is the same for all.
on_the_newest_client!(the_supervisor_knows_what_it_is_and_belongs_to_no_session);

fn the_review_is_a_fork_with_the_instructions_and_the_users_words(client: &Path) {
    let room = CleanRoom::new();
    let api = Api::start(vec![
        confirms(),
        Rule::on("zq-build-it").tool("Bash", json!({"command": "echo zq-from-the-tool"})).times(1),
        Rule::on("zq-from-the-tool").text("zq-built."),
    ]);
    let prompt = "zq-build-it\n# zq-second-line";
    let done = Ccc::new(&room).client(client).api(&api).supervised(prompt).run();
    assert_eq!(done.code, Some(0), "{done}");

    let requests = api.requests();
    let reviews = only(&requests, begins_review);
    let [review] = reviews.as_slice() else { panic!("{} reviews\n{done}", reviews.len()) };
    let asked = review.recent_text();
    assert!(asked.contains(INSTRUCTIONS), "{asked}");
    assert!(asked.contains("\n> zq-build-it\n> # zq-second-line\n"), "{asked}");
    assert!(asked.contains("\n> zq-built.\n"), "{asked}");

    let agents = only(&requests, is_agents);
    let last = agents.last().expect("a request of the agent");
    let (seen, judged) = (spoken(last), spoken(review));
    assert!(judged.starts_with(&seen), "{seen:#?} is not the beginning of {judged:#?}");
    assert!(review.messages_text().contains("zq-built."));
    assert_ne!(session_id(review), session_id(last));
    assert_eq!(review.model(), last.model());

    // It leaves nothing that could be taken for the work later.
    let projects = fs::read_dir(room.home().join(".claude/projects")).expect("a directory");
    let files = projects
        .flat_map(|project| fs::read_dir(project.expect("an entry").path()).expect("a project"));
    let conversations: Vec<_> = files
        .map(|file| file.expect("an entry").path())
        .filter(|file| file.extension().is_some_and(|kind| kind == "jsonl"))
        .collect();
    let [conversation] = conversations.as_slice() else { panic!("{conversations:?}") };
    assert!(conversation.to_string_lossy().contains(&session_id(last)));
}

/// What the user and the agent said and did. The client writes the same content as a text or as a
/// list of blocks, and marks some for its cache.
fn spoken(request: &Request) -> Vec<Value> {
    let messages = request.body["messages"].as_array().into_iter().flatten();
    let spoken = messages.filter(|message| message["role"] != "system");
    spoken
        .flat_map(|message| match &message["content"] {
            Value::Array(blocks) => blocks.clone(),
            text => vec![json!({"type": "text", "text": text})],
        })
        .map(|mut block| {
            if let Some(block) = block.as_object_mut() {
                block.remove("cache_control");
            }
            block
        })
        .collect()
}

/// An early marker is nobody's verdict; the one that is asked for comes in the same conversation.
fn only_the_last_words_count_and_are_asked_for_once_more(client: &Path) {
    let room = CleanRoom::new();
    let api = Api::start(vec![
        Rule::any()
            .when(begins_review)
            .text("All is there.\n[TASK_COMPLETED]\nOne last look:")
            .tool("Bash", json!({"command": "echo zq-last-look"})),
        Rule::any()
            .when(|request| request.messages_text().contains("cannot be used as a verdict"))
            .text("{\"completed\": true, \"feedback\": \"zq-confirmed\"}"),
        Rule::any().when(is_review).text("Nothing to add."),
        Rule::on("zq-build-it").text("zq-built."),
    ]);
    let done = Ccc::new(&room)
        .client(client)
        .api(&api)
        .config(&json!({"supervisor": {"allowed_tools": ["Bash"]}}))
        .supervised("zq-build-it")
        .args(["--output-format", "json"])
        .run();
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!(done.json()["rounds"][0]["feedback"], "zq-confirmed", "{done}");
    let requests = api.requests();
    assert_eq!(only(&requests, begins_review).len(), 1);
    let reviews = only(&requests, is_review);
    assert!(reviews.iter().all(|one| session_id(one) == session_id(reviews[0])), "{done}");
}

/// A session whose supervisor tries to write a file, and is allowed to by the user's own rules.
fn tries_to_write(client: &Path, form: &str) -> Vec<Request> {
    let room = CleanRoom::new();
    let path = room.project().join("written-by-the-supervisor");
    let shell = format!("echo zq-changed > '{}'", path.display());
    let api = Api::start(vec![
        Rule::any()
            .when(begins_review)
            .tool("Write", json!({"file_path": path, "content": "zq-changed"}))
            .tool("Bash", json!({"command": shell})),
        judged(Rule::any().when(is_review), true, ""),
        Rule::on("zq-build-it").text("zq-built."),
    ]);
    let rules = json!({"permissions": {"allow": ["Write", "Bash"]}});
    fs::write(room.home().join(".claude/settings.json"), rules.to_string()).expect("settings");
    let done = Ccc::new(&room)
        .client(client)
        .api(&api)
        .config(&json!({"supervisor": {"allowed_tools": ["Write", "Bash"], "review": form}}))
        .supervised("zq-build-it")
        .run();
    assert_eq!(done.code, Some(0), "{done}");
    assert!(count(&api.requests(), is_review) > 1, "the supervisor did not go on\n{done}");
    assert!(!path.exists(), "the supervisor wrote a file\n{done}");
    api.requests()
}

fn the_supervisor_has_the_agents_tools_and_cannot_write_with_them(client: &Path) {
    let requests = tries_to_write(client, "cached");
    let agents = only(&requests, is_agents);
    for request in only(&requests, is_review) {
        assert_eq!(request.tool_names(), agents[0].tool_names());
        assert!(request.tool_names().contains(&"Write"));
    }
}

fn with_a_schema_the_supervisor_has_no_tools_to_edit_with(client: &Path) {
    let requests = tries_to_write(client, "schema");
    for request in only(&requests, is_review) {
        let tools = request.tool_names();
        assert!(tools.contains(&"StructuredOutput") && tools.contains(&"Bash"), "{tools:?}");
        let editing = ["Edit", "Write", "NotebookEdit"];
        assert!(!editing.iter().any(|tool| tools.contains(tool)), "{tools:?}");
    }
    // Otherwise the test would hold for a client that has no such tools at all.
    let agents = only(&requests, is_agents);
    let tools = agents[0].tool_names();
    assert!(tools.contains(&"Edit") && tools.contains(&"Write"), "{tools:?}");
}

fn the_supervisor_sees_the_directories_of_the_agent(client: &Path) {
    let room = CleanRoom::new();
    let beside = room.home().join("lib");
    fs::create_dir(&beside).expect("a directory");
    fs::write(beside.join("note.txt"), "zq-beside-the-project\n").expect("a file");
    let command = format!("echo zq-written > {0}/new; cat {0}/new", beside.display());
    let api = Api::start(vec![
        Rule::any()
            .when(begins_review)
            .tool("Read", json!({"file_path": beside.join("note.txt")}))
            .tool("Bash", json!({"command": command})),
        judged(Rule::any().when(is_review), true, ""),
        Rule::on("zq-build-it").text("zq-built."),
    ]);
    let ccc = Ccc::new(&room).client(client).api(&api).supervised("zq-build-it");
    let done = ccc.arg("--add-dir").arg(&beside).args(["--output-format", "json"]).run();
    assert_eq!(done.code, Some(0), "{done}");
    let requests = api.requests();
    let saw = only(&requests, is_review).last().expect("a review").messages_text();
    assert!(saw.contains("zq-beside-the-project"), "{saw}");
    // They are covered like the project: what is written there is seen, and does not stay.
    if done.json()["rounds"][0]["case"] == "overlay" {
        assert!(saw.contains("zq-written"), "{saw}");
    }
    assert!(!beside.join("new").exists(), "{done}");
}

fn the_supervisor_knows_what_it_is_and_belongs_to_no_session(client: &Path) {
    let room = CleanRoom::new();
    let command = "tr '\\0' '\\n' < /proc/$PPID/environ";
    let api = Api::start(vec![
        Rule::any().when(begins_review).tool("Bash", json!({"command": command})),
        judged(Rule::any().when(is_review), true, ""),
        Rule::on("zq-build-it").text("zq-built."),
    ]);
    let done = Ccc::new(&room)
        .client(client)
        .api(&api)
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_ENTRYPOINT", "cli")
        .config(&json!({"supervisor": {"allowed_tools": ["Bash"]}}))
        .supervised("zq-build-it")
        .run();
    assert_eq!(done.code, Some(0), "{done}");

    let requests = api.requests();
    let reviews = only(&requests, is_review);
    let environment = reviews.last().expect("a review").recent_text();
    let has = |start: &str| environment.lines().any(|line| line.starts_with(start));
    assert!(has("CCC_SUPERVISOR_HOOK=1"), "{environment}");
    assert!(!has("CLAUDECODE="), "{environment}");
    assert!(!has("CLAUDE_CODE_ENTRYPOINT="), "{environment}");
}
