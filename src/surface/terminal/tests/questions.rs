//! Questions and the keys that answer them.

use super::*;

pub fn question(asker: Asker) -> Question {
    let request = PermissionRequest {
        tool: "Bash".into(),
        input: r#"{"command":"rm -rf target\necho done"}"#.into(),
        description: "Clean up".into(),
        suggestions: Some(r#"[{"type":"addRules"}]"#.into()),
    };
    Question { asker, request_id: "r1".into(), asked: request, before: None }
}

const ANSWERS: [&str; 6] = [
    "Allow Bash?",
    "❯ 1. Yes, once",
    "  2. Yes, always in this session",
    "  3. No",
    "  4. No, and say why",
    "Enter to choose, Tab to type a message, Esc to decline",
];

fn asked(before: &str) -> Bench {
    let mut bench = Bench::new(80, 24).phase(Phase::Working);
    bench.type_in(before);
    bench.terminal.ask(&question(Asker::Agent));
    bench.update();
    bench
}

/// Asked long enough ago to be answered.
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
fn a_narrow_screen_says_how_to_decline() {
    let mut bench = Bench::new(40, 24).phase(Phase::Working);
    bench.terminal.ask(&question(Asker::Agent));
    bench.update();
    bench.wait(500);
    assert_eq!(bench.rows().last().unwrap(), "Enter to choose, Esc to decline");
}

#[test]
fn the_whole_question_is_on_the_screen() {
    let bench = ready();
    assert_eq!(
        bench.rows(),
        [
            "? The agent wants to use Bash",
            "  Clean up",
            "  command:",
            "    rm -rf target",
            "    echo done",
            "",
            "❯",
            ANSWERS[0],
            ANSWERS[1],
            ANSWERS[2],
            ANSWERS[3],
            ANSWERS[4],
            ANSWERS[5],
        ]
    );
    assert!(bench.terminal.screen.parser.screen().hide_cursor());
}

#[test]
fn keys_choose_an_answer() {
    let chosen = |number: char| {
        let mut bench = ready();
        assert_eq!(bench.key(KeyCode::Char(number)), None, "no single key answers");
        bench.key(KeyCode::Enter)
    };
    assert_eq!(ready().key(KeyCode::Enter), Some(answered(Permission::Once)));
    assert_eq!(chosen('1'), Some(answered(Permission::Once)));
    assert_eq!(chosen('2'), Some(answered(Permission::Always)));
    assert_eq!(chosen('3'), Some(denied()));
    assert_eq!(chosen('9'), Some(answered(Permission::Once)), "there is no such number");
    assert_eq!(ready().key(KeyCode::Esc), Some(denied()));
    assert_eq!(ready().control('c'), Some(Intent::Event(Event::Interrupt)));
    let mut bench = ready();
    for code in [KeyCode::Down, KeyCode::Up, KeyCode::Up, KeyCode::Up] {
        assert_eq!(bench.key(code), None);
    }
    assert_eq!(bench.press(KeyCode::Char('y'), KeyModifiers::ALT), None);
    assert_eq!(bench.key(KeyCode::Enter), Some(denied()));
    assert_eq!(bench.last(), "⠴ working 0:00 · round 1/10 · Esc interrupts");
}

/// "a" once meant "always, all edits".
#[test]
fn no_letter_is_an_answer() {
    for letter in 'a'..='z' {
        let mut bench = ready();
        assert_eq!(bench.key(KeyCode::Char(letter)), None);
        bench.wait(1000);
        assert_eq!(bench.rows()[6], format!("❯ {letter}"));
        assert_eq!(bench.last(), "Allow Bash?  Tab to answer");
    }
    let mut bench = ready();
    bench.type_in("actually use another file");
    assert_eq!(bench.key(KeyCode::Enter), Some(said("actually use another file")));
    for (typed, answer) in [("y", answered(Permission::Once)), ("No", denied())] {
        let mut bench = ready();
        bench.type_in(typed);
        assert_eq!(bench.key(KeyCode::Enter), Some(answer));
    }
}

#[test]
fn always_is_offered_only_if_the_client_suggests_it() {
    for suggestions in [None, Some("[]".to_owned())] {
        let mut bench = Bench::new(80, 24);
        let mut question = question(Asker::Supervisor);
        question.asked.suggestions = suggestions;
        bench.terminal.ask(&question);
        bench.update();
        bench.wait(500);
        let rows = bench.rows();
        assert_eq!(rows[rows.len() - 5], "Allow Bash (supervisor)?");
        assert!(!rows.join(" ").contains("always"), "{rows:?}");
    }
}

#[test]
fn a_denial_with_a_reason() {
    let mut bench = ready();
    bench.key(KeyCode::Char('4'));
    assert_eq!(bench.key(KeyCode::Enter), None);
    bench.type_in("use cargo clean");
    assert_eq!(bench.rows()[6..], ["Why? use cargo clean", "Enter to deny, Esc to go back"]);
    assert_eq!(
        bench.key(KeyCode::Enter),
        Some(answered(Permission::Deny("use cargo clean".into())))
    );
    let mut bench = ready();
    bench.key(KeyCode::Char('4'));
    bench.key(KeyCode::Enter);
    assert_eq!(bench.key(KeyCode::Esc), None);
    assert_eq!(bench.last(), ANSWERS[5]);
    bench.key(KeyCode::Enter);
    assert_eq!(bench.key(KeyCode::Enter), Some(denied()));
}

#[test]
fn a_question_does_not_interrupt_typing() {
    let mut bench = asked("tell me wh");
    bench.wait(500);
    bench.type_in("y and");
    assert_eq!(bench.last(), "Allow Bash?  Tab to answer");
    assert_eq!(bench.rows()[6], "❯ tell me why and");
    assert_eq!(bench.key(KeyCode::Tab), None);
    assert_eq!(bench.last(), ANSWERS[5]);
    assert_eq!(bench.key(KeyCode::Enter), Some(answered(Permission::Once)));
    assert_eq!(bench.rows()[6], "❯ tell me why and");
    bench.type_in("!");
    assert_eq!(bench.key(KeyCode::Enter), Some(said("tell me why and!")));
}

#[test]
fn a_key_pressed_too_early_is_not_an_answer() {
    let mut bench = asked("");
    assert_eq!(bench.last(), "Allow Bash?");
    assert!(bench.terminal.redraw_in().is_some());
    bench.wait(300);
    bench.type_in("yes, and");
    bench.wait(500);
    assert_eq!(bench.last(), "Allow Bash?  Tab to answer");
    assert_eq!(bench.key(KeyCode::Enter), Some(said("yes, and")));
    bench.type_in("y");
    assert_eq!(bench.rows()[6], "❯ y");
}

#[test]
fn an_enter_pressed_too_early_leaves_the_question_open() {
    let mut bench = asked("");
    bench.wait(300);
    assert_eq!(bench.key(KeyCode::Enter), None);
    bench.wait(200);
    assert_eq!(bench.key(KeyCode::Enter), None, "still too close to the first");
    bench.wait(500);
    assert_eq!(bench.rows()[7..], ANSWERS);
    assert_eq!(bench.key(KeyCode::Enter), Some(answered(Permission::Once)));
}

#[test]
fn a_paste_is_not_an_answer() {
    let mut bench = ready();
    assert!(bench.input(Input::Paste("y".into())).is_empty());
    assert_eq!(bench.rows()[6], "❯ y");
}

#[test]
fn the_next_question_waits_too() {
    let mut bench = ready();
    bench.key(KeyCode::Enter);
    bench.terminal.ask(&question(Asker::Agent));
    bench.update();
    assert_eq!(bench.key(KeyCode::Enter), None);
}

#[test]
fn a_withdrawn_question_disappears() {
    let mut bench = ready();
    bench.key(KeyCode::Char('4'));
    bench.key(KeyCode::Enter);
    bench.type_in("because");
    bench.terminal.unask();
    bench.update();
    assert_eq!(bench.rows()[5..8], ["The question was withdrawn.", "", "❯"]);
    assert_eq!(bench.key(KeyCode::Enter), None);
}

#[test]
fn a_narrow_screen_has_room_for_all_answers() {
    let mut bench = ready();
    bench.resize(30, 11);
    let rows = bench.rows();
    assert_eq!(
        rows[rows.len() - 3..],
        [
            "Allow Bash? ❯ 1. Yes, once",
            "  2. Yes, always in this sess…",
            "  3. No   4. No, and say why"
        ]
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
    bench.terminal.ask(&Question {
        asker: Asker::Agent,
        request_id: "r1".into(),
        asked: request,
        before: None,
    });
    bench.update();
    bench.wait(500);
    let rows = bench.rows();
    assert_eq!(rows[rows.len() - 6], "1/2 Which?");
    bench.type_in("2");
    assert_eq!(bench.key(KeyCode::Enter), None);
    bench.type_in("it is calm");
    let pairs = [("Which?", "Blue"), ("Why?", "it is calm")];
    let answers = pairs.map(|(question, answer)| (question.to_owned(), answer.to_owned()));
    assert_eq!(bench.key(KeyCode::Enter), Some(answered(Permission::Answers(answers.to_vec()))));
}

/// The number that chose where the words go is no part of them.
#[test]
fn words_after_the_choice_that_takes_words_are_its_words() {
    let mut bench = ready();
    bench.type_in("4not there");
    assert_eq!(bench.key(KeyCode::Enter), Some(answered(Permission::Deny("not there".into()))));
    let mut bench = ready();
    bench.key(KeyCode::Up);
    bench.type_in("not there");
    assert_eq!(bench.key(KeyCode::Enter), Some(answered(Permission::Deny("not there".into()))));
    let mut bench = ready();
    bench.type_in("4 files are enough");
    assert_eq!(bench.key(KeyCode::Enter), Some(said("4 files are enough")));
}

#[test]
fn several_options_of_a_form_are_marked() {
    let input = r#"{"questions":[{"question":"Which?","multiSelect":true,"options":[{"label":"Red"},{"label":"Blue"},{"label":"Grey"}]}]}"#;
    let request = PermissionRequest {
        tool: "AskUserQuestion".into(),
        input: input.into(),
        ..Default::default()
    };
    let mut bench = Bench::new(80, 24).phase(Phase::Working);
    bench.terminal.ask(&Question {
        asker: Asker::Agent,
        request_id: "r1".into(),
        asked: request,
        before: None,
    });
    bench.update();
    bench.wait(500);
    bench.type_in("3 1 2  ");
    let rows = bench.rows();
    assert_eq!(
        rows[rows.len() - 6..rows.len() - 3],
        ["  1. [x] Red", "❯ 2. [ ] Blue", "  3. [x] Grey"]
    );
    let answers = vec![("Which?".to_owned(), "Red, Grey".to_owned())];
    assert_eq!(bench.key(KeyCode::Enter), Some(answered(Permission::Answers(answers))));
}

#[test]
fn a_long_question_stays_in_view_and_opens_in_the_pager() {
    let content = (1..=60).map(|at| format!("line {at}\\n")).collect::<Vec<_>>().concat();
    let asked = PermissionRequest {
        tool: "Write".into(),
        input: format!(r#"{{"file_path":"long.txt","content":"{content}"}}"#),
        ..Default::default()
    };
    let mut bench = Bench::new(80, 24).phase(Phase::Working);
    let asker = Asker::Agent;
    bench.terminal.ask(&Question { asker, request_id: "r1".into(), asked, before: None });
    bench.update();
    bench.wait(500);
    let rows = bench.rows();
    assert!(rows.iter().any(|row| row == "Allow Write long.txt?"), "{rows:#?}");
    assert!(bench.last().starts_with("Ctrl-O to see all of it, "), "{rows:#?}");
    let Some(Intent::Page(text)) = bench.control('o') else { panic!("no page") };
    assert!(text.starts_with("? The agent wants to use Write long.txt  +60 -0\n"), "{text}");
    assert!(text.contains("60 + line 60") && !text.contains("Allow"), "{text}");
}
