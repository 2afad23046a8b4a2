//! What the supervisor is: a fork of the agent's conversation that knows its instructions and the
//! user's words, sees everything, and can change nothing.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::on_each_client;
use crate::script::{begins_review, confirms, is_agents, is_review, only, session_id};
use crate::support::api::{Api, Request, Rule};
use crate::support::ccc::{Ccc, INSTRUCTIONS};
use crate::support::client::CleanRoom;

on_each_client!(
    the_review_is_a_fork_with_the_instructions_and_the_users_words,
    an_early_marker_is_seen,
    the_supervisor_has_no_tools_to_edit_with,
    the_supervisor_sees_the_directories_of_the_agent,
    the_supervisor_knows_what_it_is_and_belongs_to_no_session,
);

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

fn an_early_marker_is_seen(client: &Path) {
    let room = CleanRoom::new();
    let api = Api::start(vec![
        Rule::any()
            .when(begins_review)
            .text("All is there.\n[TASK_COMPLETED]\nOne last look:")
            .tool("Bash", json!({"command": "echo zq-last-look"})),
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
    assert_eq!(done.json()["rounds"][0]["completed"], true, "{done}");
    assert_eq!(only(&api.requests(), begins_review).len(), 1);
    let looked = api.requests().iter().any(|request| {
        is_review(request) && !begins_review(request) && request.recent_text().contains("zq-last")
    });
    assert!(looked, "the supervisor did not go on after its marker\n{done}");
}

fn the_supervisor_has_no_tools_to_edit_with(client: &Path) {
    let room = CleanRoom::new();
    let path = room.project().join("written-by-the-supervisor");
    let api = Api::start(vec![
        Rule::any()
            .when(begins_review)
            .tool("Write", json!({"file_path": path, "content": "zq-changed"})),
        Rule::any()
            .when(is_review)
            .tool("StructuredOutput", json!({"completed": true, "feedback": ""})),
        Rule::on("zq-build-it").text("zq-built."),
    ]);
    let done = Ccc::new(&room)
        .client(client)
        .api(&api)
        .config(&json!({"supervisor": {"allowed_tools": ["Write"]}}))
        .supervised("zq-build-it")
        .run();
    assert_eq!(done.code, Some(0), "{done}");

    let requests = api.requests();
    let reviews = only(&requests, is_review);
    assert!(reviews.len() > 1, "the supervisor did not go on\n{done}");
    for request in reviews {
        let tools = request.tool_names();
        assert!(tools.contains(&"StructuredOutput") && tools.contains(&"Bash"), "{tools:?}");
        let editing = ["Edit", "Write", "NotebookEdit"];
        assert!(!editing.iter().any(|tool| tools.contains(tool)), "{tools:?}");
    }
    assert!(!path.exists(), "the supervisor wrote a file\n{done}");
    // Otherwise the test would hold for a client that has no such tools at all.
    let agents = only(&requests, is_agents);
    let tools = agents[0].tool_names();
    assert!(tools.contains(&"Edit") && tools.contains(&"Write"), "{tools:?}");
}

fn the_supervisor_sees_the_directories_of_the_agent(client: &Path) {
    let seen = |added: bool| {
        let room = CleanRoom::new();
        let beside = room.home().join("lib");
        fs::create_dir(&beside).expect("a directory");
        fs::write(beside.join("note.txt"), "zq-beside-the-project\n").expect("a file");
        let api = Api::start(vec![
            Rule::any()
                .when(begins_review)
                .tool("Read", json!({"file_path": beside.join("note.txt")})),
            Rule::any()
                .when(is_review)
                .tool("StructuredOutput", json!({"completed": true, "feedback": ""})),
            Rule::on("zq-build-it").text("zq-built."),
        ]);
        let ccc = Ccc::new(&room).client(client).api(&api).supervised("zq-build-it");
        let ccc = if added { ccc.arg("--add-dir").arg(&beside) } else { ccc };
        let done = ccc.run();
        assert_eq!(done.code, Some(0), "{done}");
        only(&api.requests(), is_review)
            .iter()
            .any(|request| request.messages_text().contains("zq-beside-the-project"))
    };
    assert!(seen(true));
    // Otherwise the test would hold for a client that lets everybody read everything.
    assert!(!seen(false));
}

fn the_supervisor_knows_what_it_is_and_belongs_to_no_session(client: &Path) {
    let room = CleanRoom::new();
    let seen = room.project().join("supervisor.env");
    let command = format!("tr '\\0' '\\n' < /proc/$PPID/environ > '{}'", seen.display());
    let api = Api::start(vec![
        Rule::any().when(begins_review).tool("Bash", json!({"command": command})),
        Rule::any()
            .when(is_review)
            .tool("StructuredOutput", json!({"completed": true, "feedback": ""})),
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

    let environment = fs::read_to_string(&seen).unwrap_or_else(|error| panic!("{error}\n{done}"));
    let has = |start: &str| environment.lines().any(|line| line.starts_with(start));
    assert!(has("CCC_SUPERVISOR_HOOK=1"), "{environment}");
    assert!(!has("CLAUDECODE="), "{environment}");
    assert!(!has("CLAUDE_CODE_ENTRYPOINT="), "{environment}");
}
