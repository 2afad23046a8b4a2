//! Sizes that change while text arrives, on a terminal that rewraps its lines and reads its input
//! late: a frame drawn for one size may reach it in another, whole or in parts, before ccc can
//! know. No text may be lost by that, or appear twice.

use super::*;

const TYPED: &str = "keep me";
const SEEDS: u64 = 6;

/// A deterministic random number generator.
struct Dice(u64);

impl Dice {
    fn below(&mut self, high: u16) -> u16 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u16::try_from((self.0 >> 33) % u64::from(high)).unwrap()
    }

    fn between(&mut self, low: u16, high: u16) -> u16 {
        low + self.below(high - low + 1)
    }

    fn one_in(&mut self, many: u16) -> bool {
        self.below(many) == 0
    }
}

/// A terminal, and the bytes on their way to it.
struct Far {
    emulator: avt::Terminal,
    on_its_way: String,
    /// The size that programs are told.
    told: (u16, u16),
}

impl Far {
    fn new(columns: u16, rows: u16) -> Self {
        let emulator = avt::Terminal::with_scrollback(columns.into(), rows.into(), Some(5000));
        Self { emulator: emulator.unwrap(), on_its_way: String::new(), told: (columns, rows) }
    }

    fn reads_all(&mut self) {
        self.emulator.feed(self.on_its_way.as_str());
        self.on_its_way.clear();
    }

    /// Reads whole lines: what a new size does to half a line is up to the terminal.
    fn reads_some(&mut self, dice: &mut Dice) {
        let ends: Vec<_> = self.on_its_way.match_indices('\n').map(|(at, _)| at + 1).collect();
        let end = usize::from(dice.between(0, u16::try_from(ends.len()).unwrap()));
        let rest = self.on_its_way.split_off(end.checked_sub(1).map_or(0, |end| ends[end]));
        self.emulator.feed(self.on_its_way.as_str());
        self.on_its_way = rest;
    }
}

impl Write for Far {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.on_its_way.push_str(std::str::from_utf8(bytes).unwrap());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Screen for Far {
    fn size(&self) -> (u16, u16) {
        self.told
    }

    fn take(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn give_back(&mut self) -> bool {
        true
    }
}

/// A session in which the agent writes without a pause.
struct Storm {
    terminal: Terminal<Far>,
    status: Status,
    now: Now,
    dice: Dice,
    said: Vec<String>,
}

impl Storm {
    fn new(seed: u64, columns: u16, rows: u16) -> Self {
        let look = Look { live: true, ..LOOK };
        let terminal = Terminal::new(Far::new(columns, rows), look, true).unwrap();
        let status = Status { phase: Phase::Working, ..sample::status() };
        let dice = Dice(seed);
        let mut storm = Self { terminal, status, now: Now::ZERO, dice, said: Vec::new() };
        for key in TYPED.chars() {
            storm.terminal.input(Input::Key(KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE)));
        }
        storm
    }

    /// The agent writes this, followed by `behind`.
    fn says(&mut self, text: String, behind: &str) {
        let delta = serde_json::to_string(&format!("{text}{behind}")).unwrap();
        self.said.push(text);
        self.terminal.agent(&sample::line(&format!(
            r#"{{"type":"stream_event","event":{{"type":"content_block_delta","delta":{{"type":"text_delta","text":{delta}}}}}}}"#
        )));
    }

    fn update(&mut self) {
        self.now += FRAME_INTERVAL;
        self.terminal.update(&self.status, self.now).unwrap();
    }

    /// Changes the size, and runs one moment of the session. If not `in_flight`, the terminal has
    /// read everything before its size changes.
    fn turns_to(&mut self, size: (u16, u16), in_flight: bool) {
        match self.dice.below(if in_flight { 3 } else { 1 }) {
            0 => self.terminal.screen.reads_all(),
            1 => self.terminal.screen.reads_some(&mut self.dice),
            _ => {}
        }
        self.terminal.screen.emulator.resize(size.0.into(), size.1.into());
        if in_flight && self.dice.one_in(2) {
            self.update();
        }
        if in_flight && self.dice.one_in(2) {
            self.terminal.screen.reads_all();
        }
        self.terminal.screen.told = size;
        if self.dice.one_in(2) {
            self.terminal.input(Input::Resize(size.0, size.1));
        }
    }

    fn goes_on(&mut self) {
        if !self.dice.one_in(3) {
            self.update();
        }
        if self.dice.one_in(2) {
            self.terminal.screen.reads_all();
        }
    }

    /// Nothing happens for a while.
    fn settles(&mut self) {
        for _ in 0..2 {
            self.terminal.screen.reads_all();
            self.now += Duration::from_secs(1);
            self.update();
        }
        self.terminal.screen.reads_all();
    }

