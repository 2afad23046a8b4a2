use serde_json::{Value, json};

use super::*;

fn read(lines: &[Value]) -> ClientTranscript {
    let mut transcript = ClientTranscript::default();
    lines.iter().for_each(|line| transcript.line(line.to_string().as_bytes()));
    transcript
}

fn said(transcript: &ClientTranscript) -> Vec<&str> {
    transcript.said.iter().map(|said| said.text.as_str()).collect()
}

fn user(content: impl Into<Value>) -> Value {
    json!({"type": "user", "timestamp": "2026-01-15T10:30:00.5Z", "message": {"role": "user", "content": content.into()}})
}

fn with(mut line: Value, extra: &Value) -> Value {
    for (name, value) in extra.as_object().unwrap() {
        line[name] = value.clone();
    }
    line
}

fn typed(text: &str) -> Value {
    with(user(text), &json!({"origin": {"kind": "human"}}))
}

fn assistant(text: &str) -> Value {
    json!({"type": "assistant", "message": {"model": "m-1", "content": [{"type": "text", "text": text}]}})
}

/// A command that the client executes itself.
fn local(name: &str) -> Value {
    user(format!(
        "<command-name>/{name}</command-name>\n            <command-message>{name}</command-message>\n            <command-args></command-args>"
    ))
}

fn command(name: &str, args: &str) -> String {
    format!(
        "<command-message>{name}</command-message>\n<command-name>/{name}</command-name>\n<command-args>{args}</command-args>"
    )
}

#[test]
fn only_the_persons_own_words_count() {
    let meta = json!({"isMeta": true});
    let transcript = read(&[
        typed("typed"),
        assistant("a"),
        // From a client that does not record where a message came from.
        user("of an old client"),
        user(json!([{"type": "text", "text": "with a picture"}, {"type": "image"}])),
        json!({"type": "attachment", "attachment": {"type": "queued_command", "prompt": "absorbed", "commandMode": "prompt", "origin": {"kind": "human"}}}),
        json!({"type": "attachment", "attachment": {"type": "queued_command", "prompt": [{"type": "text", "text": "absorbed by an old one"}], "commandMode": "prompt"}}),
        json!({"type": "attachment", "attachment": {"type": "queued_command", "prompt": "<task-notification>x", "commandMode": "task-notification"}}),
        json!({"type": "attachment", "attachment": {"type": "queued_command", "prompt": "of a peer", "origin": {"kind": "peer"}}}),
        with(user("This session is being continued"), &json!({"isCompactSummary": true})),
        with(user("Stop hook feedback:\nmore"), &meta),
        with(user("the text of a command"), &meta),
        with(user("for a sub-agent"), &json!({"isSidechain": true})),
        with(user("<task-notification>done"), &json!({"origin": {"kind": "task-notification"}})),
        with(user("every hour"), &json!({"origin": {"kind": "cron"}})),
        user("<bash-input>make</bash-input>"),
        user("<bash-stdout>built</bash-stdout><bash-stderr></bash-stderr>"),
        user(
            json!([{"type": "tool_result", "tool_use_id": "t", "content": "x"}, {"type": "text", "text": "beside it"}]),
        ),
        user(command("mine", "with this")),
        with(user("Do the thing with this"), &meta),
        assistant("b"),
        user("/compact"),
        local("compact"),
        user("<local-command-stdout>Compacted</local-command-stdout>"),
        local("clear"),
        user(command("supervisor", "and this")),
        user("[Request interrupted by user]"),
    ]);
    assert_eq!(
        said(&transcript),
        [
            "typed",
            "of an old client",
            "with a picture",
            "absorbed",
            "absorbed by an old one",
            "/mine with this",
            "and this"
        ]
    );
    assert_eq!(transcript.model.as_deref(), Some("m-1"));
}

#[test]
fn unreadable_lines_are_ignored() {
    let mut transcript = ClientTranscript::default();
    for line in [
        &b"half a li"[..],
        b"",
        b"{}",
        b"[1]",
        b"{\"type\":3}",
        b"{\"type\":\"user\"}",
        b"{\"type\":\"user\",\"message\":{\"content\":7}}",
        b"{\"type\":\"user\",\"origin\":\"human\"}",
        b"\xff\xfe",
        b"{\"type\":\"attachment\",\"attachment\":{}}",
        b"{\"type\":\"queue-operation\",\"operation\":\"dequeue\"}",
    ] {
        transcript.line(line);
    }
    assert_eq!((said(&transcript).len(), transcript.turn), (0, TurnKind::None));
}

