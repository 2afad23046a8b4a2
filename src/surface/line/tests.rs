use super::super::{Glyphs, sample};
use super::*;
use crate::client::stream::{Permission, PermissionRequest};
use crate::event::{Asker, Outcome};

const LOOK: Look = Look {
    glyphs: Glyphs::ascii(),
    phases: true,
    rich: false,
    ..super::super::transcript::tests::LOOK
};

struct LineDesk {
    surface: LineSurface<Vec<u8>>,
    status: Status,
    now: Now,
}

impl LineDesk {
    fn new(echoed: bool) -> Self {
        let surface = LineSurface::new(Vec::new(), LOOK, echoed);
        Self { surface, status: sample::status(), now: Now::ZERO }
    }

    fn working() -> Self {
        let mut desk = Self::new(true);
        desk.status.phase = Phase::Working;
        desk.shown();
        desk
    }

    /// A question that has been visible long enough to be answered.
    fn asked(question: &Question) -> Self {
        let mut desk = Self::working();
        desk.surface.ask(question);
        desk.shown();
        desk.after(SETTLE);
        desk
    }

    /// The new output.
    fn shown(&mut self) -> String {
        self.surface.update(&self.status, self.now).unwrap();
        String::from_utf8(std::mem::take(&mut self.surface.text.out)).unwrap()
    }

    fn after(&mut self, time: Duration) -> String {
        self.now += time;
        self.shown()
    }

    fn types(&mut self, line: &str) -> Vec<Intent> {
        self.surface.typed(Typed::Line(line.to_owned()))
    }
}

fn said(text: &str) -> Vec<Intent> {
    vec![Intent::Event(Event::Said(text.to_owned()))]
}

fn answered(answer: Permission) -> Vec<Intent> {
    vec![Intent::Event(Event::Answered { request_id: "r1".into(), answer })]
}

fn question(tool: &str, input: &str, suggestions: Option<&str>) -> Question {
    let asked = PermissionRequest {
        tool: tool.into(),
        input: input.into(),
        suggestions: suggestions.map(str::to_owned),
        ..PermissionRequest::default()
    };
    Question { asker: Asker::Agent, request_id: "r1".into(), asked, before: None }
}

