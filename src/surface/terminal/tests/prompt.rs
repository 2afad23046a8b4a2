//! What helps a person to type.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::*;
use crate::event::GoBack;
use crate::machine::RewindPoint;
use crate::surface::ImageSource;
use crate::surface::terminal::help::KEYS;

const READY: &str = "ready · supervisor on · ? for keys · Ctrl-D exits";

fn bench(phase: Phase) -> Bench {
    let mut bench = Bench::new(80, 40).phase(phase);
    let paths = ["src/", "src/main.rs", "my notes.md"].iter().map(ToString::to_string).collect();
    let paths = Arc::new(paths);
    let files = Box::new(move || (Arc::clone(&paths), true));
    bench.terminal = bench.terminal.with_aids(Aids {
        history: vec!["first message".into(), "/clear".into()],
        files,
        ..Aids::default()
    });
    let init = r#"{"type":"system","subtype":"init","slash_commands":["clear","compact"]}"#;
    bench.terminal.agent(&sample::line(init));
    bench.update();
    bench
}

fn input(bench: &Bench) -> Vec<String> {
    bench.rows()[1..].to_vec()
}

#[test]
fn commands_are_completed() {
    let mut bench = bench(Phase::Waiting);
    bench.type_in("/c");
    assert_eq!(input(&bench)[..3], ["❯ /c", "❯ /clear", "  /compact"]);
    bench.key(KeyCode::Down);
    assert_eq!(input(&bench)[..3], ["❯ /c", "  /clear", "❯ /compact"]);
    assert_eq!(bench.key(KeyCode::Enter), None);
    assert_eq!(input(&bench), ["❯ /compact", READY]);
    bench.type_in("now");
    assert_eq!(bench.key(KeyCode::Enter), Some(said("/compact now")));
    bench.type_in("/clear");
    assert_eq!(bench.rows().len(), 4);
    assert_eq!(bench.key(KeyCode::Enter), Some(said("/clear")), "nothing left to complete");
}

#[test]
fn commands_that_arrive_while_one_is_typed_are_offered_at_once() {
    let answer = r#"{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"commands":[{"name":"s","description":"Add it up"},{"name":"clear","description":"Start anew"}]}}}"#;
    let told = |typed: &str, key: Option<KeyCode>| {
        let mut bench = Bench::new(80, 40);
        bench.type_in(typed);
        key.and_then(|key| bench.key(key));
        let before = input(&bench);
        bench.terminal.agent(&sample::line(answer));
        bench.update();
        (before, input(&bench))
    };
    let (before, after) = told("/cl", None);
    assert_eq!(before, ["❯ /cl", READY]);
    assert_eq!(after, ["❯ /cl", "❯ /clear  Start anew", READY]);
    // What Enter would choose stays the same.
    let (before, after) = told("/s", Some(KeyCode::Down));
    let off = "❯ /supervisoroff  turn reviews off";
    assert_eq!(before[2], off);
    assert_eq!(
        after[1..4],
        ["  /s              Add it up", before[1].replace('❯', " ").as_str(), off]
    );
    // No unwanted popup, and nothing in the transcript.
    for (typed, key) in
        [("clear", None), ("", None), ("/s", Some(KeyCode::Esc)), ("/cl", Some(KeyCode::Left))]
    {
        let (before, after) = told(typed, key);
        assert_eq!(before, after, "{typed:?}");
    }
}

#[test]
fn files_are_completed_step_by_step() {
    let mut bench = bench(Phase::Waiting);
    bench.type_in("see @sr");
    assert_eq!(input(&bench), ["❯ see @sr", "❯ src/", "  src/main.rs", READY]);
    bench.key(KeyCode::Tab);
    assert_eq!(input(&bench), ["❯ see @src/", "❯ src/main.rs", READY]);
    bench.key(KeyCode::Tab);
    assert_eq!(bench.cursor(), (1, 19));
    bench.type_in("@not");
    bench.key(KeyCode::Enter);
    assert_eq!(bench.key(KeyCode::Enter), Some(said("see @src/main.rs @\"my notes.md\" ")));
}

