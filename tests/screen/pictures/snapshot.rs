//! Kept pictures. What differs from run to run (times, ids, the spinner) is masked here and nowhere
//! else.

use std::env;
use std::fs;
use std::path::Path;

use crate::picture::Picture;

/// Set, it keeps what is there now instead of comparing.
const UPDATE: &str = "UPDATE_SCREENS";

const CLOCK: &str = "0:00";

/// # Panics
/// When the picture is not the one that was kept under this name.
#[track_caller]
pub fn is_as_kept(name: &str, picture: &Picture) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/screen/snapshots");
    let path = path.join(format!("{name}.txt"));
    let now = drawn(picture);
    if env::var_os(UPDATE).is_some() {
        fs::write(&path, now).expect("a snapshot");
        return;
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == now,
        "{name} is not as kept (if it is meant to be so: {UPDATE}=1 cargo test --test screen \
         pictures)\n{}",
        difference(&kept, &now)
    );
}

fn drawn(picture: &Picture) -> String {
    let (row, column) = picture.cursor;
    let shown = if picture.cursor_shown { "" } else { ", hidden" };
    let mut rows: Vec<_> = picture.rows.iter().map(|row| masked(row)).collect();
    while rows.last().is_some_and(String::is_empty) {
        rows.pop();
    }
    format!("{}\n\ncursor: row {}, column {}{shown}\n", rows.join("\n"), row + 1, column + 1)
}

fn difference(kept: &str, now: &str) -> String {
    let (mut kept, mut now) = (kept.lines(), now.lines());
    let mut out = String::new();
    loop {
        let (was, is) = match (kept.next(), now.next()) {
            (None, None) => return out,
            (was, is) if was == is => {
                out.extend(["  ", was.unwrap_or_default(), "\n"]);
                continue;
            }
            lines => lines,
        };
        out.extend(was.map(|was| format!("- {was}\n")));
        out.extend(is.map(|is| format!("+ {is}\n")));
    }
}

fn masked(row: &str) -> String {
    let mut words: Vec<String> = row.split(' ').map(word).collect();
    // Minutes are told only where it took so long.
    while let Some(at) = words.windows(2).position(|pair| is_long(&pair[0]) && pair[1] == "0s") {
        words.remove(at);
    }
    // How long a tool took is told only where that was long, as on a busy machine.
    if matches!(&words[..], [.., gap, time] if gap.is_empty() && time == CLOCK) {
        words.truncate(words.len() - 2);
    }
    // The spinner stands in front of the phase.
    for at in 1..words.len() {
        if matches!(words[at].as_str(), "working" | "reviewing") {
            "*".clone_into(&mut words[at - 1]);
        }
    }
    words.join(" ")
}

fn is_long(word: &str) -> bool {
    word.strip_suffix('m').is_some_and(|minutes| minutes.parse::<u32>().is_ok())
}

fn word(word: &str) -> String {
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let is_clock = word.split_once(':').is_some_and(|(left, right)| digits(left) && digits(right));
    let is_id = word.len() == 36 && word.split('-').count() == 5;
    match word {
        _ if is_clock => CLOCK.to_owned(),
        _ if is_id => "SESSION".to_owned(),
        _ if word.strip_suffix('s').is_some_and(digits) => "0s".to_owned(),
        _ if word.ends_with("/project") => "PROJECT".to_owned(),
        _ if word.split('.').count() == 3 && word.split('.').all(digits) => "VERSION".to_owned(),
        other => other.to_owned(),
    }
}

#[test]
fn what_differs_from_run_to_run_is_masked() {
    let id = "0e4b4f7e-7a80-4c43-9d0c-bb7d0a2d5b8c";
    for (row, wanted) in [
        ("⠹ working 0:07 · round 1/10", "* working 0:00 · round 1/10"),
        ("✔ Confirmed · 12s · $0.25", "✔ Confirmed · 0s · $0.25"),
        ("Session ended · 2 rounds · 1m 07s · $0.50", "Session ended · 2 rounds · 0s · $0.50"),
        ("● Bash make  0:02", "● Bash make"),
        ("  ccc 0.1.0 · /tmp/x/project · y", "  ccc VERSION · PROJECT · y"),
        ("a test: 12 of 13, 4:3", "a test: 12 of 13, 0:00"),
        (&format!("--resume {id}"), "--resume SESSION"),
    ] {
        assert_eq!(masked(row), wanted);
    }
}
