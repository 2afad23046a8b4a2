//! What the person sees, as text in `tests/real_client/pictures/`. `CCC_UPDATE_PICTURES=1` writes them
//! anew. What differs from one run to the next is left out.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Compares the screen with its picture; of the newest client alone, since each draws in its own way.
#[track_caller]
pub fn matches(client: &Path, name: &str, screen: &str) {
    if crate::release_of(client) < ccc::client::version::NEWEST {
        return;
    }
    let file = format!("tests/real_client/pictures/native-{name}.txt");
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(file);
    let shown = without_accidents(screen);
    if env::var_os("CCC_UPDATE_PICTURES").is_some() {
        fs::create_dir_all(path.parent().expect("a directory")).expect("make it");
        fs::write(&path, &shown).expect("write the picture");
        return;
    }
    let picture = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(shown, picture, "{} is not what is on the screen", path.display());
}

/// From the person's message on, without spinners, tips, times and prices.
fn without_accidents(screen: &str) -> String {
    let mut lines = String::new();
    let from = screen.find("\n❯ zq-").or_else(|| screen.find("\n❯ /")).map_or(0, |at| at + 1);
    let mut in_tip = false;
    for line in screen[from..].lines() {
        let line = line.trim_end();
        let text = line.trim_start();
        in_tip = text.starts_with("⎿  Tip:") || (in_tip && line.starts_with("     "));
        // A spinner, or what it becomes at the end of a turn.
        let spins = |c: char| "✻✶✳✢✽·*∗".contains(c);
        let spinner = text.starts_with(spins) && !line.starts_with("  ");
        if line.is_empty() || in_tip || text.ends_with("/effort") {
            continue;
        }
        let line = line.trim_end_matches(" · ← for agents");
        let line = if spinner { "✻ …".to_owned() } else { without_numbers(line) };
        let _ = writeln!(lines, "{line}");
    }
    lines
}

/// Seconds and dollars depend on the machine.
fn without_numbers(line: &str) -> String {
    let words = line.split(' ').map(|word| {
        let (open, bare) = word.strip_prefix('(').map_or(("", word), |bare| ("(", bare));
        let seconds = bare.strip_suffix('s').is_some_and(|number| number.parse::<u32>().is_ok());
        match () {
            () if seconds => format!("{open}Ns"),
            () if bare.starts_with('$') => {
                let rest =
                    bare.trim_start_matches(|c: char| "$.".contains(c) || c.is_ascii_digit());
                format!("{open}$N{rest}")
            }
            () => word.to_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}