#[test]
fn escape_closes_the_popup_before_it_interrupts() {
    let mut bench = bench(Phase::Working);
    bench.type_in("@sr");
    assert_eq!(bench.rows().len(), 5);
    assert_eq!(bench.key(KeyCode::Esc), None);
    assert_eq!(bench.rows().len(), 3);
    bench.type_in("c");
    assert_eq!(bench.rows().len(), 5, "typing on opens it again");
    assert_eq!(bench.key(KeyCode::Esc), None);
    assert_eq!(bench.key(KeyCode::Esc), Some(Intent::Event(Event::Interrupt)));
}

#[test]
fn a_dismissal_is_forgotten_with_its_text() {
    let mut bench = bench(Phase::Waiting);
    bench.type_in("@sr");
    bench.key(KeyCode::Esc);
    bench.control('c');
    bench.type_in("/c");
    assert_eq!(input(&bench)[..3], ["❯ /c", "❯ /clear", "  /compact"]);
    bench.key(KeyCode::Esc);
    assert_eq!(bench.key(KeyCode::Enter), None, "there is no such command");
    bench.type_in("@sr");
    assert!(input(&bench).contains(&"❯ src/".to_owned()), "{:?}", input(&bench));
}

#[test]
fn an_earlier_message_opens_no_popup() {
    let mut bench = bench(Phase::Waiting);
    bench.key(KeyCode::Up);
    assert_eq!(input(&bench), ["❯ /clear", READY]);
    bench.key(KeyCode::Up);
    assert_eq!(input(&bench), ["❯ first message", READY]);
    bench.input(Input::Paste("/c".into()));
    assert_eq!(bench.rows().len(), 3);
}

#[test]
fn the_popup_appears_when_the_files_are_known() {
    let mut bench = Bench::new(80, 24);
    let known = Rc::new(RefCell::new(false));
    let seen = Rc::clone(&known);
    let files = Box::new(move || (Arc::new(vec!["a.rs".to_owned()]), *seen.borrow()));
    bench.terminal = bench.terminal.with_aids(Aids { files, ..Aids::default() });
    bench.type_in("@x");
    assert!(bench.terminal.redraw_in().is_some());
    *known.borrow_mut() = true;
    bench.update();
    assert_eq!(bench.terminal.redraw_in(), None);
}

#[test]
fn the_search_replaces_the_prompt() {
    let mut bench = bench(Phase::Working);
    bench.type_in("draft");
    bench.control('r');
    bench.type_in("mess");
    assert_eq!(bench.rows()[1], "search: mess ❯ first message");
    assert_eq!(bench.cursor(), (1, 21));
    bench.type_in("x");
    assert_eq!(bench.rows()[1], "no match: messx ❯ first message");
    assert_eq!(bench.key(KeyCode::Esc), None, "that was for the search");
    assert_eq!(bench.rows()[1], "❯ draft");
    bench.control('r');
    bench.type_in("first");
    assert_eq!(bench.key(KeyCode::Enter), None, "taken, not sent");
    assert_eq!(bench.rows()[1], "❯ first message");
    bench.control('r');
    bench.control('c');
    assert_eq!(bench.key(KeyCode::Enter), Some(said("first message")));
}

#[test]
fn sent_messages_are_remembered() {
    let mut bench = Bench::new(80, 24);
    let kept = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&kept);
    let remember = Box::new(move |text: &str| seen.borrow_mut().push(text.to_owned()));
    bench.terminal = bench.terminal.with_aids(Aids { remember, ..Aids::default() });
    let long = "row\n".repeat(40);
    bench.input(Input::Paste(long.clone()));
    bench.key(KeyCode::Enter);
    bench.key(KeyCode::Enter);
    assert_eq!(*kept.borrow(), [long]);
}

#[test]
fn a_question_mark_shows_the_keys_until_the_next_key() {
    let mut bench = bench(Phase::Waiting);
    assert_eq!(bench.key(KeyCode::Char('?')), None);
    let all = bench.rows().join("\n");
    assert!(KEYS.iter().all(|(key, what)| all.contains(key) && all.contains(what)), "{all}");
    assert_eq!(bench.last(), READY);
    // All of them in a window of the usual size; in a low one, a row that says there are more.
    bench.resize(80, 24);
    let all = bench.rows().join("\n");
    assert!(KEYS.iter().all(|(key, what)| all.contains(key) && all.contains(what)), "{all}");
    bench.resize(80, 12);
    let rows = bench.rows();
    assert_eq!(rows[rows.len() - 2..], ["… more in a taller window", READY]);
    bench.resize(80, 40);
    bench.type_in("a?");
    assert_eq!(input(&bench), ["❯ a?", READY]);
    bench.control('c');
    bench.type_in("??");
    assert_eq!(input(&bench), ["❯ ?", READY]);
}