#[test]
fn the_kind_of_the_last_turn_is_known() {
    let bash = [user("<bash-input>ls</bash-input>"), user("<bash-stdout>a</bash-stdout>")];
    let failed = json!({"type": "assistant", "isApiErrorMessage": true,
                        "message": {"model": "<synthetic>", "content": [{"type": "text", "text": "no credit"}]}});
    for (lines, turn) in [
        (vec![], TurnKind::None),
        (vec![typed("a"), assistant("b")], TurnKind::Work),
        (
            [vec![typed("a"), assistant("b")], bash.to_vec(), vec![assistant("c")]].concat(),
            TurnKind::Shell,
        ),
        (
            [bash.to_vec(), vec![assistant("c"), typed("a"), assistant("b")]].concat(),
            TurnKind::Work,
        ),
        (
            vec![typed("a"), user("[Request interrupted by user for tool use]")],
            TurnKind::Interrupted,
        ),
        (vec![typed("a"), failed.clone()], TurnKind::Failed),
        (vec![typed("a"), failed, assistant("b")], TurnKind::Work),
        (
            vec![local("model"), user("<local-command-stdout>y</local-command-stdout>")],
            TurnKind::LocalCommand,
        ),
        (
            vec![json!({"type": "system", "subtype": "local_command", "content": "x"})],
            TurnKind::LocalCommand,
        ),
        (
            vec![
                typed("a"),
                with(user("Stop hook feedback:\nx"), &json!({"isMeta": true})),
                assistant("b"),
            ],
            TurnKind::Work,
        ),
        (
            vec![
                typed("a"),
                assistant("b"),
                with(user("continued"), &json!({"isCompactSummary": true})),
                assistant("c"),
            ],
            TurnKind::Work,
        ),
    ] {
        assert_eq!(read(&lines).turn, turn, "{lines:?}");
    }
}

/// The client executes `/goal`, and then the agent works.
#[test]
fn a_goal_is_a_task_of_the_person() {
    let goal = user(
        "<command-name>/goal</command-name>\n<command-message>goal</command-message>\n<command-args>it works</command-args>",
    );
    let status = |met: bool| json!({"type": "attachment", "attachment": {"type": "goal_status", "met": met, "condition": "it works"}});
    let set = [
        status(false),
        goal,
        user("<local-command-stdout>Goal set: it works</local-command-stdout>"),
        with(user("A session-scoped Stop hook is now active"), &json!({"isMeta": true})),
        assistant("done"),
    ];
    let transcript = read(&set);
    assert_eq!((said(&transcript), transcript.turn), (vec!["/goal it works"], TurnKind::Work));
    assert_eq!(transcript.goal.as_deref(), Some("it works"));
    assert_eq!(read(&[&set[..], &[status(true)]].concat()).goal, None);
}

/// Two turns may end with the same text.
#[test]
fn an_answer_belongs_to_its_turn() {
    let answered = |lines: &[Value]| read(lines).last_answer.is_some();
    let stopped = json!({"type": "system", "subtype": "stop_hook_summary"});
    assert!(answered(&[typed("a"), assistant("ok.")]));
    assert!(!answered(&[typed("a"), assistant("ok."), stopped.clone()]));
    assert!(!answered(&[typed("a"), assistant("ok."), typed("b")]));
    assert!(answered(&[typed("a"), assistant("ok."), stopped, typed("b"), assistant("ok.")]));
}

#[test]
fn only_the_person_switches_supervision() {
    let switched = |extra: Value, content: Value| {
        let transcript = read(&[with(user(content), &extra)]);
        transcript.switches.first().map(|switch| switch.on)
    };
    let off = command("supervisoroff", "");
    assert_eq!(switched(json!({}), json!(off)), Some(false));
    assert_eq!(switched(json!({}), json!(command("supervisor", "do it"))), Some(true));
    assert_eq!(switched(json!({"origin": {"kind": "human"}}), json!(off)), Some(false));
    for (extra, content) in [
        (json!({"isMeta": true}), json!(off)),
        (json!({"isSidechain": true}), json!(off)),
        (json!({"type": "assistant"}), json!(off)),
        (json!({"origin": {"kind": "peer"}}), json!(off)),
        (json!({}), json!([{"type": "tool_result", "content": off}])),
        (json!({}), json!(format!("look at this: {off}"))),
        (json!({}), json!(command("supervisors", ""))),
    ] {
        assert_eq!(switched(extra.clone(), content.clone()), None, "{extra} {content}");
    }
}

/// A switch that a hook executes does not reach the agent; the client only records it.
#[test]
fn a_blocked_switch_is_the_persons_too() {
    let blocked = |content: &str| json!({"type": "system", "subtype": "informational", "content": content, "timestamp": "t"});
    let off = "UserPromptExpansion operation blocked by hook:\nccc: off.\n\nOriginal prompt: /supervisoroff";
    let transcript = read(&[blocked(off), blocked(&off.replace("off", ""))]);
    let on: Vec<_> = transcript.switches.iter().map(|switch| switch.on).collect();
    assert_eq!(on, [false, true]);
    let others = [
        off.replace("Expansion", "Other"),
        off.replace("/supervisoroff", "no /supervisoroff"),
        format!("Original prompt: {off}"),
    ];
    assert!(read(&others.map(|text| blocked(&text))).switches.is_empty());
}

