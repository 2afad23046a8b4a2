//! The glass case on the real client: whatever the judge tries, no file of the project changes; its
//! tests run, and what they write vanishes.

use std::fs;
use std::path::{Path, PathBuf};

use ccc::tree::Snapshot;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::script::{begins_review, is_agents, is_review, judged, only};
use crate::support::api::{Api, Gate, Request, Rule};
use crate::support::ccc::{Ccc, INSTRUCTIONS};
use crate::support::client::CleanRoom;
use crate::support::patience::PATIENCE;
use crate::support::processes::{descendants, wait_for, wait_gone};
use crate::{on_each_client, on_the_newest_client, on_the_release_between};

on_each_client!(
    whatever_the_judge_tries_no_file_changes,
    where_no_namespace_can_be_had_the_project_is_read_only,
    without_a_case_the_rules_hold_and_say_what_was_denied,
);
on_the_release_between!(whatever_the_judge_tries_no_file_changes);
// The case, its end and what is said without one: the client has no part in them.
on_the_newest_client!(
    tests_run_without_a_person_and_leave_nothing,
    a_killed_review_leaves_nothing,
    a_required_case_that_cannot_be_had_ends_the_review,
);

fn project(room: &CleanRoom) -> PathBuf {
    let project = room.project();
    fs::create_dir(project.join("dir")).expect("a directory");
    for file in ["file", "dir/deep"] {
        fs::write(project.join(file), "real\n").expect("a file");
    }
    project
}

