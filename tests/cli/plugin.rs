//! The script that the plugin runs, where the ccc program is missing or does not run. What it does with
//! ccc is tested on the real client.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/plugin/ccc/bin/ccc-plugin");

/// What the script prints; `path` is searched first.
fn printed(path: &Path, word: &str, event: &Value) -> String {
    let mut command = Command::new(SCRIPT);
    command.arg(word).env_clear().env("PATH", format!("{}:/usr/bin:/bin", path.display()));
    command.env("CLAUDE_PROJECT_DIR", path).env("CLAUDE_CODE_SESSION_ID", "abc123");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut script = command.spawn().expect("a shell");
    let mut input = script.stdin.take().expect("its input");
    // A slash command reads nothing.
    let _ = input.write_all(event.to_string().as_bytes());
    drop(input);
    let output = script.wait_with_output().expect("its end");
    assert!(output.status.success(), "a stop would be blocked");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn without_a_ccc_that_runs_the_plugin_says_so_and_allows_every_stop() {
    let programs = [
        (None, "is not on the PATH"),
        (Some("#!/bin/sh\nexit 127\n"), "does not run"),
        (Some("#!/nowhere/sh\n"), "does not run"),
    ];
    for (program, what) in programs {
        let room = tempfile::tempdir().unwrap();
        if let Some(text) = program {
            let ccc = room.path().join("ccc");
            fs::write(&ccc, text).unwrap();
            fs::set_permissions(&ccc, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let printed = |word, event: &Value| printed(room.path(), word, event);
        let prompt = |text| json!({"hook_event_name": "UserPromptSubmit", "prompt": text});
        for command in ["/ccc:supervisor", "/ccc:supervisoroff", "/ccc:status"] {
            let reply: Value = serde_json::from_str(&printed("hook", &prompt(command))).unwrap();
            assert_eq!(reply["decision"], "block", "{command}");
            assert!(reply["reason"].as_str().unwrap().contains(what), "{reply}");
        }
        assert_eq!(printed("hook", &prompt("what is /ccc:supervisor?")), "");
        for word in ["on", "off", "status"] {
            assert!(printed(word, &Value::Null).contains(what), "{word}");
        }
        let stop = json!({"hook_event_name": "Stop", "last_assistant_message": "done"});
        assert_eq!(printed("hook", &stop), "");
        let states = room.path().join(".claude/ccc");
        fs::create_dir_all(&states).unwrap();
        fs::write(states.join("supervisor-abc123.json"), r#"{"enabled": true}"#).unwrap();
        let reply: Value = serde_json::from_str(&printed("hook", &stop)).unwrap();
        assert!(reply["systemMessage"].as_str().unwrap().contains(what), "{reply}");
        assert_eq!(reply["decision"], Value::Null);
    }
}