/// The agent can schedule a prompt, and the client announces when it is due.
#[test]
fn a_scheduled_switch_is_not_the_persons() {
    let off =
        "UserPromptSubmit operation blocked by hook:\nccc: off.\n\nOriginal prompt: /supervisoroff";
    let due = json!({"type": "system", "subtype": "scheduled_task_fire", "uuid": "u1", "content": "Running scheduled task"});
    let blocked = |parent: &str| {
        json!({"type": "system", "subtype": "informational", "content": off, "timestamp": "t",
               "uuid": "u2", "parentUuid": parent})
    };
    assert!(read(std::slice::from_ref(&due)).schedule_is_due());
    let scheduled = read(&[due.clone(), blocked("u1")]);
    assert!(scheduled.switches.is_empty() && !scheduled.schedule_is_due());
    assert_eq!(read(&[due, blocked("u1"), blocked("u2")]).switches.len(), 1);
}

#[test]
fn queued_messages_are_known() {
    let enqueue =
        |text: &str| json!({"type": "queue-operation", "operation": "enqueue", "content": text});
    let other = |operation: &str, text: &str| json!({"type": "queue-operation", "operation": operation, "content": text});
    let waits = |lines: &[Value]| read(lines).waiting().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(waits(&[enqueue("a"), enqueue("b")]), ["a", "b"]);
    assert_eq!(waits(&[enqueue("a"), other("dequeue", "")]), [""; 0]);
    assert_eq!(waits(&[enqueue("a"), enqueue("b"), other("remove", "b")]), ["a"]);
    assert_eq!(waits(&[enqueue("a"), enqueue("b"), other("popAll", "")]), [""; 0]);
    assert_eq!(
        waits(&[enqueue("<task-notification>x"), enqueue("a"), other("dequeue", "")]),
        ["a"]
    );
}

/// As older clients do under load.
#[test]
fn an_answer_written_before_its_message_undoes_nothing() {
    let at = |line: Value, id: &str, parent: Option<&str>| {
        with(line, &json!({"uuid": id, "parentUuid": parent}))
    };
    let lines = [
        at(assistant("working"), "b", Some("a")),
        at(typed("one"), "a", None),
        at(assistant("done"), "c", Some("b")),
        at(typed("two"), "d", Some("c")),
    ];
    for mut transcript in [ClientTranscript::whole(), ClientTranscript::default()] {
        lines.iter().for_each(|line| transcript.line(line.to_string().as_bytes()));
        assert_eq!(said(&transcript), ["one", "two"]);
    }
    // A cycle of parents must not loop for ever.
    let circle = [at(assistant("x"), "a", Some("b")), at(assistant("x"), "b", Some("a"))];
    assert_eq!(said(&read(&[&circle[..], &[at(typed("one"), "c", Some("a"))]].concat())), ["one"]);
}

/// After `/rewind`, the next message continues from an earlier entry.
#[test]
fn messages_undone_by_a_rewind_are_removed() {
    let at = |line: Value, id: &str, parent: Option<&str>| {
        with(line, &json!({"uuid": id, "parentUuid": parent}))
    };
    let mut lines = vec![
        // Its parent is older than what was read.
        at(typed("one"), "a", Some("older")),
        at(assistant("done"), "b", Some("a")),
        at(typed("two"), "c", Some("b")),
        at(assistant("done"), "d", Some("c")),
        at(typed("three"), "e", Some("d")),
    ];
    assert_eq!(read(&lines).take_unsaid(), None);
    lines.push(at(typed("four"), "f", Some("b")));
    let mut transcript = read(&lines);
    assert_eq!(said(&transcript), ["one", "four"]);
    let (first, unsaid) = transcript.take_unsaid().unwrap();
    assert_eq!((first, unsaid.len(), unsaid[0].text.as_str()), (1, 2, "two"));
    assert_eq!(transcript.take_unsaid(), None, "returned only once");
    // In a whole transcript, an unknown parent undoes nothing; otherwise it is older than
    // everything.
    lines.push(at(typed("and this"), "x", Some("unseen")));
    let mut whole = ClientTranscript::whole();
    lines.iter().for_each(|line| whole.line(line.to_string().as_bytes()));
    assert_eq!(said(&whole), ["one", "four", "and this"]);
    assert_eq!(said(&read(&lines)), ["and this"]);
    lines.pop();
    // A summary begins a new tree, and undoes nothing.
    lines.push(at(json!({"type": "system", "subtype": "compact_boundary"}), "g", None));
    lines.push(at(typed("five"), "h", Some("g")));
    assert_eq!(said(&read(&lines)), ["one", "four", "five"]);
    lines.push(at(typed("from the beginning"), "i", None));
    assert_eq!(said(&read(&lines)), ["from the beginning"]);
}
