//! The line below the input: what is going on, or what is being asked.

use std::time::Duration;

use unicode_width::UnicodeWidthStr;

use super::notices::{money, round_of};
use super::styled::{self, Glyphs, Style, Styled};
use crate::checks::suite::RunningCheck;
use crate::client::form::FormQuestion;
use crate::event::{Asker, Now, Phase, Question};
use crate::machine::Status;

/// How long a picture of the spinner stands.
pub const FRAME: Duration = Duration::from_millis(125);

/// With the keys that there are.
pub fn line(status: &Status, provider: &str, now: Now, glyphs: Glyphs, width: usize) -> Styled {
    let keys: &[_] = match status.phase {
        Phase::Working | Phase::Reviewing => &["Esc interrupts"],
        Phase::Waiting => &["? for keys", "Ctrl-D ends"],
        Phase::Ended => &["Ctrl-C does not wait"],
    };
    facts(status, provider, now, keys, false, glyphs, width)
}

/// Where nobody reads keys: a signal is all there is.
pub fn ticker(status: &Status, now: Now, glyphs: Glyphs, width: usize) -> Styled {
    facts(status, "", now, &["Ctrl-C ends"], true, glyphs, width)
}

/// "check cargo test 0:12 of 10:00"
fn check_told(check: &RunningCheck, now: Now) -> String {
    let (elapsed, timeout) = (clock(now.saturating_sub(check.since)), clock(check.timeout));
    format!("check {} {elapsed} of {timeout}", check.name)
}

/// The check that runs, like a tool that runs: its time, and the end of what it printed.
pub fn check_rows(status: &Status, now: Now, glyphs: Glyphs) -> Vec<Styled> {
    let Some(check) = &status.check else { return Vec::new() };
    let elapsed = now.saturating_sub(check.since);
    let gutter = || Styled::new(Style::Supervisor, glyphs.gutter);
    let head = format!("{} {}", spinner(elapsed, glyphs), check_told(check, now));
    let tail = check.tail.iter().map(|line| gutter().with(Style::Dim, &format!("  {line}")));
    std::iter::once(gutter().with(Style::Plain, &head)).chain(tail).collect()
}

fn facts(
    status: &Status,
    provider: &str,
    now: Now,
    keys: &[&str],
    tail: bool,
    glyphs: Glyphs,
    width: usize,
) -> Styled {
    let elapsed = now.saturating_sub(status.since);
    let moving = |phase: &str| format!("{} {phase} {}", spinner(elapsed, glyphs), clock(elapsed));
    let running = status.check.as_ref().map(|check| {
        let elapsed = now.saturating_sub(check.since);
        let line = check.tail.last().filter(|_| tail).map(|line| line.trim());
        let line = line.map(|line| format!(" {} {line}", glyphs.dot)).unwrap_or_default();
        format!("{} {}{line}", spinner(elapsed, glyphs), check_told(check, now))
    });
    let mut facts = vec![match status.phase {
        Phase::Reviewing if tail && running.is_some() => running.unwrap_or_default(),
        Phase::Reviewing if running.is_some() => moving("checking"),
        Phase::Working => moving("working"),
        Phase::Reviewing => moving("reviewing"),
        Phase::Waiting => "ready".to_owned(),
        Phase::Ended => moving("ending"),
    }];
    match round_of(status.phase, status.round, status.max) {
        Some(round) if status.supervising => facts.push(format!("round {round}/{}", status.max)),
        _ => facts.push(format!("supervisor {}", if status.supervising { "on" } else { "off" })),
    }
    facts.extend(status.met.map(|(met, all)| format!("{met}/{all} met")));
    match status.background {
        0 => {}
        1 => facts.push("1 background task".to_owned()),
        tasks => facts.push(format!("{tasks} background tasks")),
    }
    let busy = matches!(status.phase, Phase::Working | Phase::Reviewing);
    if busy && !status.model.is_empty() {
        facts.push(status.model.clone());
    }
    if busy && !provider.is_empty() {
        facts.push(provider.to_owned());
    }
    if status.cost_usd >= 0.005 {
        facts.push(money(status.cost_usd));
    }
    facts.extend(status.context.map(context));
    facts.extend(keys.iter().map(|key| (*key).to_owned()));
    Styled::new(Style::Dim, &as_fits(&facts, &format!(" {} ", glyphs.dot), width, glyphs))
}