/// A judge that does one after the other, and then confirms.
fn judge(mut tools: Vec<(&'static str, Value)>) -> Vec<Rule> {
    let last = judged(Rule::any().when(is_review), true, "");
    let first = tools.remove(0);
    let mut rules = vec![Rule::any().when(begins_review).tool(first.0, first.1).times(1)];
    rules.extend(
        tools
            .into_iter()
            .map(|(tool, input)| Rule::any().when(is_review).tool(tool, input).times(1)),
    );
    rules.push(last);
    rules.push(Rule::any().when(is_agents).text("zq-built."));
    rules
}

fn bash(command: &str) -> (&'static str, Value) {
    ("Bash", json!({"command": command, "description": "zq"}))
}

fn attempts(project: &Path) -> Vec<(&'static str, Value)> {
    let file = project.join("file");
    vec![
        ("Read", json!({"file_path": file})),
        ("Edit", json!({"file_path": file, "old_string": "real", "new_string": "forged"})),
        ("Write", json!({"file_path": project.join("written"), "content": "x"})),
        bash("echo x > by-redirect; echo x >> file"),
        bash("touch by-touch; rm -r dir; sed -i s/real/forged/ file"),
        bash("python3 -c 'open(\"by-python\",\"w\").write(\"x\")' || true"),
        bash("ls; cat file"),
    ]
}

/// The user allows everything, in their own settings and on the command line.
fn allow_all(room: &CleanRoom) {
    let settings = json!({"permissions": {
        "allow": ["Bash", "Edit", "Write", "NotebookEdit", "Read"],
        "defaultMode": "bypassPermissions",
    }});
    fs::write(room.home().join(".claude/settings.json"), settings.to_string()).expect("settings");
}

/// What keeps the judge from changing the project on this machine.
fn held(done: &Value) -> String {
    let held = done["rounds"][0]["case"].as_str().unwrap_or_default().to_owned();
    if held != "overlay" {
        eprintln!("no overlay on this machine, but {held}");
    }
    held
}

fn whatever_the_judge_tries_no_file_changes(client: &Path) {
    let room = CleanRoom::new();
    allow_all(&room);
    let project = project(&room);
    let mut tools = attempts(&project);
    // A sub-agent is asked about its tools like the judge itself.
    let prompt = "zq-sub-agent: write the file";
    let sub = json!({"description": "zq", "prompt": prompt, "subagent_type": "general-purpose"});
    tools.insert(3, ("Task", sub));
    let mut rules = vec![
        Rule::any()
            .when(|request| {
                request.prompts().iter().any(|text| text.contains("zq-sub-agent: write"))
            })
            .when(|request| !is_review(request))
            .tool("Write", json!({"file_path": project.join("by-sub-agent"), "content": "x"}))
            .times(1),
    ];
    rules.extend(judge(tools));
    let api = Api::start(rules);
    let ccc = Ccc::new(&room).client(client).api(&api).supervised("zq-build-it");
    let before = Snapshot::take(&project, None);
    let done =
        ccc.args(["--permission-mode", "bypassPermissions", "--output-format", "json"]).run();
    let told = done.json();
    let changes: Vec<_> = before
        .changes(&Snapshot::take(&project, None))
        .into_iter()
        .filter(|change| !change.path.starts_with(".claude"))
        .collect();
    assert_eq!(changes, [], "{done}");
    assert_eq!(told["rounds"][0]["completed"], true, "{done}");
    let denied: Vec<_> = told["rounds"][0]["denied"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|denied| denied["tool"].as_str().unwrap_or_default())
        .collect();
    assert!(denied.contains(&"Edit") && denied.contains(&"Write"), "{denied:?}\n{done}");
    let by_sub_agent = project.join("by-sub-agent").display().to_string();
    let whats = told["rounds"][0]["denied"].as_array().into_iter().flatten();
    assert!(whats.clone().any(|denied| denied["what"] == by_sub_agent.as_str()), "{done}");
    if held(&told) == "overlay" {
        // It all happened, in there.
        let requests = api.requests();
        let reviews = only(&requests, is_review);
        let last = reviews.last().expect("a review").messages_text();
        for made in ["by-redirect", "by-touch", "forged"] {
            assert!(last.contains(made), "{made}\n{last}");
        }
    }
}

/// A machine without namespaces, made by using them up.
const NO_NAMESPACES: &str = "echo 0 > /proc/sys/user/max_user_namespaces && \
    echo 0 > /proc/sys/user/max_mnt_namespaces && exec \"$@\"";

fn where_no_namespace_can_be_had_the_project_is_read_only(client: &Path) {
    let room = CleanRoom::new();
    let project = project(&room);
    let mut tools = attempts(&project);
    tools.push(bash("echo zq-temporary > $TMPDIR/x && cat $TMPDIR/x"));
    let api = Api::start(judge(tools));
    fs::write(project.join("SUPERVISOR.md"), INSTRUCTIONS).expect("SUPERVISOR.md");
    if !can_be_used_up(&room, &api) {
        eprintln!("skipped: namespaces cannot be used up on this machine");
        return;
    }
    let mut command = room.command(Path::new("unshare"), &api.url());
    command.args(["-r", "sh", "-c", NO_NAMESPACES, "sh"]);
    command.arg(env!("CARGO_BIN_EXE_ccc")).env("CCC_CLAUDE", client);
    command.args(["--supervisor", "-p", "zq-build-it", "--output-format", "json"]);
    let before = Snapshot::take(&project, None);
    let output = command.output().expect("ccc");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let told: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(told["rounds"][0]["case"], "landlock", "{text}");
    assert_eq!(told["rounds"][0]["completed"], true, "{text}");
    let changes: Vec<_> = before
        .changes(&Snapshot::take(&project, None))
        .into_iter()
        .filter(|change| !change.path.starts_with(".claude"))
        .collect();
    assert_eq!(changes, [], "{text}");
    let requests = api.requests();
    let saw = only(&requests, is_review).last().expect("a review").messages_text();
    assert!(saw.contains("Permission denied") && saw.contains("zq-temporary"), "{saw}");
}

fn can_be_used_up(room: &CleanRoom, api: &Api) -> bool {
    let mut command = room.command(Path::new("unshare"), &api.url());
    command.args(["-r", "sh", "-c", NO_NAMESPACES, "sh", "true"]);
    command.output().is_ok_and(|done| done.status.success())
}

fn without_a_case_the_rules_hold_and_say_what_was_denied(client: &Path) {
    let room = CleanRoom::new();
    allow_all(&room);
    let project = project(&room);
    let mut tools = attempts(&project);
    tools.push(bash("git push"));
    let api = Api::start(judge(tools));
    let ccc = Ccc::new(&room).client(client).api(&api).supervised("zq-build-it");
    let ccc = ccc.config(&json!({"supervisor": {"sandbox": "off"}}));
    let before = Snapshot::take(&project, None);
    let done = ccc.args(["--output-format", "json"]).run();
    let told = done.json();
    let changes: Vec<_> = before
        .changes(&Snapshot::take(&project, None))
        .into_iter()
        .filter(|change| !change.path.starts_with(".claude"))
        .collect();
    assert_eq!(changes, [], "{done}");
    let denied = told["rounds"][0]["denied"].as_array().expect("a list").clone();
    let what = |name: &str| denied.iter().any(|denied| denied["what"].as_str() == Some(name));
    assert!(what("git push"), "{done}");
    assert!(!what("ls; cat file"), "reading is allowed\n{done}");
    let reason =
        denied.iter().find(|denied| denied["what"] == "echo x > by-redirect; echo x >> file");
    let reason = reason.map(|denied| denied["reason"].to_string()).unwrap_or_default();
    assert!(reason.contains("There is no one to ask for permission"), "{done}");
}

/// The README's own example: the agent edits, the supervisor really runs the tests, and confirms because
/// they pass.
fn tests_run_without_a_person_and_leave_nothing(client: &Path) {
    let room = CleanRoom::new();
    let project = project(&room);
    let test =
        "mkdir -p .cache && echo cached > .cache/x && grep -q mended file && echo zq-1-passed";
    fs::write(project.join("run-tests.sh"), test).expect("a test");
    let (_, run) = bash("sh run-tests.sh");
    let file = project.join("file");
    let edit = json!({"file_path": file, "old_string": "real", "new_string": "mended"});
    let is_green = |request: &Request| request.recent_text().contains("zq-1-passed");
    let api = Api::start(vec![
        Rule::any().when(begins_review).tool("Bash", run),
        judged(Rule::any().when(is_review).when(is_green), true, ""),
        judged(Rule::any().when(is_review), false, "zq-the-tests-did-not-pass"),
        Rule::on("fix the failing test").tool("Read", json!({"file_path": file})).times(1),
        Rule::any().when(is_agents).tool("Edit", edit).times(1),
        Rule::any().when(is_agents).text("zq-mended."),
    ]);
    let done = Ccc::new(&room)
        .client(client)
        .api(&api)
        .supervised("fix the failing test")
        .args(["--permission-mode", "acceptEdits", "--output-format", "json"])
        .run();
    let told = done.json();
    assert!(!project.join(".cache").exists(), "{done}");
    assert_eq!(fs::read_to_string(&file).expect("the file"), "mended\n", "{done}");
    if held(&told) == "overlay" {
        assert_eq!((done.code, &told["rounds"][0]["completed"]), (Some(0), &json!(true)), "{done}");
        assert!(told["rounds"][0].get("denied").is_none(), "{done}");
    }
}

#[cfg(target_os = "linux")]
fn a_killed_review_leaves_nothing(client: &Path) {
    let room = CleanRoom::new();
    let project = project(&room);
    let gate = Gate::new();
    let mut rules = vec![
        Rule::any()
            .when(begins_review)
            .tool("Bash", json!({"command": "echo x > new; sleep 600", "description": "zq"})),
    ];
    rules.push(Rule::any().when(is_agents).text("zq-built."));
    rules.push(Rule::any().gate(&gate).text("never"));
    let api = Api::start(rules);
    let mounts = || fs::read_to_string("/proc/self/mountinfo").expect("the mounts");
    let before = mounts();
    let ccc = Ccc::new(&room).client(client).api(&api).supervised("zq-build-it").start();
    wait_for(ccc.pid(), |process| process.args.first().is_some_and(|name| name == "sleep"));
    let all = descendants(ccc.pid());
    kill(Pid::from_raw(ccc.pid()), Signal::SIGKILL).expect("a signal");
    wait_gone(&all, PATIENCE);
    assert_eq!(mounts(), before);
    assert!(!project.join("new").exists());
}

#[cfg(not(target_os = "linux"))]
fn a_killed_review_leaves_nothing(_client: &Path) {}

fn a_required_case_that_cannot_be_had_ends_the_review(client: &Path) {
    let room = CleanRoom::new();
    let api = Api::start(judge(vec![bash("true")]));
    // The client's own directory is the one place that no case can cover.
    let config = json!({"supervisor": {"sandbox": "required"}});
    let ccc = Ccc::new(&room).client(client).api(&api).supervised("zq-build-it").config(&config);
    let ccc = ccc.env("CLAUDE_CONFIG_DIR", room.project().to_str().expect("a path in UTF-8"));
    fs::write(room.project().join("ccc.json"), config.to_string()).expect("ccc.json");
    fs::copy(room.home().join(".claude.json"), room.project().join(".claude.json"))
        .expect("a copy");
    let done = ccc.args(["--output-format", "json"]).run();
    assert_eq!(done.code, Some(4), "{done}");
    let told = done.json();
    assert!(told["detail"].to_string().contains("this machine has no glass case"), "{done}");
    assert_eq!(only(&api.requests(), is_review).len(), 0, "{done}");
}
