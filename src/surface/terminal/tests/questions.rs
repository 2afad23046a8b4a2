//! Questions and the keys that answer them.

use super::*;

pub fn question(asker: Asker) -> Question {
    let request = PermissionRequest {
        tool: "Bash".into(),
        input: r#"{"command":"rm -rf target\necho done"}"#.into(),
        description: "Clean up".into(),
        suggestions: Some(r#"[{"type":"addRules"}]"#.into()),
    };
    Question { asker, request_id: "r1".into(), asked: request }
}

const ANSWERS: [&str; 2] =
    ["Allow Bash?  [y] once  [a] always for this session  [n] deny", "[d] deny and say why"];

fn asked(before: &str) -> Bench {
    let mut bench = Bench::new(80, 24).phase(Phase::Working);
    bench.type_in(before);
    bench.terminal.ask(&question(Asker::Agent));
    bench.update();
    bench
}

/// Asked, and long enough ago to be answered.
fn ready() -> Bench {
    let mut bench = asked("");
    bench.wait(500);
    bench
}

fn answered(answer: Permission) -> Intent {
    Intent::Event(Event::Answered { request_id: "r1".into(), answer })
}

fn denied() -> Intent {
    answered(Permission::Deny("The user does not allow this.".into()))
}

#[test]
fn all_of_it_is_on_the_screen() {
    let bench = ready();
    assert_eq!(
        bench.rows(),
        [
            "? The agent asks to use Bash",
            "  Clean up",
            "  command:",
            "    rm -rf target",
            "    echo done",
            "",
            "❯",
            ANSWERS[0],
            ANSWERS[1],
        ]
    );
    assert!(bench.terminal.screen.parser.screen().hide_cursor());
}

#[test]
fn keys_answer() {
    assert_eq!(ready().key(KeyCode::Char('y')), Some(answered(Permission::Once)));
    assert_eq!(ready().key(KeyCode::Char('a')), Some(answered(Permission::Always)));
    assert_eq!(ready().key(KeyCode::Char('n')), Some(denied()));
    assert_eq!(ready().key(KeyCode::Esc), Some(denied()));
    assert_eq!(ready().control('c'), Some(Intent::Event(Event::Interrupt)));
    let mut bench = ready();
    for code in [KeyCode::Enter, KeyCode::Char(' '), KeyCode::Char('x'), KeyCode::Up] {
        assert_eq!(bench.key(code), None);
    }
    assert_eq!(bench.press(KeyCode::Char('y'), KeyModifiers::ALT), None);
    assert_eq!(bench.last(), ANSWERS[1]);
    assert_eq!(bench.key(KeyCode::Char('y')), Some(answered(Permission::Once)));
    assert_eq!(bench.last(), "⠴ working 0:00 · round 1/10 · claude-test · Esc interrupts");
    bench.type_in("y");
}

#[test]
fn always_only_where_the_client_knows_what_it_means() {
    for suggestions in [None, Some("[]".to_owned())] {
        let mut bench = Bench::new(80, 24);
        let mut question = question(Asker::Supervisor);
        question.asked.suggestions = suggestions;
        bench.terminal.ask(&question);
        bench.update();
        bench.wait(500);
        assert_eq!(
            bench.last(),
            "Allow Bash (supervisor)?  [y] once  [n] deny  [d] deny and say why"
        );
        assert_eq!(bench.key(KeyCode::Char('a')), None);
    }
}

#[test]
fn a_no_with_a_reason() {
    let mut bench = ready();
    assert_eq!(bench.key(KeyCode::Char('d')), None);
    bench.type_in("use cargo clean");
    assert_eq!(bench.rows()[6..], ["Why? use cargo clean", "Enter denies  Esc goes back"]);
    assert_eq!(
        bench.key(KeyCode::Enter),
        Some(answered(Permission::Deny("use cargo clean".into())))
    );
    let mut bench = ready();
    bench.key(KeyCode::Char('d'));
    assert_eq!(bench.key(KeyCode::Esc), None);
    assert_eq!(bench.last(), ANSWERS[1]);
    bench.key(KeyCode::Char('d'));
    assert_eq!(bench.key(KeyCode::Enter), Some(denied()));
}

#[test]
fn who_is_typing_goes_on_typing() {
    let mut bench = asked("tell me wh");
    bench.wait(500);
    bench.type_in("y and");
    assert_eq!(bench.last(), "Allow Bash?  [Tab] to answer");
    assert_eq!(bench.rows()[6], "❯ tell me why and");
    assert_eq!(bench.key(KeyCode::Tab), None);
    assert_eq!(bench.last(), ANSWERS[1]);
    assert_eq!(bench.key(KeyCode::Char('y')), Some(answered(Permission::Once)));
    assert_eq!(bench.rows()[6], "❯ tell me why and");
    bench.type_in("!");
    assert_eq!(bench.key(KeyCode::Enter), Some(said("tell me why and!")));
}

#[test]
fn a_key_that_was_on_its_way_is_no_answer() {
    let mut bench = asked("");
    assert_eq!(bench.last(), "Allow Bash?");
    assert!(bench.terminal.redraw_in().is_some());
    bench.wait(300);
    bench.type_in("yes, and");
    bench.wait(500);
    assert_eq!(bench.last(), "Allow Bash?  [Tab] to answer");
    assert_eq!(bench.key(KeyCode::Enter), Some(said("yes, and")));
    bench.type_in("y");
    assert_eq!(bench.rows()[6], "❯ y");
}

#[test]
fn a_paste_is_no_answer() {
    let mut bench = ready();
    assert!(bench.input(Input::Paste("y".into())).is_empty());
    assert_eq!(bench.rows()[6], "❯ y");
}

#[test]
fn the_next_question_waits_too() {
    let mut bench = ready();
    bench.key(KeyCode::Char('y'));
    bench.terminal.ask(&question(Asker::Agent));
    bench.update();
    assert_eq!(bench.key(KeyCode::Char('y')), None);
}

#[test]
fn taken_back() {
    let mut bench = ready();
    bench.key(KeyCode::Char('d'));
    bench.type_in("because");
    bench.terminal.unask();
    bench.update();
    assert_eq!(bench.rows()[5..8], ["The question was taken back.", "", "❯"]);
    assert_eq!(bench.key(KeyCode::Enter), None);
}

#[test]
fn a_narrow_screen_has_room_for_all_answers() {
    let mut bench = ready();
    bench.resize(30, 24);
    let rows = bench.rows();
    assert_eq!(
        rows[rows.len() - 3..],
        ["Allow Bash?  [y] once", "[a] always for this session", "[n] deny  [d] deny and say why"]
    );
}

#[test]
fn a_form_is_answered_by_number_or_in_words() {
    let input = r#"{"questions":[{"question":"Which?","options":[{"label":"Red"},{"label":"Blue"}]},{"question":"Why?"}]}"#;
    let request = PermissionRequest {
        tool: "AskUserQuestion".into(),
        input: input.into(),
        ..Default::default()
    };
    let mut bench = Bench::new(80, 24).phase(Phase::Working);
    bench.terminal.ask(&Question { asker: Asker::Agent, request_id: "r1".into(), asked: request });
    bench.update();
    bench.wait(500);
    assert_eq!(bench.key(KeyCode::Char('y')), None);
    bench.type_in("2");
    assert_eq!(bench.key(KeyCode::Enter), None);
    bench.type_in("it is calm");
    let pairs = [("Which?", "Blue"), ("Why?", "it is calm")];
    let answers = pairs.map(|(question, answer)| (question.to_owned(), answer.to_owned()));
    assert_eq!(bench.key(KeyCode::Enter), Some(answered(Permission::Answers(answers.to_vec()))));
}
