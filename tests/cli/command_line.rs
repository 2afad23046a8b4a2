//! What is typed, and what the client gets of it.

use std::path::Path;

use serde_json::{Value, json};

use crate::room::{Room, verdict};

const AGENT: &str =
    "--print\n--output-format\nstream-json\n--input-format\nstream-json\n--verbose\n";

#[test]
fn a_prompt_is_worked_on_reviewed_and_confirmed() {
    let room = Room::supervised();
    let done = room.ccc(&["--supervisor", "-p", "do it"]).run().code(0);
    let out = done.transcript();
    for part in ["Supervisor mode enabled", "do it", "all done here", "Confirmed complete"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    // `> answer.txt` is the answer.
    assert_eq!(done.out(), "all done here\n");
    let args = room.seen("agent-0.args");
    assert!(args.starts_with(AGENT) && args.contains("\n--permission-mode\ndefault\n"), "{args}");
    assert!(room.seen("agent-0.input").contains(r#""content":"do it""#));
    let review = room.seen("supervisor-0.input");
    for part in ["BE STRICT", "> do it", "> all done here", "[TASK_COMPLETED]"] {
        assert!(review.contains(part), "{part}: {review}");
    }
    let args = room.seen("supervisor-0.args");
    for part in ["--fork-session\n--resume\n", "--model\nfake\n"] {
        assert!(args.contains(part), "{part}: {args}");
    }
}

#[test]
fn at_the_limit_the_way_to_go_on_is_printed() {
    let room = Room::supervised();
    room.supervisor_prints_in(0, &verdict(false, "zq-not-yet"));
    let args = ["--supervisor", "--max-iterations", "1", "-p", "do it"];
    let told = room.ccc(&args).run().code(3).transcript();
    assert!(told.contains("Stopped after 1 review without confirmation."), "{told}");
    let (_, way) = told.split_once("To continue").expect("a way to go on");
    assert!(
        way.contains("ccc --supervisor --resume ") && way.contains("--max-iterations"),
        "{way}"
    );
}

/// Nobody has to listen to what is told beside the answer.
#[test]
fn a_closed_standard_error_costs_nothing_but_the_transcript() {
    for redirect in ["2>&-", "2>/dev/full", "2>&1 >answer | true; cat answer"] {
        let room = Room::supervised();
        let script = format!("\"$0\" --supervisor -p 'do it' {redirect}");
        let run = room.run_program(Path::new("/bin/sh")).args(&["-c", &script]);
        let done = run.args(&[env!("CARGO_BIN_EXE_ccc")]).run().code(0);
        assert_eq!(done.out(), "all done here\n", "{redirect}: {}", done.err());
    }
}

#[test]
fn what_the_agent_was_denied_is_in_the_object() {
    let room = Room::supervised();
    let ask = r#"echo '{"type":"control_request","request_id":"zq-r","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"make"}}}'
    read -r answer"#;
    let line = r#"    echo "{\"type\":\"assistant\""#;
    let script = crate::room::CLIENT.replace(line, &format!("    {ask}\n{line}"));
    assert_ne!(script, crate::room::CLIENT);
    room.client(&script);
    let args = ["--supervisor", "-p", "do it", "--output-format", "json"];
    let report: Value = serde_json::from_str(&room.ccc(&args).run().code(0).out()).expect("JSON");
    assert_eq!(report["denials"][0]["tool"], "Bash", "{report}");
    assert_eq!(report["denials"][0]["what"], "make");
    let reason = "no one to ask (--allowedTools or --permission-mode would allow it)";
    assert_eq!(report["denials"][0]["reason"], reason);
    let told = room.ccc(&["--supervisor", "-p", "do it"]).run().code(0).transcript();
    assert!(told.contains("denied Bash: no one to ask"), "{told}");
}

/// Scenario 002 «Supervisor Mode 传递参数»
#[test]
fn scenario_002_arguments_reach_the_client_untouched() {
    let room = Room::supervised();
    room.write("home/.claude/ccc.json", r#"{"providers":{"kimi":{"env":{"A":"1"}}}}"#);
    room.client("#!/bin/sh\nprintf '%s\\n' \"$@\" >\"$ROOM/args\"\necho Usage: claude\n");
    let done = room.ccc(&["--supervisor", "kimi", "/path/to/project", "--help"]).run().code(0);
    assert!(room.seen("args").ends_with("/path/to/project\n--help\n"), "{}", room.seen("args"));
    assert!(room.seen("args").contains("settings-kimi.json"));
    assert!(done.out().contains("Usage: claude"), "{}", done.out());
}

#[test]
fn the_clients_own_options_keep_their_meaning_wherever_they_stand() {
    let room = Room::supervised();
    let args =
        "--supervisor --permission-mode plan --output-format json --model opus --print fix-it";
    let done = room.ccc(&args.split(' ').collect::<Vec<_>>()).run().code(0);
    let report: Value = serde_json::from_str(&done.out()).expect("one object");
    assert_eq!(report["outcome"], "completed");
    let args = room.seen("agent-0.args");
    assert!(args.ends_with("\n--permission-mode\nplan\n--model\nopus\nfix-it\n"), "{args}");
    assert_eq!(args.matches("--permission-mode").count(), 1, "{args}");
    assert!(room.seen("agent-0.input").contains("fix-it"));
}

/// `-p` takes no value for claude: scripts write `claude -p --model m "do it"`.
#[test]
fn an_option_after_the_print_option_is_not_the_prompt() {
    let room = Room::supervised();
    room.ccc(&["--supervisor", "-p", "--model", "opus", "fix it"]).run().code(0);
    assert!(room.seen("agent-0.args").ends_with("--model\nopus\nfix it\n"));
    assert!(room.seen("agent-0.input").contains(r#""content":"fix it""#));
    let room = Room::supervised();
    room.ccc(&["--supervisor", "-p", "--verbose=x"]).input("fix it").run().code(0);
    assert!(room.seen("agent-0.input").contains(r#""content":"fix it""#));
    let room = Room::supervised();
    room.ccc(&["--supervisor", "-p", "-v is ignored, fix it"]).run().code(0);
    assert!(room.seen("agent-0.input").contains(r#""content":"-v is ignored, fix it""#));
    room.client("#!/bin/sh\nprintf '%s\\n' \"$@\" >\"$ROOM/args\"\n");
    room.ccc(&["-p", "--model", "opus", "fix it"]).run().code(0);
    assert!(
        room.seen("args").ends_with("--model\nopus\nfix it\n--print\n"),
        "{}",
        room.seen("args")
    );
}

#[test]
fn the_prompt_may_come_on_standard_input() {
    let room = Room::supervised();
    room.ccc(&["--supervisor"]).input("from a pipe\n").run().code(0);
    assert!(room.seen("agent-0.input").contains(r#""content":"from a pipe""#));
    let room = Room::supervised();
    room.ccc(&["--supervisor", "-p", "explain"]).input("a log\n").run().code(0);
    assert!(room.seen("agent-0.input").contains(r#""content":"explain\n\na log""#));
}

#[test]
fn json_closes_with_one_object() {
    let room = Room::supervised();
    let done = room.ccc(&["--supervisor", "-p", "do it", "--output-format", "json"]).run().code(0);
    let report: Value = serde_json::from_str(&done.out()).expect("one object");
    assert_eq!(report["outcome"], "completed");
    assert_eq!(report["exit_code"], 0);
    assert_eq!(report["rounds"][0]["completed"], true);
    assert_eq!(report["rounds"][0]["feedback"], "fine");
    assert_eq!(report["result"], "all done here");
    assert_eq!(report["cost_usd"], 0.25);
    assert!(report["session_id"].is_string() && report["seconds"]["total"].is_f64());
}

#[test]
fn stream_json_is_the_agents_lines_byte_for_byte_with_ours_between() {
    let room = Room::supervised();
    let done =
        room.ccc(&["--supervisor", "-p", "do it", "--output-format", "stream-json"]).run().code(0);
    let out = done.out();
    let (ours, agents): (Vec<&str>, Vec<&str>) =
        out.lines().partition(|line| line.starts_with(r#"{"type":"ccc""#));
    let session = ours.iter().find_map(|line| {
        serde_json::from_str::<Value>(line).expect("JSON")["session_id"].as_str().map(str::to_owned)
    });
    let recorded =
        room.read(&format!("project/.claude/ccc/sessions/{}/agent.jsonl", session.expect("an id")));
    assert_eq!(agents, recorded.lines().collect::<Vec<_>>());
    assert!(ours.iter().any(|line| line.contains(r#""event":"verdict""#)));
    assert!(ours.last().is_some_and(|line| line.contains(r#""event":"finished""#)));
}

#[test]
fn what_is_recorded_is_private_and_ignored_by_git() {
    use std::os::unix::fs::PermissionsExt;
    let room = Room::supervised();
    room.ccc(&["--supervisor", "-p", "do it"]).run().code(0);
    let state = room.path("project/.claude/ccc");
    assert_eq!(room.read("project/.claude/ccc/.gitignore"), "*\n");
    let mut files = 0;
    let mut dirs = vec![state];
    while let Some(dir) = dirs.pop() {
        let mode =
            |path: &std::path::Path| path.metadata().expect("a file").permissions().mode() & 0o777;
        assert_eq!(mode(&dir), 0o700, "{}", dir.display());
        for entry in std::fs::read_dir(&dir).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                assert_eq!(mode(&path), 0o600, "{}", path.display());
                files += 1;
            }
        }
    }
    assert!(files >= 4);
    let room = Room::supervised();
    room.ccc(&["--supervisor", "--no-record", "-p", "do it"]).run().code(0);
    assert!(!room.path("project/.claude/ccc/sessions").exists());
}

#[test]
fn the_children_know_what_they_are_and_forget_a_surrounding_session() {
    let room = Room::supervised();
    let ccc = room.ccc(&["--supervisor", "-p", "do it"]).env("CLAUDECODE", "1");
    ccc.env("CLAUDE_CODE_SESSION_ID", "outer").env("CLAUDE_CODE_USE_BEDROCK", "1").run().code(0);
    let (agent, supervisor) = (room.seen("agent-0.env"), room.seen("supervisor-0.env"));
    let state = format!(
        "CCC_STATE_DIR={}",
        room.path("project/.claude/ccc").canonicalize().expect("a path").display()
    );
    assert!(agent.contains("CCC_SUPERVISOR_PTY=1") && agent.contains(&state), "{agent}");
    assert!(supervisor.contains("CCC_SUPERVISOR_HOOK=1"));
    for env in [&agent, &supervisor] {
        assert!(!env.contains("CLAUDECODE") && !env.contains("CLAUDE_CODE_SESSION_ID"));
        assert!(env.contains("CLAUDE_CODE_USE_BEDROCK=1"));
    }
}

#[test]
fn mistakes_in_what_was_typed_are_usage_errors() {
    let room = Room::supervised();
    for (args, part) in [
        (&["--supervisor", "-p"][..], "nor a prompt"),
        (&["--supervisor", "--max-iterations", "0", "-p", "x"], "a whole number above 0"),
        (&["--supervisor", "--max-iterations", "x", "-p", "x"], "a whole number above 0"),
        (
            &["--supervisor", "-p", "x", "--model", "m", "--no-record"],
            "--no-record is an option of ccc, not of claude; put it before",
        ),
        (
            &["--supervisor", "--max-iteration", "3", "-p", "x"],
            "no option --max-iteration; did you mean --max-iterations?",
        ),
        (&["--suprevisor=native"], "no option --suprevisor; did you mean --supervisor?"),
        (&["--supervisor", "-p", "x", "--output-format", "yaml"], "output-format"),
        (&["--supervisor", "--model", "m", "-p", "x", "--output-format", "yaml"], "output-format"),
        (
            &["--supervisor", "-p", "--input-format", "stream-json"],
            "leave out --input-format stream-json",
        ),
        (&["--supervisor", "-p", "x", "--resume", "../etc"], "session id"),
        (&["--supervisor=hook", "--plain"], "--plain is for `ccc --supervisor`"),
        (&["--plain", "-p", "x"], "--plain is for `ccc --supervisor`"),
        (&["--supervisor=native", "--bg", "x"], "`ccc --supervisor=hook --bg TEXT`"),
    ] {
        let done = room.ccc(args).run().code(2);
        assert!(done.err().contains(part), "{args:?}: {}", done.err());
        assert_eq!(done.out(), "");
    }
}

/// One of them would be lost without a word.
#[test]
fn two_prompts_are_one_too_many() {
    let room = Room::supervised();
    room.write("home/.claude/ccc.json", r#"{"providers":{"kimi":{}}}"#);
    for args in [&["qwen", "-p", "do it"][..], &["-p", "do it", "now"], &["do", "it"]] {
        let done = room.ccc(&[&["--supervisor"], args].concat()).run().code(2);
        assert!(done.err().contains("there are two prompts"), "{args:?}: {}", done.err());
        assert!(done.err().contains("(providers: kimi)"), "{args:?}: {}", done.err());
    }
    room.ccc(&["--supervisor", "kimi", "-p", "do it"]).run().code(0);
}

#[test]
fn what_cannot_start_says_why() {
    let room = Room::supervised();
    let run = |ccc: crate::room::Ccc, part: &str| {
        let done = ccc.run().code(1);
        let said = done.out() + &done.err();
        assert!(said.contains(part), "{part}: {said}");
    };
    let args = ["--supervisor", "-p", "x"];
    run(room.ccc(&args).env("CCC_CLAUDE", "/nowhere"), "CCC_CLAUDE names /nowhere");
    run(room.ccc(&args).env("CCC_CLAUDE", ""), "claude is not on the PATH");
    room.client(
        "#!/bin/sh\necho \"error: unknown option '--permission-prompt-tool'\" >&2; exit 1\n",
    );
    run(room.ccc(&args), "unknown option");
    room.write("home/.claude/ccc.json", "{\n\"providers\": oops}");
    run(room.ccc(&args), "line 2 column");
    assert_eq!(room.read("home/.claude/ccc.json"), "{\n\"providers\": oops}");
}

#[test]
fn resuming_names_the_session() {
    let room = Room::supervised();
    room.ccc(&["--supervisor", "-p", "go on", "--resume", "abc-123"]).run().code(0);
    assert!(room.seen("agent-0.args").contains("--resume\nabc-123\n"));
    assert!(!room.seen("agent-0.args").contains("--session-id"));
    assert!(room.seen("supervisor-0.args").contains("--resume\nabc-123\n"));
    let room = Room::supervised();
    room.ccc(&["--supervisor", "--continue", "-p", "go on"]).run();
    assert!(room.seen("agent-0.args").contains("--continue\n"));
}

#[test]
fn the_users_own_settings_are_merged_into_ours_and_stay_their_sessions() {
    let room = Room::supervised();
    let config = r#"{"providers":{"kimi":{"env":{"ANTHROPIC_BASE_URL":"http://kimi"}}}}"#;
    room.write("home/.claude/ccc.json", config);
    room.write("mine.json", r#"{"env":{"MINE":"1"},"model":"m"}"#);
    let mine = room.path("mine.json").display().to_string();
    room.ccc(&["--supervisor", "kimi", "--settings", &mine, "-p", "x"]).run().code(0);
    let args = room.seen("agent-0.args");
    let used =
        args.lines().skip_while(|line| *line != "--settings").nth(1).expect("settings").to_owned();
    assert_eq!(args.matches("--settings").count(), 1, "{args}");
    let settings: Value =
        serde_json::from_str(&std::fs::read_to_string(used).expect("a file")).expect("JSON");
    assert_eq!(settings["env"]["MINE"], "1");
    assert_eq!(settings["env"]["ANTHROPIC_BASE_URL"], "http://kimi");
    assert!(settings["hooks"]["Stop"].is_array());
    assert!(!room.path("home/.claude/settings-kimi.json").exists());
}

#[test]
fn a_client_that_leaves_without_a_word_is_a_failure() {
    let room = Room::supervised();
    room.client("#!/bin/sh\nexit 0\n");
    room.ccc(&["--supervisor", "-p", "x"]).run().code(1);
}

#[test]
fn instructions_too_long_for_an_argument_still_reach_the_supervisor() {
    let room = Room::supervised();
    room.write("project/SUPERVISOR.md", format!("{} THE END OF IT", "rule ".repeat(60_000)));
    room.ccc(&["--supervisor", "-p", "x"]).run().code(0);
    assert!(room.seen("supervisor-0.input").contains("THE END OF IT"));
}

/// A word that nobody means for claude does not cost a turn.
#[test]
fn a_command_that_is_misspelt_is_not_sent_to_claude() {
    let room = Room::new();
    room.config(&json!({"providers": {"kimi": {}}}));
    for (word, meant) in
        [("sesions", "sessions"), ("repaly", "replay"), ("hlep", "help"), ("kimmi", "kimi")]
    {
        let done = room.ccc(&[word]).run().code(2);
        assert!(done.err().contains(&format!("did you mean `{meant}`")), "{}", done.err());
        assert!(!room.path("seen/agent-0.args").exists(), "{word}");
    }
    for word in ["mcp", "update", "explain", "fix it", "test", "hello"] {
        let done = room.ccc(&[word]).run();
        assert!(!done.err().contains("did you mean"), "{word}: {}", done.err());
    }
    for args in [&["mcp", "add", "x", "--plain"][..], &["kimi", "x", "--", "--no-record"]] {
        let done = room.ccc(args).run();
        assert!(!done.err().contains("option of ccc"), "{args:?}: {}", done.err());
    }
}

#[test]
fn help_is_a_command() {
    let room = Room::new();
    let whole = room.ccc(&["help"]).run().code(0).out();
    for option in ["--supervisor", "--resume", "--continue", "sessions"] {
        assert!(whole.contains(option), "{option}: {whole}");
    }
    let one = room.ccc(&["help", "sessions"]).run().code(0).out();
    assert!(one.contains("prune"), "{one}");
    assert_eq!(room.ccc(&["help", "--help"]).run().code(0).out(), whole);
    assert_eq!(room.ccc(&["help", "sessions", "-h"]).run().code(0).out(), one);
    room.ccc(&["help", "no-such"]).run().code(2);
    assert!(!room.path("seen/agent-0.args").exists());
}
