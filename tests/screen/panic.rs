//! A panic gives the terminal back before its message, so that the message can be read.
//!
//! ccc itself has no way to be made to panic, so this test starts itself again in a terminal, takes
//! it as ccc does, and panics there.

use std::env;
use std::sync::mpsc::channel;
use std::time::Duration;

use ccc::surface::{
    Attention, Glyphs, KeyReader, Look, NotifyMethod, Outlet, RealScreen, Terminal,
    restore_on_panic,
};

use crate::person::Person;
use crate::stage::{opening, room};

const INSIDE: &str = "CCC_TEST_PANICS";

#[test]
fn a_panic_gives_the_terminal_back() {
    let me = "panic::a_panic_gives_the_terminal_back";
    if let Ok(thread) = env::var(INSIDE) {
        panics(&thread);
    }
    for thread in ["this", "another"] {
        let room = room();
        let opening = opening().env(INSIDE, thread).env("RUST_BACKTRACE", "0");
        let test = env::current_exe().expect("this program");
        let command = opening.command(&room, &test, &["--exact", me, "--nocapture"]);
        let mut person = Person::runs(&command, (80, 24), false);
        person.looks_for("a live area", |picture| picture.input() == Some(""));
        assert!(person.screen().bracketed_paste());
        // Whatever the key, the other side only waits for one.
        person.types("x");
        let (code, picture) = person.leaves();
        person.has_a_sane_terminal();
        assert_eq!(code, 101, "{}", picture.text());
        let message = picture.rows.iter().position(|row| row.contains("zq-panic"));
        assert!(message.is_some() && picture.count("zq-panic") == 1, "{}", picture.text());
        assert_eq!(picture.count("❯"), 0, "{}", picture.text());
    }
}

fn panics(thread: &str) -> ! {
    restore_on_panic();
    let look = Look {
        glyphs: Glyphs::unicode(),
        colour: Some(ccc::surface::Theme::default()),
        hints: true,
        phases: false,
        rich: true,
        live: true,
        spoken: false,
        ticker: None,
    };
    let (pressed, presses) = channel();
    let keys = KeyReader::start(move |input| pressed.send(input).is_ok()).expect("its keys");
    let screen = RealScreen::new(Outlet::stdout().expect("an output"), keys);
    let mut terminal = Terminal::new(screen, look, true).expect("a terminal").for_session(
        ccc::surface::Whereabouts::default(),
        Attention::new(NotifyMethod::Bell, Some("project".into())),
    );
    let status = ccc::machine::Machine::new(ccc::machine::Rules::default()).status();
    ccc::surface::Surface::update(&mut terminal, &status, Duration::ZERO).expect("it draws");
    let _ = presses.recv().expect("a key");
    if thread == "another" {
        let gone = std::thread::spawn(|| panic!("zq-panic")).join();
        drop(terminal);
        std::panic::resume_unwind(gone.expect_err("a panic"));
    }
    panic!("zq-panic");
}