#[test]
fn up_takes_a_queued_message_back() {
    let mut bench = bench(Phase::Working);
    bench.status.queued = vec!["one".into()];
    bench.update();
    assert_eq!(bench.key(KeyCode::Up), Some(Intent::Event(Event::TakeBack)));
    bench.type_in("new");
    assert_eq!(bench.key(KeyCode::Up), None);
    bench.control('c');
    bench.type_in("new");
    Surface::give_back(&mut bench.terminal, "one");
    bench.status.queued.clear();
    assert_eq!(bench.key(KeyCode::Enter), Some(said("one\nnew")));
}

#[test]
fn an_image_is_a_label_in_the_text() {
    let attach = |source| Some(Intent::Attach(source));
    let mut bench = bench(Phase::Waiting);
    assert_eq!(bench.control('v'), attach(ImageSource::Clipboard));
    bench.type_in("see ");
    let dropped = "'/tmp/my shot.PNG' ";
    let intents = bench.terminal.input(Input::Paste(dropped.into()));
    assert_eq!(intents, [Intent::Attach(ImageSource::Pasted(dropped.into()))]);
    Surface::attached(&mut bench.terminal, "[Image #1]");
    bench.type_in("there");
    assert_eq!(bench.key(KeyCode::Enter), Some(said("see [Image #1] there")));
    for text in ["a.png is\nhere", "a.png and more", "png"] {
        assert_eq!(bench.terminal.input(Input::Paste(text.into())), [], "{text}");
        bench.control('c');
    }
    bench.type_in("/image '../my shot.png'");
    bench.key(KeyCode::Esc);
    let named = ImageSource::Path("../my shot.png".into());
    assert_eq!(bench.key(KeyCode::Enter), attach(named));
}

#[test]
fn a_slash_command_is_not_sent_with_the_output_of_a_command() {
    let mut bench = bench(Phase::Waiting);
    bench.terminal.ran("ls", "a\nb");
    bench.type_in("/compact");
    assert_eq!(bench.key(KeyCode::Enter), Some(said("/compact")));
    bench.type_in("go on");
    let Some(Intent::Event(Event::Said(text))) = bench.key(KeyCode::Enter) else { panic!("sent") };
    assert!(text.contains("$ ls\na\nb") && text.ends_with("go on"), "{text}");
}

#[test]
fn the_text_is_edited_in_the_external_editor() {
    let mut bench = bench(Phase::Working);
    let long = "row\n".repeat(40);
    bench.type_in("see ");
    bench.input(Input::Paste(long.clone()));
    assert_eq!(bench.control('g'), Some(Intent::Edit(format!("see {long}"))));
    bench.terminal.suspend();
    bench.update();
    assert_eq!(bench.terminal.redraw_in(), None, "nothing is drawn meanwhile");
    assert_eq!(bench.key(KeyCode::Char('x')), None);
    bench.terminal.resume();
    bench.terminal.edited(Err("vi exited with code 1".into()));
    bench.update();
    assert_eq!(bench.rows()[0], "The text was left unchanged: vi exited with code 1.");
    assert!(bench.rows()[2].starts_with("❯ see [pasted 40 lines]"));
    bench.terminal.edited(Ok("all\nnew\n".into()));
    assert_eq!(bench.key(KeyCode::Enter), Some(said("all\nnew")));
}

#[test]
fn a_long_line_of_a_diff_stays_behind_its_mark() {
    let mut bench = Bench::new(24, 24).phase(Phase::Waiting);
    let patch = "diff --git a/x b/x\n@@ -1 +1 @@\n+one two three four five six\n";
    assert!(bench.terminal.diff(patch));
    bench.update();
    assert_eq!(bench.rows()[..4], ["x", "  @@ -1 +1 @@", "  +one two three four", "    five six"]);
}

