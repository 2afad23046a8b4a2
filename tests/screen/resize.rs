//! After any change of size there is one input box, one status below it, and the transcript's last
//! lines above; nothing is left of what stood there before.
//!
//! On avt's terminal: vt100's knows no lines that do not wrap, so what ccc draws in the moment in
//! which the size changes would look wrong there and nowhere else.

use crate::client::Client;
use crate::picture::Picture;
use crate::stage::{Opening, Stage, is_ready, is_working, opening};

const TYPED: &str = "keep me";
const SIZES: usize = 100;

/// Sizes in no order, the same ones for the same seed.
struct Dice(u64);

impl Dice {
    fn new() -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Self::seeded(u64::from(now.expect("a clock").subsec_nanos()))
    }

    fn seeded(seed: u64) -> Self {
        let wanted = std::env::var("CCC_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = wanted.unwrap_or(seed);
        println!("to repeat it: CCC_SEED={seed}");
        Self(seed)
    }

    fn between(&mut self, low: u16, high: u16) -> u16 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + u16::try_from((self.0 >> 33) % u64::from(high - low + 1)).expect("a small number")
    }

    fn size(&mut self) -> (u16, u16) {
        (self.between(20, 220), self.between(5, 60))
    }
}

/// So many lines that they fill the tallest screen, and something typed.
fn full(opening: Opening) -> (Stage, Client, usize) {
    let (mut stage, agent) = opening.working();
    stage.person.types(TYPED);
    agent.begins_text();
    let lines = 80;
    for line in 0..lines {
        agent.writes(&format!("line-{line:04}\n\n"));
    }
    stage.person.looks_for("all of it", |picture| right(picture, "working", lines - 1).is_ok());
    (stage, agent, lines)
}

/// The screen is as it has to be, with this line as the last of the transcript.
fn right(picture: &Picture, phase: &str, last: usize) -> Result<(), String> {
    if picture.input() != Some(TYPED) {
        return Err("the input is not where the cursor is".into());
    }
    for text in [TYPED, phase] {
        if picture.count(text) != 1 {
            return Err(format!("{text:?} stands {} times", picture.count(text)));
        }
    }
    if picture.status().len() != 1 {
        return Err(format!("below the input: {:?}", picture.status()));
    }
    let lines: Vec<_> = picture.above().iter().filter(|row| !row.is_empty()).collect();
    let first = (last + 1).saturating_sub(lines.len());
    let wanted: Vec<_> = (first..=last).map(|line| format!("  line-{line:04}")).collect();
    if lines.len() > last + 1 || lines.iter().zip(&wanted).any(|(is, wanted)| **is != *wanted) {
        return Err(format!("the transcript is not {first} to {last}"));
    }
    Ok(())
}

#[track_caller]
fn is_right(stage: &mut Stage, last: usize, size: (u16, u16)) {
    let what = format!("right screen at {size:?}");
    let seen = stage.person.looks_for(&what, |picture| right(picture, "working", last).is_ok());
    // And it stays so when the status moves on.
    let moved = stage.person.looks_for("another picture", |picture| *picture != seen);
    assert_eq!(right(&moved, "working", last), Ok(()), "{what}:\n{}", moved.text());
}

#[test]
fn every_new_size_gives_a_right_screen() {
    let (mut stage, agent, mut lines) = full(opening().reflowing());
    let mut dice = Dice::new();
    for _ in 0..SIZES / 4 {
        let size = dice.size();
        stage.person.resizes(size.0, size.1);
        agent.writes(&format!("line-{lines:04}\n\n"));
        lines += 1;
        is_right(&mut stage, lines - 1, size);
    }
}

#[test]
fn after_a_storm_of_sizes_the_screen_is_right() {
    let (mut stage, agent, mut lines) = full(opening().reflowing());
    let mut dice = Dice::new();
    for _ in 0..SIZES {
        let size = dice.size();
        stage.person.resizes(size.0, size.1);
        agent.writes(&format!("line-{lines:04}\n\n"));
        lines += 1;
    }
    stage.person.resizes(80, 24);
    // Few enough to leave in sight whatever the storm has left.
    for _ in 0..3 {
        agent.writes(&format!("line-{lines:04}\n\n"));
        lines += 1;
    }
    is_right(&mut stage, lines - 1, (80, 24));
}

