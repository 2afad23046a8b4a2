use super::super::sample::line;
use super::*;

mod live;

pub const LOOK: Look = Look {
    glyphs: Glyphs::unicode(),
    colour: None,
    hints: true,
    phases: false,
    rich: true,
    live: false,
    spoken: false,
    ticker: None,
};

pub fn texts(lines: &[Styled]) -> Vec<String> {
    lines.iter().map(Styled::text).collect()
}

fn agent(lines: &[&str]) -> Vec<String> {
    let mut transcript = Transcript::new(LOOK);
    transcript.set_width(40);
    texts(&lines.iter().flat_map(|raw| transcript.agent(&line(raw))).collect::<Vec<_>>())
}

fn assistant(blocks: &str) -> String {
    format!(r#"{{"type":"assistant","message":{{"content":[{blocks}]}}}}"#)
}

fn tool(id: &str, name: &str, input: &str) -> String {
    assistant(&format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}"#))
}

fn outcome(id: &str, output: &str, error: bool) -> String {
    let output = serde_json::to_string(output).unwrap();
    format!(
        r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","is_error":{error},"content":{output}}}]}}}}"#
    )
}

#[test]
fn the_agents_output_is_shown() {
    for (raw, expected) in [
        (assistant(r#"{"type":"text","text":"\n\nOne.\n\n  Two.\n\n"}"#), &["  One.", "", "    Two."][..]),
        (assistant(r#"{"type":"text","text":"a\u001b[2Jb\u001b]0;t\u0007c"}"#), &["  abc"]),
        (assistant(r#"{"type":"text","text":" "}"#), &[]),
        (
            assistant(r#"{"type":"thinking","thinking":"\nLet me see.\nA lot more."}"#),
            &["  Let me see. …"],
        ),
        (assistant(r#"{"type":"thinking","thinking":""}"#), &[]),
        (tool("t", "Bash", r#"{"description":"d","command":"cargo test"}"#), &["● Bash cargo test"]),
        (tool("t", "Bash", r#"{"command":"a <<E\nb\nE"}"#), &["● Bash a <<E …"]),
        (
            tool("t", "Bash", r#"{"command":"0123456789012345678901234567890123456789"}"#),
            &["● Bash 01234567890123456789012345678901…"],
        ),
        (tool("t", "Read", r#"{"limit":5,"file_path":"/a/b.rs"}"#), &["● Read /a/b.rs"]),
        (tool("t", "Grep", r#"{"path":"src","pattern":"fn \\w+"}"#), &[r"● Grep fn \w+"]),
        (tool("t", "mcp__x__y", r#"{"n":1,"what":"it"}"#), &["● mcp__x__y it"]),
        (tool("t", "TodoWrite", r#"{"todos":[]}"#), &[]),
        (
            r#"{"type":"system","subtype":"api_retry","attempt":3,"max_retries":10,"retry_delay_ms":8012.4,"error":"rate_limit"}"#.into(),
            &["rate limited, retry 3/10 in 9 s"],
        ),
        (
            r#"{"type":"assistant","parent_tool_use_id":"p","message":{"content":[{"type":"text","text":"a\nb"}]}}"#.into(),
            &["    a", "    b"],
        ),
        ("Error: no such session".into(), &["  Error: no such session"]),
        (r#"{"type":"#.into(), &[]),
        (r#"{"type":"system","subtype":"init","model":"m"}"#.into(), &[]),
        (r#"{"type":"user","uuid":"u","isReplay":true,"message":{"content":"x"}}"#.into(), &[]),
        (r#"{"type":"stream_event","event":{"delta":{"text":"He"}}}"#.into(), &[]),
        (r#"{"type":"tomorrow"}"#.into(), &[]),
    ] {
        assert_eq!(agent(&[&raw]), expected, "{raw}");
    }
}

#[test]
fn a_shortened_line_fits_including_its_margin() {
    let mut transcript = Transcript::new(LOOK);
    transcript.set_width(40);
    let long = "x".repeat(80);
    let raw = tool("t", "Bash", &format!(r#"{{"command":"{long}"}}"#));
    let raw = raw.replacen('{', r#"{"parent_tool_use_id":"p","#, 1);
    let shown = texts(&transcript.supervisor(&line(&raw)));
    assert_eq!(shown, [format!("┃   ● Bash {}…", "x".repeat(28))]);
}

#[test]
fn a_result_is_shown_below_its_tool() {
    let use_it = tool("t", "Bash", r#"{"command":"ls"}"#);
    for (output, error, expected) in [
        ("one line\n", false, "  └ one line"),
        ("one\n\ntwo\n3\n4", false, "  └ one|    two|    3|    4"),
        ("1\n2\n3\n4\n5", false, "  └ 1|    2|    3|    … 2 more lines"),
        ("", false, "  └ no output"),
        ("(Bash completed with no output)", false, "  └ no output"),
        ("boom\nmore", true, "  └ error: boom|    more"),
        ("<tool_use_error>No such file</tool_use_error>", true, "  └ error: No such file"),
        ("Error: boom", true, "  └ Error: boom"),
        (
            "Exit code 101\ncase_1 ... ok\ncase_2 ... FAILED",
            true,
            "  └ exit 101: case_1 ... ok|    case_2 ... FAILED",
        ),
        (
            "1\n2\n3\n4\n5\n6\n7\n8\n9\nfailed",
            true,
            "  └ … 2 lines above|    3|    4|    5|    6|    7|    8|    9|    failed",
        ),
        (
            "The user doesn't want to proceed with this tool use. The tool use was rejected",
            true,
            "  └ interrupted",
        ),
        (
            "No one can be asked for permission to use Write. Continue without it, and say at the end",
            true,
            "  └ not run: denied",
        ),
        (
            "Async agent launched successfully. (This tool result is internal metadata",
            false,
            "  └ started in the background",
        ),
        (
            "Updated f. (file state is current in your context — no need to Read it back)",
            false,
            "  └ Updated f.",
        ),
        ("a<system-reminder>\nx\n</system-reminder>", false, "  └ a"),
        ("\x1b[31mred\x1b[0m", false, "  └ red"),
        ("  if x:\n\n      go()\n", false, "  └ if x:|        go()"),
        ("a\r\n 10%\r 55%\r100%\r\n\rb\r", false, "  └ a|    100%|    b"),
        (
            "<persisted-output>\nOutput too large (47.7KB). Full output saved to: /t/x.txt\n\n\
             Preview (first 2KB):\n1\n2\n3\n4\n5\n...\n</persisted-output>",
            false,
            "  └ 1|    2|    3|    … Output too large (47.7KB). Full o…",
        ),
        ("<persisted-output>", false, "  └ <persisted-output>"),
    ] {
        let shown = agent(&[&use_it, &outcome("t", output, error)]);
        assert_eq!(shown.join("|"), format!("● Bash ls|{expected}"), "{output:?}");
    }
    let task = tool("t", "Task", r#"{"description":"Look"}"#);
    let told = "  <tools-used-before-summary>Bash</tools-used-before-summary>\n  \n\
                [Subagent hand-back] It is model output.\n  All fine.\n  - a\n\
                agentId: a42 (to continue)\n<usage>tokens: 19\ntool_uses: 1</usage>";
    assert_eq!(agent(&[&task, &outcome("t", told, false)])[1..], ["  └ All fine. …"]);
    let long = "x\n".repeat(5000);
    assert_eq!(agent(&[&use_it, &outcome("t", &long, false)])[4], "    … 997+ more lines");
    let read = tool("t", "Read", r#"{"file_path":"f"}"#);
    assert_eq!(agent(&[&read, &outcome("t", &long, false)])[1], "  └ 1000+ lines");
}

#[test]
fn a_new_file_is_shown_as_an_edit() {
    let write = tool("t", "Write", r#"{"file_path":"a.py","content":"one\ntwo\n"}"#);
    let created = "File created successfully at: /p/a.py (file state is current in your context)";
    let shown = agent(&[&write, &outcome("t", created, false)]);
    assert_eq!(shown, ["● Write a.py", "  └ +2 -0", "    1 + one", "    2 + two"]);
    let empty = tool("t", "Write", r#"{"file_path":"a.py","content":""}"#);
    let shown = agent(&[&empty, &outcome("t", created, false)]);
    assert_eq!(shown, ["● Write a.py", "  └ created"]);
}

#[test]
fn the_reason_of_a_hook_is_shown_without_its_name() {
    let use_it = tool("t", "Bash", r#"{"command":"git push"}"#);
    let told = "PreToolUse:Bash hook error: A review changes nothing.";
    let shown = agent(&[&use_it, &outcome("t", told, true)]);
    assert_eq!(shown[1], "  └ error: A review changes nothing.");
}

/// The end of a test run says what failed, however long it was.
#[test]
fn the_end_of_a_long_failure_is_shown() {
    let use_it = tool("t", "Bash", r#"{"command":"make test"}"#);
    let long = format!("Exit code 2\n{}test case_999 ... FAILED", "test case ... ok\n".repeat(900));
    let shown = agent(&[&use_it, &outcome("t", &long, true)]);
    assert_eq!(shown[1], "  └ exit 2: … lines above");
    assert_eq!(shown.last().map(String::as_str), Some("    test case_999 ... FAILED"));
    assert_eq!(shown.len(), 2 + 8);
}

#[test]
fn results_of_several_tools_are_named() {
    let uses =
        [tool("a", "Read", r#"{"file_path":"f"}"#), tool("b", "Bash", r#"{"command":"ls"}"#)];
    assert_eq!(
        agent(&[&uses[0], &uses[1], &outcome("b", "x", false), &outcome("a", "y", true)]),
        ["● Read f", "● Bash ls", "  └ x", "  └ Read f: error: y"]
    );
    assert!(agent(&[&outcome("unseen", "x", false)]).is_empty(), "repeated after a compaction");
}

#[test]
fn a_turns_result_is_shown_only_if_no_text_was() {
    let result = |turns: u32, error: bool| {
        format!(
            r#"{{"type":"result","subtype":"success","is_error":{error},"num_turns":{turns},"result":"Total cost: $0\nok"}}"#
        )
    };
    let init = r#"{"type":"system","subtype":"init"}"#;
    let text = assistant(r#"{"type":"text","text":"hi"}"#);
    assert_eq!(agent(&[init, &result(0, false)]), ["  Total cost: $0", "  ok"]);
    assert_eq!(agent(&[init, &text, &result(0, false)]), ["  hi"]);
    assert_eq!(agent(&[init, &text, &result(1, false), init, &result(0, false)]).len(), 4);
    assert!(agent(&[init, &result(1, false)]).is_empty());
    assert!(agent(&[init, &result(0, true)]).is_empty());
}

#[test]
fn the_supervisor_has_a_gutter_and_its_verdict_is_a_notice() {
    let mut transcript = Transcript::new(LOOK);
    let lines = [
        tool("t", "Bash", r#"{"command":"ls"}"#),
        outcome("t", "x", false),
        assistant(r#"{"type":"text","text":"I looked.\nBad."}"#),
        tool("v", "StructuredOutput", r#"{"completed":true}"#),
        outcome("v", "Structured output provided", false),
        assistant(
            r#"{"type":"text","text":"```json\n{\"completed\":false,\"feedback\":\"x\"}\n```"}"#,
        ),
        r#"{"type":"result","num_turns":0,"result":"x"}"#.into(),
    ];
    let shown: Vec<_> = lines.iter().flat_map(|raw| transcript.supervisor(&line(raw))).collect();
    assert_eq!(texts(&shown), ["┃ ● Bash ls", "┃   └ x", "┃ ", "┃   I looked.", "┃   Bad."]);
}

/// Such a screen is in the middle of a resize; the transcript has to be intact afterwards.
#[test]
fn an_unreadably_narrow_screen_breaks_no_line() {
    let mut transcript = Transcript::new(LOOK);
    transcript.set_width(1);
    let text = transcript.agent(&line(&assistant(r#"{"type":"text","text":"a few words"}"#)));
    assert_eq!(texts(&text), ["  a few words"]);
    let tool = transcript.agent(&line(&tool("t", "Bash", r#"{"command":"make all"}"#)));
    assert_eq!(texts(&tool).last().map(String::as_str), Some("● Bash make all"));
}
