//! What the terminal and the locale can show: colours, and more than ASCII.

use std::env;
use std::io::IsTerminal;

use crate::surface::{Glyphs, Look};

/// For a transcript on standard output that nobody answers to.
pub fn plain() -> Look {
    let ticker = std::io::stdout().is_terminal() && !dumb();
    Look {
        glyphs: glyphs(),
        colour: colour(),
        hints: false,
        phases: true,
        rich: ticker,
        live: false,
        ticker: ticker
            .then(|| crossterm::terminal::size().map_or(80, |(columns, _)| columns.into())),
    }
}

/// For a person at a terminal, which has a status line.
pub fn terminal() -> Look {
    Look { hints: true, phases: false, rich: true, live: true, ticker: None, ..plain() }
}

fn glyphs() -> Glyphs {
    let locale =
        ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| set(name)).unwrap_or_default();
    let locale = locale.to_lowercase();
    if locale.contains("utf-8") || locale.contains("utf8") {
        Glyphs::unicode()
    } else {
        Glyphs::ascii()
    }
}

/// <https://no-color.org> and <https://bixense.com/clicolors>.
fn colour() -> bool {
    if set("NO_COLOR").is_some() {
        return false;
    }
    if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") {
        return true;
    }
    let wanted = set("CLICOLOR").is_none_or(|value| value != "0");
    wanted && std::io::stdout().is_terminal() && !dumb()
}

fn dumb() -> bool {
    set("TERM").is_none_or(|term| term == "dumb")
}

fn set(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
