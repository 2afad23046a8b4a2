//! `ccc fixture`: a recording becomes a fixture that holds, and tells nothing that is nobody's
//! business.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use ccc::fixture::scrub::MachineIdentity;
use ccc::fixture::{Script, convert, run_on_machine};
use ccc::record::read::{AGENT, EVENTS, Recording};
use ccc::record::rerun::runs;

use super::recordings::{SESSION, edit, fixtures, record};
use super::{Project, err, out};

/// Every fixture, recorded and converted back, on the machine alone and on the real loop.
#[test]
fn every_fixture_survives_the_way_there_and_back() {
    let project = Project::new();
    let converted = project.path("converted");
    fs::create_dir_all(&converted).expect("a directory");
    for file in fixtures() {
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let dir = project.recorded(&name, &name);
        let recording = Recording::open(&dir).expect("a recording");
        let run = &runs(&recording).expect("runs")[0];
        let fixture =
            convert(&recording, run, &name, &[], &MachineIdentity::default()).expect(&name);
        let text = fixture.text().expect("text");
        assert_eq!(fixture.problem, None, "{name}:\n{text}");
        assert!(!text.contains(SESSION), "{name}");
        assert!(!text.contains("0000abcd"), "{name}");
        let script = Script::parse(&text).expect(&name);
        let outcome = run_on_machine(&script).expect(&name);
        let wanted = run_on_machine(&Script::load(&file).expect(&name)).expect(&name);
        assert_eq!(outcome.name(), wanted.name(), "{name}");
        fs::write(converted.join(format!("{name}.jsonl")), &text).expect("a file");
    }
    let output = project.ccc(&["replay", "--check", "converted"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", out(&output), err(&output));
}

#[test]
fn a_converted_session_recorded_again_gives_the_same_fixture() {
    let project = Project::new();
    let first = project.recorded("permission", "first");
    let text = |dir: &std::path::Path| {
        let recording = Recording::open(dir).expect("a recording");
        let run = &runs(&recording).expect("runs")[0];
        let fixture = convert(&recording, run, "t", &[], &MachineIdentity::default());
        fixture.and_then(|fixture| Ok(fixture.text()?)).expect("a fixture")
    };
    let once = text(&first);
    let second = project.path("second");
    record(&Script::parse(&once).expect("a script"), &second);
    // The pauses are those of the two recordings.
    let without = |text: &str| {
        let lines = text
            .lines()
            .map(|line| line.split(",\"pause\"").next().unwrap_or(line).trim_end_matches('}'));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(without(&text(&second)), without(&once));
}

#[test]
fn a_fixture_is_written_for_others_to_see() {
    let project = Project::new();
    let dir = project.recorded("rejected_then_confirmed", SESSION);
    let secrets = ["env-value-7361", "kimi \"quoted\" value", "shared-settings-1"];
    let home = project.path("home");
    edit(&dir, AGENT, |text| {
        let said = format!(
            "use {} and {} or {} with sk-ant-api03-abcdefgh in {}/notes and /srv/somewhere/app/x.py; password=hunter2",
            secrets[0],
            secrets[1].replace('"', "\\\\\\\""),
            secrets[2],
            home.display()
        );
        assert!(text.contains("I'll write the function first"), "{text}");
        text.replace("I'll write the function first", &said)
    });
    let config = project.path("config");
    fs::create_dir_all(&config).expect("a directory");
    let providers = serde_json::json!({
        "settings": {"env": {"ANTHROPIC_AUTH_TOKEN": secrets[2]}},
        "providers": {"kimi": {"env": {"ANTHROPIC_API_KEY": secrets[1]}}},
    });
    fs::write(config.join("ccc.json"), providers.to_string()).expect("a file");
    let run = |args: &[&str]| {
        let mut command = project.command(args);
        command.env("CCC_CONFIG_DIR", &config).env("SOME_API_KEY", secrets[0]);
        command.output().expect("ccc runs")
    };

    let output = run(&["fixture", SESSION, "-o", "bug.jsonl", "--title", "It says env-value-7361"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(err(&output).contains("replaced: secrets: 6"), "{}", err(&output));
    let text = fs::read_to_string(project.path("bug.jsonl")).expect("the fixture");
    let home = home.display().to_string();
    for hidden in
        ["env-value", "quoted", "shared-settings", "sk-ant", "hunter2", SESSION, &home, "/srv"]
    {
        assert!(!text.contains(hidden), "{hidden} is still there:\n{text}");
        assert!(!err(&output).contains(hidden), "{hidden}: {}", err(&output));
    }
    assert!(text.contains("/home/user/notes and /project/x.py; password=[secret]"), "{text}");
    assert!(text.starts_with(r#"{"fixture":1,"title":"It says [secret]""#), "{text}");
    let mode = fs::metadata(project.path("bug.jsonl")).expect("the fixture").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let played = run(&["replay", "--check", "bug.jsonl"]);
    assert_eq!(played.status.code(), Some(0), "{}", err(&played));

    let again = run(&["fixture", SESSION, "-o", "bug.jsonl"]);
    assert_eq!(again.status.code(), Some(1));
    // Known before anything is converted, and anybody asked about it.
    assert!(err(&again).starts_with("ccc: bug.jsonl already exists"), "{}", err(&again));
    assert_eq!(fs::read_to_string(project.path("bug.jsonl")).expect("the fixture"), text);
    let misspelt = run(&["fixture", SESSION, "-o", "bgus/1.jsonl"]);
    assert_eq!(misspelt.status.code(), Some(1));
    assert!(err(&misspelt).contains("there is no directory bgus"), "{}", err(&misspelt));
    assert!(!project.path("bgus").exists());
    let printed = run(&["fixture", SESSION, "--title", "It says env-value-7361"]);
    assert_eq!(out(&printed), text);
}

/// A token of nobody's, which no list of shapes has: a person decides, and here there is none.
#[test]
fn what_still_looks_like_a_secret_does_not_leave_unseen() {
    let project = Project::new();
    let dir = project.recorded("rejected_then_confirmed", SESSION);
    let suspect = "qX7vR2mK9pLw4ZtB8nHc3sYd";
    for file in [EVENTS, "agent.jsonl"] {
        edit(&dir, file, |text| text.replace("Write slugify", &format!("Write {suspect}")));
    }
    let output = project.ccc(&["fixture", SESSION, "-o", "bug.jsonl"]);
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    assert!(err(&output).contains(suspect), "{}", err(&output));
    assert!(err(&output).contains("--allow-suspects"), "{}", err(&output));
    assert!(!project.path("bug.jsonl").exists());
    let output = project.ccc(&["fixture", SESSION, "-o", "bug.jsonl", "--allow-suspects"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let text = fs::read_to_string(project.path("bug.jsonl")).expect("the fixture");
    assert!(text.contains(suspect), "{text}");
}

#[test]
fn what_is_not_the_recorded_session_is_not_written() {
    let project = Project::new();
    let dir = project.recorded("rejected_then_confirmed", SESSION);
    edit(&dir, EVENTS, |text| {
        text.replacen("\"event\":\"limit_reached\"", "", 1).replacen(
            "\"did\":\"stop_review\",\"review\":1",
            "\"did\":\"unask\"",
            1,
        )
    });
    let output = project.ccc(&["fixture", SESSION, "-o", "bug.jsonl"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        err(&output).contains("the fixture does not reproduce the recorded session: at entry"),
        "{}",
        err(&output)
    );
    assert!(!project.path("bug.jsonl").exists());
    let output = project.ccc(&["fixture", SESSION, "-o", "bug.jsonl", "--force"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(Script::load(&project.path("bug.jsonl")).is_ok());
}

#[test]
fn secrets_that_cannot_be_known_are_not_risked() {
    let project = Project::new();
    project.recorded("interrupt", SESSION);
    fs::create_dir_all(project.path("home/.claude")).expect("a directory");
    fs::write(project.path("home/.claude/ccc.json"), "{broken").expect("a file");
    let output = project.ccc(&["fixture", SESSION]);
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).is_empty() && err(&output).contains("ccc.json"), "{}", err(&output));
}

#[test]
fn a_resumed_session_says_so_in_its_header() {
    let text = r#"{"fixture":1,"title":"t","resume":"S1","carried":{"round":1,"fresh":false,"said":[{"text":"build it","earlier":false}],"cost_usd":0.5}}
{"agent_starts":["--resume","S1"]}
{"user":"go on"}
{"agent_takes":"go on"}
{"agent_done":"Done."}
{"review_starts":["> build it","> go on","review 2 of"]}
{"supervisor_verdict":{"completed":true,"feedback":"It is all there."}}
{"expect_phase":"waiting"}
{"signal":15}
{"expect_outcome":"signal"}
"#;
    let project = Project::new();
    fs::write(project.path("resumed.jsonl"), text).expect("a file");
    record(&Script::parse(text).expect("a script"), &project.path("recorded"));
    let output = project.ccc(&["fixture", "recorded", "-o", "converted.jsonl"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let converted = fs::read_to_string(project.path("converted.jsonl")).expect("the fixture");
    assert!(converted.contains(r#""resume":"S1","carried":{"round":1"#), "{converted}");
    let output =
        project.ccc(&["replay", "--check", "resumed.jsonl", "converted.jsonl", "recorded"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", out(&output), err(&output));
}

#[test]
fn answers_in_words_and_refusals_are_steps_too() {
    let text = r#"{"fixture":1,"title":"t"}
{"user":"ask me"}
{"agent_takes":"ask me"}
{"agent_asks":{"tool":"Bash","input":{"command":"rm"}}}
{"answer":{"deny":"not today"}}
{"agent_is_answered":"deny"}
{"agent_asks":{"tool":"Bash","input":{"command":"ls"}}}
{"answer":"always"}
{"agent_is_answered":"allow"}
{"agent_prints":{"type":"control_request","request_id":"r-1","request":{"subtype":"unheard_of"}}}
{"agent_is_answered":"refuse"}
{"key":"interrupt"}
{"agent_reads_interrupt":true}
{"agent_prints":{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":1,"result":"","session_id":"S1"}}
{"expect_phase":"waiting"}
"#;
    let project = Project::new();
    fs::write(project.path("given.jsonl"), text).expect("a file");
    record(&Script::parse(text).expect("a script"), &project.path("recorded"));
    let output = project.ccc(&["fixture", "recorded", "-o", "converted.jsonl"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let converted = fs::read_to_string(project.path("converted.jsonl")).expect("the fixture");
    for part in [
        r#"{"answer":{"deny":"not today"}"#,
        r#"{"answer":"always""#,
        r#"{"agent_is_answered":"refuse"}"#,
    ] {
        assert!(converted.contains(part), "{part}:\n{converted}");
    }
    let output = project.ccc(&["replay", "--check", "given.jsonl", "converted.jsonl"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", out(&output), err(&output));
}
