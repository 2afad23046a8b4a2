//! What the terminal and the locale can show: colours, non-ASCII characters, overwriting.

use std::env;

use super::{Glyphs, Look, Theme};
use crate::console;

/// For a transcript on standard output without a person who answers.
pub fn plain() -> Look {
    transcript(console::is_terminal())
}

/// For a transcript on standard error, next to the answer on standard output.
pub fn beside() -> Look {
    transcript(console::stderr_is_terminal())
}

fn transcript(terminal: bool) -> Look {
    let ticker = terminal && !dumb(&set);
    Look {
        glyphs: glyphs(&set),
        colour: colour(&set, terminal).then(Theme::default),
        hints: false,
        phases: true,
        rich: ticker,
        live: false,
        spoken: false,
        ticker: ticker
            .then(|| crossterm::terminal::size().map_or(80, |(columns, _)| columns.into())),
    }
}

/// For a person at a terminal with a status line.
pub fn terminal(theme: Theme) -> Look {
    let plain = plain();
    let colour = plain.colour.map(|_| theme);
    Look { colour, hints: true, phases: false, rich: true, live: true, ticker: None, ..plain }
}

/// For a person who reads plain lines. A screen reader would spell out drawn characters, so there are
/// none; colours only in a pipe, and only on request.
pub fn lines(reader: bool) -> Look {
    let terminal = console::is_terminal();
    let colour = !reader && !dumb(&set) && colour(&set, terminal);
    let colour = colour.then(Theme::default);
    Look {
        glyphs: Glyphs::ascii(),
        colour,
        hints: true,
        rich: false,
        spoken: true,
        ticker: None,
        ..plain()
    }
}

/// Whether nothing can be overwritten on this output.
pub fn only_lines() -> bool {
    !console::is_terminal() || dumb(&set)
}

pub fn asked_for_lines() -> bool {
    set("CCC_PLAIN").is_some_and(|value| value != "0")
}

fn glyphs(set: &impl Fn(&str) -> Option<String>) -> Glyphs {
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
fn colour(set: &impl Fn(&str) -> Option<String>, terminal: bool) -> bool {
    if set("NO_COLOR").is_some() {
        return false;
    }
    if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") {
        return true;
    }
    let wanted = set("CLICOLOR").is_none_or(|value| value != "0");
    wanted && terminal && !dumb(set)
}

fn dumb(set: &impl Fn(&str) -> Option<String>) -> bool {
    set("TERM").is_none_or(|term| term == "dumb")
}

fn set(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(env: &str) -> impl Fn(&str) -> Option<String> {
        move |name| {
            let value = env.split(' ').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
            value.filter(|value| !value.is_empty()).map(str::to_owned)
        }
    }

    #[test]
    fn colours_as_the_environment_wants_them() {
        for (env, on_terminal, in_pipe) in [
            ("TERM=xterm", true, false),
            ("TERM=xterm CLICOLOR=1", true, false),
            ("TERM=xterm CLICOLOR=0", false, false),
            ("TERM=xterm CLICOLOR=0 CLICOLOR_FORCE=1", true, true),
            ("TERM=xterm CLICOLOR_FORCE=0", true, false),
            ("TERM=xterm CLICOLOR_FORCE=1 NO_COLOR=1", false, false),
            ("TERM=xterm NO_COLOR=", true, false),
            ("TERM=xterm NO_COLOR=0", false, false),
            ("TERM=dumb", false, false),
            ("TERM=dumb COLORTERM=truecolor", false, false),
            ("", false, false),
        ] {
            let set = lookup(env);
            assert_eq!((colour(&set, true), colour(&set, false)), (on_terminal, in_pipe), "{env}");
        }
    }

    #[test]
    fn characters_as_the_locale_has_them() {
        for (env, unicode) in [
            ("LANG=C.UTF-8", true),
            ("LANG=en_US.utf8", true),
            ("LANG=C LC_ALL=C.UTF-8", true),
            ("LANG=en_US.UTF-8 LC_ALL=C", false),
            ("LANG=en_US.UTF-8 LC_CTYPE=POSIX", false),
            ("LANG=en_US.UTF-8 LC_ALL=", true),
            ("LANG=C", false),
            ("", false),
        ] {
            let wanted = if unicode { Glyphs::unicode() } else { Glyphs::ascii() };
            assert_eq!(glyphs(&lookup(env)), wanted, "{env}");
        }
    }
}
