//! Questions about tools.

use super::*;

#[test]
fn a_question_hides_nothing() {
    let ask = |tool: &str, input: &str, asker| {
        let asked = PermissionRequest {
            tool: tool.into(),
            input: input.into(),
            description: "Clean up".into(),
            suggestions: None,
        };
        let question = Question { asker, request_id: "r".into(), asked, before: None };
        texts(&Transcript::new(LOOK).question(&question))
    };
    let long = "x".repeat(500);
    let input = format!(r#"{{"command":"rm -rf {long}","timeout":5}}"#);
    assert_eq!(
        ask("Bash", &input, Asker::Agent),
        [
            "? The agent wants to use Bash",
            "  Clean up",
            &format!("  command: rm -rf {long}"),
            "  timeout: 5",
        ]
    );
    let sly = r#"{"command":"echo hi\r\u001b[2K\n\nrm \u202e-rf \u200b/"}"#;
    assert_eq!(
        ask("Bash", sly, Asker::Supervisor)[2..],
        ["  command: ", r"    echo hi\r\u{1b}[2K", "    ", r"    rm \u{202e}-rf \u{200b}/"]
    );
    assert_eq!(ask("Odd", "[1,\"\u{1b}\"]", Asker::Agent)[2], r#"  [1,"\u{1b}"]"#);
    let told = r#"{"command":"ls","description":"Clean up"}"#;
    assert_eq!(ask("Bash", told, Asker::Agent)[1..], ["  Clean up", "  command: ls"]);
    let other = r#"{"command":"ls","description":"Clean\u202e up"}"#;
    assert_eq!(ask("Bash", other, Asker::Agent)[3], r"  description: Clean\u{202e} up");
}

#[test]
fn what_always_would_mean_is_said() {
    let rules = r#"[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"rm \u001b:*"}]},
                    {"type":"setMode","mode":"acceptEdits"}]"#;
    let asked = PermissionRequest {
        tool: "Bash".into(),
        input: r#"{"command":"rm a"}"#.into(),
        suggestions: Some(rules.into()),
        ..PermissionRequest::default()
    };
    let question = Question { asker: Asker::Agent, request_id: "r".into(), asked, before: None };
    let lines = texts(&Transcript::new(LOOK).question(&question));
    assert_eq!(lines[2..], [r#"  "Yes, always" would allow: Bash(rm \u{1b}:*), all file edits"#]);
}

#[test]
fn a_file_that_is_written_anew_asks_with_what_changes() {
    let asked = PermissionRequest {
        tool: "Write".into(),
        input: r#"{"file_path":"a.txt","content":"one\ntwo\n"}"#.into(),
        ..Default::default()
    };
    let question = |before: Option<&str>| Question {
        asker: Asker::Agent,
        request_id: "r".into(),
        asked: asked.clone(),
        before: before.map(str::to_owned),
    };
    let shown = |before| texts(&Transcript::new(LOOK).question(&question(before)));
    let head = "? The agent wants to use Write a.txt";
    assert_eq!(shown(None), [&format!("{head}  +2 -0"), "    1 + one", "    2 + two"]);
    assert_eq!(
        shown(Some("one\n2\n")),
        [&format!("{head}  +1 -1"), "    1   one", "    2 - 2", "    2 + two"]
    );
    let mut narrow = Transcript::new(LOOK);
    narrow.set_width(14);
    let rows = texts(&narrow.question(&question(Some("one, two, three\ntwo\n"))));
    assert!(rows.contains(&"        three".to_owned()), "not where the numbers are: {rows:?}");
}

#[test]
fn an_edit_asks_with_its_path_once_and_is_not_repeated() {
    let mut transcript = Transcript::new(LOOK);
    let input = r#"{"file_path":"src/a.rs","old_string":"a\nb","new_string":"a\nc\nd","replace_all":false}"#;
    let used = format!(
        r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"t","name":"Edit","input":{input}}}]}}}}"#
    );
    transcript.agent(&sample::line(&used));
    let asked =
        PermissionRequest { tool: "Edit".into(), input: input.into(), ..Default::default() };
    let question = Question { asker: Asker::Agent, request_id: "r".into(), asked, before: None };
    assert_eq!(
        texts(&transcript.question(&question))[1..],
        [
            "? The agent wants to use Edit src/a.rs  +2 -1",
            "      a",
            "    - b",
            "    + c",
            "    + d"
        ]
    );
    // Where the file can be read, whole lines with their numbers.
    let known = Question { before: Some("x\n  a\nb;\nz\n".into()), ..question };
    assert_eq!(
        texts(&Transcript::new(LOOK).question(&known)),
        [
            "? The agent wants to use Edit src/a.rs  +2 -1",
            "    2     a",
            "    3 - b;",
            "    3 + c",
            "    4 + d;"
        ]
    );
    let result = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]},"toolUseResult":{"structuredPatch":[{"oldStart":1,"oldLines":2,"newStart":1,"newLines":3,"lines":[" a","-b","+c","+d"]}]}}"#;
    let shown = texts(
        &transcript.agent(&sample::line(&result.replace("toolUseResult", "tool_use_result"))),
    );
    assert_eq!(shown.last().map(String::as_str), Some("  └ Edit src/a.rs: +2 -1"), "{shown:?}");
}