    fn rows(&self) -> Vec<String> {
        let lines = self.terminal.screen.emulator.screen().visible_lines();
        lines.map(|line| line.text().trim_end().to_owned()).collect()
    }

    /// All text appears once, in order, with one input below it.
    fn is_whole(&self, what: &str) {
        // The terminal puts a blank where half of a wide character would be at the edge.
        let history = self.terminal.screen.emulator.screen().text().join("\n").replace(' ', "");
        let mut end = 0;
        for text in &self.said {
            assert_eq!(history.matches(text).count(), 1, "{text} in {what}:\n{history}");
            let at = history.find(text).unwrap();
            assert!(end <= at, "{text} is out of order in {what}:\n{history}");
            end = at;
        }
        let rows = self.rows();
        let (row, text) = (self.terminal.screen.emulator.cursor().row, rows.join("\n"));
        assert_eq!(rows[row], format!("❯ {TYPED}"), "{what}:\n{text}");
        assert!(rows[row + 1].contains("working"), "{what}:\n{text}");
    }

    /// No traces of earlier live areas remain.
    fn has_no_traces(&self, what: &str) {
        let history = self.terminal.screen.emulator.screen().text().join("\n");
        for text in ["keep", "working"] {
            assert_eq!(history.matches(text).count(), 1, "{text} in {what}:\n{history}");
        }
    }
}

/// Paragraphs of one line each, in unrelated sizes.
fn any_sizes(
    line: impl Fn(usize) -> String,
    size: impl Fn(&mut Dice) -> (u16, u16),
    check: impl Fn(&Storm, &str),
) {
    for seed in 0..SEEDS {
        for in_flight in [false, true] {
            let mut storm = Storm::new(seed, 80, 24);
            for number in 0..30 {
                storm.says(line(number), "\n\n");
                storm.update();
                storm.terminal.screen.reads_all();
            }
            for number in 30..70 {
                let size = size(&mut storm.dice);
                storm.turns_to(size, in_flight);
                storm.says(line(number), "\n\n");
                storm.goes_on();
            }
            storm.turns_to((80, 24), in_flight);
            storm.settles();
            let what = format!("storm {seed}, in flight {in_flight}");
            storm.is_whole(&what);
            check(&storm, &what);
        }
    }
}

fn usual(dice: &mut Dice) -> (u16, u16) {
    (dice.between(20, 220), dice.between(5, 60))
}

#[test]
fn nothing_is_lost_at_readable_sizes() {
    any_sizes(|number| format!("line-{number:04}"), usual, Storm::has_no_traces);
    any_sizes(|number| format!("行-{number:04}-行"), usual, Storm::has_no_traces);
}

#[test]
fn nothing_is_lost_at_unreadable_sizes() {
    // What such a terminal has pushed off its few rows cannot be reached when it grows again.
    let traces = |_: &Storm, _: &str| ();
    any_sizes(
        |number| format!("line-{number:04}"),
        |dice| match dice.below(6) {
            0 => (1, 1),
            1 => (2, 2),
            2 => (dice.between(1, 19), dice.between(1, 10)),
            _ => usual(dice),
        },
        traces,
    );
    // A single column has no room for such a character, so the terminal drops it.
    any_sizes(
        |number| format!("行-{number:04}-行"),
        |dice| match dice.below(6) {
            0 => (2, 1),
            1 => (3, 2),
            2 => (dice.between(2, 19), dice.between(1, 10)),
            _ => usual(dice),
        },
        traces,
    );
}

/// Paragraphs as wide as the screen and many rows long, which the terminal rewraps at every width.
#[test]
fn nothing_is_lost_while_a_window_is_dragged() {
    for seed in 0..SEEDS {
        for step in [3, 20, 60] {
            let mut storm = Storm::new(seed, 150, 40);
            let mut words = (0..).map(|number| {
                let end = if number % 200 == 199 { "\n\n" } else { " " };
                (format!("w{number:05}"), end)
            });
            for _ in 0..40 {
                for (word, end) in words.by_ref().take(25) {
                    storm.says(word, end);
                }
                storm.update();
            }
            storm.settles();
            let mut columns = 150;
            for turn in 0..40 {
                columns = (columns + storm.dice.between(0, 2 * step)).saturating_sub(step);
                columns = columns.clamp(60, 200);
                // Nothing is in flight when it begins.
                storm.turns_to((columns, 40), turn > 0);
                for (word, end) in words.by_ref().take(10) {
                    storm.says(word, end);
                }
                storm.goes_on();
            }
            storm.turns_to((150, 40), true);
            storm.settles();
            let what = format!("drag {seed} by {step}");
            storm.is_whole(&what);
            storm.has_no_traces(&what);
        }
    }
}