/// The smallest of them wrap a word into a column of letters, and leave traces of the live area in the
/// scrollback; but every line is whole again where there is room for it, and stands there once.
fn loses_nothing(seed: u64, smallest: u16, line: impl Fn(usize) -> String) {
    let (mut stage, agent, mut lines) = full(opening().reflowing());
    let began = lines;
    let mut dice = Dice::seeded(seed);
    for _ in 0..SIZES {
        let size = match dice.between(0, 5) {
            0 => (smallest, 1),
            1 => (2, 2),
            2 => (dice.between(smallest, 19), dice.between(1, 10)),
            _ => dice.size(),
        };
        stage.person.resizes(size.0, size.1);
        agent.writes(&format!("{}\n\n", line(lines)));
        lines += 1;
    }
    stage.person.resizes(80, 24);
    agent.writes(&format!("{}\n\n", line(lines)));
    let last = line(lines);
    stage.person.looks_for("the last line and the input", |picture| {
        picture.last_above().trim_start() == last
            && picture.input() == Some(TYPED)
            && picture.status().len() == 1
            && is_working(picture)
    });
    // The terminal puts a blank where the half of a wide character would stand at the edge.
    let history = stage.person.history().join("\n").replace(' ', "");
    let mut end = 0;
    for text in
        (0..began).map(|number| format!("line-{number:04}")).chain((began..=lines).map(line))
    {
        let found: Vec<_> = history.match_indices(&text).map(|(at, _)| at).collect();
        assert!(matches!(found[..], [at] if at >= end), "{text} at {found:?}:\n{history}");
        end = found[0];
    }
}

#[test]
fn sizes_that_nobody_can_read_lose_nothing() {
    for seed in 1..=2 {
        loses_nothing(seed, 1, |number| format!("line-{number:04}"));
    }
}

/// In a single column there is no room for a wide character, and the terminal itself drops it.
#[test]
fn sizes_that_nobody_can_read_lose_no_wide_character() {
    for seed in 3..=4 {
        loses_nothing(seed, 2, |number| format!("行-{number:04}-行"));
    }
}

/// With nothing going on.
#[test]
fn down_to_a_single_cell_and_back_nothing_is_lost() {
    let (mut stage, agent, lines) = full(opening().reflowing());
    agent.ends_turn();
    stage.client("supervisor-0").judges(true, "fine");
    let picture = stage.person.looks_for("the person's turn", is_ready);
    let before: Vec<_> = picture.rows.iter().filter(|row| row.contains("line-")).cloned().collect();
    for _ in 0..5 {
        stage.person.resizes(1, 1);
        stage.person.looks_for("a picture in one cell", |picture| picture.rows.len() == 1);
        stage.person.resizes(80, 24);
        let picture = stage.person.looks_for("all of the screen", |picture| {
            picture.rows.len() == 24 && picture.input() == Some(TYPED) && is_ready(picture)
        });
        assert_eq!(picture.count(TYPED), 1, "{}", picture.text());
        let after: Vec<_> = picture.rows.iter().filter(|row| row.contains("line-")).collect();
        assert!(
            before.iter().rev().zip(after.iter().rev()).all(|(was, is)| was == *is),
            "{}\n{}",
            before.join("\n"),
            picture.text()
        );
    }
    let history = stage.person.history().join("\n");
    for line in 0..lines {
        assert_eq!(history.matches(&format!("line-{line:04}")).count(), 1, "{line}\n{history}");
    }
}

#[test]
fn a_long_input_is_wrapped_anew_at_every_width() {
    let (mut stage, mut agent) = opening().reflowing().working();
    // The screen is full, as after the first minutes: of one that is not, avt keeps the empty rows
    // below the text and lets the text go off the top instead.
    let lines: Vec<_> = (0..80).map(|line| format!("line-{line:04}")).collect();
    agent.answers(&lines.join("\n\n"));
    agent.ends_turn();
    stage.client("supervisor-0").judges(true, "fine");
    stage.person.looks_for("the person's turn", is_ready);
    let typed = (0..40).map(|number| format!("q{number:02}")).collect::<Vec<_>>().concat();
    let mut dice = Dice::new();
    stage.person.types(&typed);
    stage.person.looks_for("the text", |picture| box_of(picture).0 == typed);
    // With the cursor behind it, and then in front of it. Nothing may be on its way at a resize.
    for in_front in [false, true] {
        if in_front {
            stage.person.types("\x1b[H");
            stage.person.looks_for("the cursor there", |picture| picture.cursor.1 == 2);
        }
        for _ in 0..SIZES / 4 {
            // A third of it is enough for all rows of the text.
            let size = (dice.between(20, 220), dice.between(30, 60));
            stage.person.resizes(size.0, size.1);
            let what = format!("one whole input at {size:?}");
            stage.person.looks_for(&what, |picture| {
                picture.rows.len() == usize::from(size.1)
                    && picture.columns == usize::from(size.0)
                    && box_of(picture) == (typed.clone(), 0)
                    && picture.count("ready") == 1
            });
        }
    }
    stage.person.types("\r");
    assert_eq!(agent.takes_up(), typed);
}

/// The text in the box with its rows joined, and in how many rows above there is some of it as well.
fn box_of(picture: &Picture) -> (String, usize) {
    let top = picture.rows.iter().rposition(|row| row.starts_with('❯')).unwrap_or_default();
    let (above, rows) = picture.rows.split_at(top);
    let rows = rows.iter().take_while(|row| !row.starts_with("ready"));
    let text = rows.map(|row| row.trim_start_matches(['❯', ' '])).collect();
    (text, above.iter().filter(|row| row.contains('q')).count())
}