#[test]
fn commands_for_ccc_are_not_sent() {
    let entered = |text: &str| {
        let mut bench = Bench::new(80, 24);
        bench.type_in(text);
        // The popup would take the first Enter.
        bench.terminal.desk.completion.close();
        let intent = bench.key(KeyCode::Enter);
        (bench, intent)
    };
    for text in ["exit", "quit", "/exit"] {
        assert_eq!(entered(text).1, Some(Intent::Event(Event::Leave)), "{text}");
    }
    assert_eq!(entered("!ls").1, Some(Intent::Shell("ls".into())));
    assert_eq!(entered("#use tabs").1, Some(Intent::Note("use tabs".into())));
    let (mut bench, intent) = entered("/cost");
    assert_eq!(intent, None);
    assert!(bench.rows().join(" ").contains("reviews  $0.00"), "{:?}", bench.rows());
    let (help, intent) = entered("/help");
    assert!(intent.is_none() && help.rows().join(" ").contains("Ctrl-O"), "{:?}", help.rows());
    bench.terminal.ran("make", "no rule\n");
    bench.type_in("why?");
    let sent = "I ran this command myself:\n```\n$ make\nno rule\n```\n\nwhy?";
    assert_eq!(bench.key(KeyCode::Enter), Some(said(sent)));
    bench.type_in("again");
    assert_eq!(bench.key(KeyCode::Enter), Some(said("again")));
}

/// What the transcript shortens can be read in full.
#[test]
fn the_pager_shows_everything() {
    let mut bench = Bench::new(80, 24);
    let lines: Vec<String> = (0..50).map(|number| format!("line-{number}")).collect();
    let output = serde_json::to_string(&lines.join("\n")).unwrap();
    for line in [
        r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"zq-one\nzq-two"},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"seq"}}]}}"#.to_owned(),
        format!(r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t","content":{output}}}]}}}}"#),
    ] {
        bench.terminal.agent(&sample::line(&line));
    }
    bench.update();
    assert!(!bench.rows().join(" ").contains("line-40"), "{:?}", bench.rows());
    let Some(Intent::Page(text)) = bench.control('o') else { panic!("no pager") };
    for part in ["zq-two", "● Bash seq", "line-0\n", "line-49"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn escape_twice_offers_earlier_messages_to_go_back_to() {
    let mut bench = bench(Phase::Waiting);
    let point = |uuid: &str, text: &str, round| RewindPoint {
        uuid: uuid.into(),
        text: text.into(),
        round,
        better: round.is_some(),
    };
    assert_eq!(bench.key(KeyCode::Esc), None);
    assert_eq!(bench.last(), "press Esc again to go back to an earlier message");
    bench.wait(3000);
    assert_eq!(bench.last(), READY, "it fades");
    bench.key(KeyCode::Esc);
    bench.key(KeyCode::Esc);
    assert!(bench.rows().join("\n").contains("no earlier message"), "{:?}", bench.rows());
    bench.status.points = vec![point("u2", "add tests\nfor it", Some(1)), point("u1", "fix", None)];
    bench.update();
    bench.key(KeyCode::Esc);
    bench.key(KeyCode::Esc);
    let rows = bench.rows().join("\n");
    for row in
        ["before which message?", "❯ round 1 was sent back (better than now): add tests …", "  fix"]
    {
        assert!(rows.contains(row), "{row}: {rows}");
    }
    bench.key(KeyCode::Down);
    assert_eq!(bench.key(KeyCode::Enter), None);
    assert!(bench.rows().join("\n").contains("❯ The conversation and the files"));
    bench.type_in("only");
    bench.key(KeyCode::Down);
    let event = Event::GoBack { uuid: "u1".into(), what: GoBack::Files };
    assert_eq!(bench.key(KeyCode::Enter), Some(Intent::Event(event)));
    assert_eq!(bench.last(), READY);
    // Text that is being typed is not lost.
    bench.type_in("x");
    bench.key(KeyCode::Esc);
    bench.key(KeyCode::Esc);
    assert!(bench.rows().ends_with(&["❯ x".to_owned(), READY.to_owned()]), "{:?}", bench.rows());
}