fn bash() -> Question {
    question("Bash", r#"{"command":"rm -rf build"}"#, None)
}

#[test]
fn a_whole_session_in_lines() {
    let mut desk = LineDesk::new(true);
    desk.surface.notice(&Notice::Started { supervising: true, max_iterations: 10 });
    assert_eq!(desk.shown(), "Supervisor mode enabled - up to 10 reviews\n> ");
    assert_eq!(desk.shown(), "", "the marker stands there once");
    assert_eq!(desk.types("fix it"), said("fix it"));
    desk.surface.notice(&Notice::UserMessage { text: "fix it".into() });
    desk.surface.notice(&Notice::Phase { phase: Phase::Working, round: 0, max: 10 });
    desk.status.phase = Phase::Working;
    assert_eq!(desk.shown(), "\n-- working - round 1/10 --\n", "the terminal has echoed the rest");
    assert_eq!(desk.types("and test it"), said("and test it"), "at once");
    desk.surface.close(&sample::report(Outcome::Ended)).unwrap();
    assert!(desk.shown().starts_with("\nSession ended - 1 round"));
}

#[test]
fn typed_lines_are_written_to_a_pipe() {
    let mut desk = LineDesk::new(false);
    assert_eq!(desk.shown(), "> ");
    desk.types("fix\nit");
    desk.surface.notice(&Notice::UserMessage { text: "fix\nit".into() });
    desk.status.phase = Phase::Working;
    assert_eq!(desk.shown(), "fix\nit\n");
    desk.types("\x1b[2Jgo on");
    desk.surface.notice(&Notice::UserMessage { text: "go on".into() });
    assert_eq!(desk.shown(), "> go on\n");
    desk.surface.notice(&Notice::UserMessage { text: "of somebody else".into() });
    assert_eq!(desk.shown(), "> of somebody else\n");
}

#[test]
fn output_begins_below_the_marker() {
    let mut desk = LineDesk::new(true);
    desk.shown();
    desk.surface.notice(&Notice::Interrupted);
    assert_eq!(desk.shown(), "\nInterrupted.\n> ");
    desk.surface.resume();
    assert_eq!(desk.shown(), "> ", "the shell wrote in between");
}

#[test]
fn a_backslash_continues_in_the_next_line() {
    let mut desk = LineDesk::new(true);
    desk.shown();
    assert_eq!(desk.types("one\\"), []);
    assert_eq!(desk.shown(), "... ");
    assert_eq!(desk.types("two\\"), []);
    assert_eq!(desk.types("three"), said("one\ntwo\nthree"));
    assert_eq!(desk.types("   "), [], "nothing to send");
    desk.types("one\\");
    assert_eq!(desk.surface.interrupt(), Some(vec![]));
    assert!(desk.shown().contains("Discarded what you typed."));
    assert_eq!(desk.types("two"), said("two"));
}

#[test]
fn a_refused_line_is_not_sent() {
    let mut desk = LineDesk::new(true);
    desk.shown();
    desk.types("begin\\");
    desk.shown();
    assert_eq!(desk.surface.typed(Typed::Refused("Too long.")), []);
    let shown = desk.shown();
    assert!(shown.starts_with("Too long.\n") && shown.ends_with("> "), "{shown}");
}

#[test]
fn permission_by_letter() {
    let deny = |why: &str| answered(Permission::Deny(why.to_owned()));
    for (typed, always, expected) in [
        ("y", false, answered(Permission::Once)),
        (" YES ", false, answered(Permission::Once)),
        ("always", true, answered(Permission::Always)),
        ("a", true, vec![]),
        ("always", false, vec![]),
        ("n", false, deny("The user does not allow this.")),
        ("d", false, deny("The user does not allow this.")),
        ("d use  make clean", false, deny("use  make clean")),
        ("", false, vec![]),
        ("yes please", false, vec![]),
        ("do it", false, vec![]),
    ] {
        let suggestions = always.then_some(r#"[{"type":"addRules"}]"#);
        let mut desk = LineDesk::asked(&question("Bash", "{}", suggestions));
        assert_eq!(desk.types(typed), expected, "{typed:?}");
        let shown = desk.shown();
        let open = shown.contains("Type y") && shown.contains("Allow Bash? [y/");
        assert_eq!(open, expected.is_empty(), "{typed:?}: {shown}");
    }
}

#[test]
fn the_marker_of_a_question_names_the_file() {
    let after = |tool: &str, input: &str| {
        LineDesk::asked(&question(tool, input, None)).surface.question_marker().text()
    };
    assert_eq!(
        after("Write", r#"{"file_path":"a.py","content":"x"}"#),
        "Allow Write a.py? [y/n/d] "
    );
    let plan = after("ExitPlanMode", r##"{"plan":"# Plan"}"##);
    assert_eq!(plan, "Go ahead with this plan? [y/edits/n/d] ");
}

#[test]
fn a_question_is_shown_in_full_and_then_waits() {
    let mut desk = LineDesk::working();
    desk.surface.ask(&bash());
    assert_eq!(
        desk.shown(),
        "? The agent wants to use Bash\n  command: rm -rf build\n\
         Type y to allow it once, n to deny it, or d followed by a reason.\n"
    );
    assert_eq!(desk.surface.redraw_in(), Some(SETTLE));
    assert_eq!(desk.types("y"), said("y"), "typed before it could be read");
    assert_eq!(
        desk.shown(),
        "Sent as a message, because you typed it before the question appeared.\n"
    );
    assert_eq!(desk.after(SETTLE), "Allow Bash? [y/n/d] ");
    desk.surface.notice(&Notice::Interrupted);
    assert_eq!(desk.shown(), "\nInterrupted.\nAllow Bash? [y/n/d] ", "it is still open");
    desk.surface.unask();
    assert_eq!(desk.shown(), "\nThe question was withdrawn.\n");
    assert_eq!(desk.types("y"), said("y"));
}

#[test]
fn an_invalid_answer_can_still_be_sent_as_a_message() {
    let mut desk = LineDesk::asked(&bash());
    assert_eq!(desk.types("m"), [], "there is nothing to send yet");
    assert_eq!(desk.types("look at the tests first"), []);
    assert!(desk.shown().contains("was not sent; type m to send it"));
    assert_eq!(desk.types("m"), said("look at the tests first"));
    assert_eq!(desk.types("y"), answered(Permission::Once), "the question is still open");
}

#[test]
fn a_text_begun_before_the_question_does_not_answer_it() {
    let mut desk = LineDesk::working();
    desk.types("first\\");
    desk.surface.ask(&bash());
    desk.shown();
    desk.after(SETTLE);
    assert_eq!(desk.types("y"), said("first\ny"));
    assert_eq!(desk.types("y"), answered(Permission::Once));
}

#[test]
fn a_form_is_answered_question_by_question() {
    let form = r#"{"questions":[{"question":"Which?","options":[{"label":"Red"},{"label":"Blue"}]},
                                {"question":"How?"}]}"#;
    let mut desk = LineDesk::working();
    desk.surface.ask(&question("AskUserQuestion", form, None));
    let shown = desk.shown();
    assert!(shown.contains("? Which?\n  1. Red") && shown.contains("\n1/2 Which?\nType a number"));
    assert_eq!(desk.after(SETTLE), "Answer 1/2? ");
    assert_eq!(desk.types(""), []);
    assert_eq!(desk.types("2"), []);
    let shown = desk.shown();
    assert!(shown.contains("  Blue\n2/2 How?") && shown.ends_with("\nAnswer 2/2? "), "{shown}");
    let answers = vec![("Which?".into(), "Blue".into()), ("How?".into(), "n".into())];
    assert_eq!(desk.types("n"), answered(Permission::Answers(answers)));
    let mut desk = LineDesk::asked(&question("AskUserQuestion", form, None));
    let declined = Permission::Deny("The user does not allow this.".into());
    assert_eq!(desk.types("decline"), answered(declined));
}

#[test]
fn control_c_interrupts_and_twice_leaves() {
    let mut desk = LineDesk::working();
    assert_eq!(desk.surface.interrupt(), Some(vec![Intent::Event(Event::Interrupt)]));
    desk.status.phase = Phase::Waiting;
    desk.shown();
    assert_eq!(desk.surface.interrupt(), Some(vec![]));
    assert_eq!(desk.shown(), "\nPress Ctrl-C again to exit.\n> ");
    desk.types("");
    assert_eq!(desk.surface.interrupt(), Some(vec![]), "something was typed in between");
    desk.now += SECOND_KEY;
    desk.surface.set_now(desk.now);
    assert_eq!(desk.surface.interrupt(), Some(vec![]), "the first one is long ago");
    desk.shown();
    assert_eq!(desk.surface.interrupt(), Some(vec![Intent::Event(Event::Leave)]));
    assert_eq!(desk.surface.typed(Typed::End), [Intent::Event(Event::Leave)]);
}

#[test]
fn a_long_silence_is_broken_less_and_less_often() {
    let mut desk = LineDesk::working();
    let mut reminders = Vec::new();
    for _ in 0..40 {
        let shown = desk.after(MINUTE);
        if !shown.is_empty() {
            reminders.push(shown);
        }
    }
    let expected = ["1 min", "3 min", "8 min", "18 min", "28 min", "38 min"];
    assert_eq!(reminders, expected.map(|time| format!("Still working, {time}.\n")));
    desk.surface.notice(&Notice::Interrupted);
    desk.shown();
    assert_eq!(desk.surface.redraw_in(), Some(MINUTE), "it was not silent any more");
    desk.status = Status { phase: Phase::Reviewing, since: desk.now, ..desk.status };
    assert_eq!(desk.after(MINUTE * 65), "Still reviewing, 1 h 05 min.\n");
    desk.status.phase = Phase::Waiting;
    assert_eq!(desk.after(MINUTE), "> ");
    assert_eq!(desk.surface.redraw_in(), None, "nobody waits but for the person");
}

#[test]
fn a_closed_pipe_is_an_error_not_a_panic() {
    let mut surface = LineSurface::new(sample::ClosedPipe, LOOK, false);
    assert!(surface.update(&sample::status(), Now::ZERO).is_err());
    assert!(surface.close(&sample::report(Outcome::Ended)).is_err());
}

#[test]
fn going_back_by_a_number() {
    use crate::event::GoBack;
    use crate::machine::RewindPoint;
    let mut desk = LineDesk::working();
    desk.status.phase = Phase::Waiting;
    desk.shown();
    assert_eq!(desk.types("/rewind"), []);
    assert!(desk.shown().contains("There is no earlier message"));
    desk.status.points =
        vec![RewindPoint { uuid: "u".into(), text: "fix it".into(), round: None, better: false }];
    desk.shown();
    assert_eq!(desk.types("/rewind"), []);
    let shown = desk.shown();
    assert!(shown.contains(" 1. fix it\n") && shown.contains("add \"conversation\""), "{shown}");
    for (typed, what) in [("/rewind 1", GoBack::Both), ("/rewind 1 files", GoBack::Files)] {
        let event = Event::GoBack { uuid: "u".into(), what };
        assert_eq!(desk.types(typed), [Intent::Event(event)]);
    }
    assert_eq!(desk.types("/rewind 2"), []);
}