/// As many facts as have room, the first in any case.
fn as_fits(facts: &[String], between: &str, width: usize, glyphs: Glyphs) -> String {
    let mut line = String::new();
    for fact in facts {
        if line.is_empty() {
            line = styled::cut(fact, width, glyphs.ellipsis);
        } else if line.width() + between.width() + fact.width() <= width {
            line = format!("{line}{between}{fact}");
        } else {
            break;
        }
    }
    line
}

/// How full the model's memory is, where it is known how much it holds.
fn context((tokens, window): (u64, Option<u64>)) -> String {
    match window {
        Some(window) if window > 0 => {
            format!("context {}%", (tokens * 100).div_ceil(window).min(100))
        }
        _ => format!("{}k tokens", tokens.div_ceil(1000)),
    }
}

fn spinner(elapsed: Duration, glyphs: Glyphs) -> &'static str {
    let frame = elapsed.as_millis() / FRAME.as_millis();
    let frames = glyphs.spinner.len().max(1) as u128;
    usize::try_from(frame % frames).ok().and_then(|at| glyphs.spinner.get(at)).unwrap_or(&"")
}

pub fn clock(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    match seconds / 3600 {
        0 => format!("{}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

/// What is asked, in one line; `behind` more are waiting.
pub fn question(
    question: &Question,
    form: Option<&(FormQuestion, usize, usize)>,
    behind: usize,
    glyphs: Glyphs,
    width: usize,
) -> String {
    let tool = styled::cut(&question.asked.tool, width.saturating_sub(8).max(1), glyphs.ellipsis);
    let tool = styled::exposed(&tool);
    let head = match (form, question.asker) {
        (Some((form, _, 1)), _) => styled::exposed(&form.question),
        (Some((form, at, of)), _) => format!("{at}/{of} {}", styled::exposed(&form.question)),
        (None, Asker::Agent) => format!("Allow {tool}{}?", file(question)),
        (None, Asker::Supervisor) => format!("Allow {tool}{} (supervisor)?", file(question)),
    };
    if behind > 0 { format!("{head}  ({behind} more waiting)") } else { head }
}

/// What is to be changed stays in view, however long the change is.
fn file(question: &Question) -> String {
    let input =
        serde_json::from_str::<serde_json::Value>(&question.asked.input).unwrap_or_default();
    let path = input["file_path"].as_str();
    path.map(|path| format!(" {}", styled::exposed(path))).unwrap_or_default()
}

/// The client says itself what "always" would mean; without that there is no such answer.
pub fn can_always(question: &Question) -> bool {
    let suggestions = question.asked.suggestions.as_deref().unwrap_or_default().trim();
    !matches!(suggestions, "" | "[]" | "null")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::sample;

    fn text(status: &Status, seconds: u64, width: usize) -> String {
        line(status, "", Now::from_secs(seconds), Glyphs::unicode(), width).text()
    }

    #[test]
    fn what_is_going_on() {
        let waiting = sample::status();
        assert_eq!(text(&waiting, 5, 80), "ready · supervisor on · ? for keys · Ctrl-D ends");
        let mut working = Status { phase: Phase::Working, cost_usd: 0.2, ..waiting };
        assert_eq!(
            text(&working, 72, 80),
            "⠦ working 1:12 · round 1/10 · claude-test · $0.20 · Esc interrupts"
        );
        let known = Status { context: Some((1001, Some(200_000))), ..working.clone() };
        assert_eq!(
            line(&known, "kimi", Now::from_secs(72), Glyphs::unicode(), 80).text(),
            "⠦ working 1:12 · round 1/10 · claude-test · kimi · $0.20 · context 1%"
        );
        working.context = Some((1001, None));
        assert!(text(&working, 72, 80).contains("$0.20 · 2k tokens"));
        working.context = None;
        working.background = 2;
        working.supervising = false;
        assert_eq!(
            text(&working, 3700, 60),
            "⠋ working 1:01:40 · supervisor off · 2 background tasks"
        );
        let reviewing = Status { phase: Phase::Reviewing, round: 2, ..working };
        assert_eq!(text(&reviewing, 0, 30), "⠋ reviewing 0:00");
        assert_eq!(text(&reviewing, 0, 6), "⠋ rev…");
        assert_eq!(text(&reviewing, 0, 0), "");
        let unread = ticker(&reviewing, Now::ZERO, Glyphs::unicode(), 120).text();
        assert!(unread.ends_with("· Ctrl-C ends") && !unread.contains("Esc"), "{unread}");
    }
}
