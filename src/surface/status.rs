//! The line below the input: the current activity, or the open question.

use std::time::Duration;

use unicode_width::UnicodeWidthStr;

use super::context::percent;
use super::limit;
use super::notices::{money, round_of};
use super::styled::{self, Glyphs, Style, Styled};
use crate::checks::suite::RunningCheck;
use crate::client::form::FormQuestion;
use crate::client::mode::PermissionMode;
use crate::client::plan;
use crate::event::{Asker, Now, Phase, Question};
use crate::machine::Status;

/// How long one frame of the spinner is shown.
pub const FRAME: Duration = Duration::from_millis(125);

/// The status line, with the keys that are available.
pub fn line(status: &Status, provider: &str, now: Now, glyphs: Glyphs, width: usize) -> Styled {
    let keys: &[_] = match status.phase {
        Phase::Working | Phase::Reviewing => &["Esc interrupts"],
        Phase::Waiting => &["? for keys", "Ctrl-D exits"],
        Phase::Ended => &["Ctrl-C stops waiting"],
    };
    facts(status, provider, now, keys, false, glyphs, width)
}

/// For a surface without keys: only a signal can end it.
pub fn ticker(status: &Status, now: Now, glyphs: Glyphs, width: usize) -> Styled {
    facts(status, "", now, &["Ctrl-C exits"], true, glyphs, width)
}

/// "check cargo test 0:12 of 10:00"
fn check_told(check: &RunningCheck, now: Now) -> String {
    let (elapsed, timeout) = (clock(now.saturating_sub(check.since)), clock(check.timeout));
    format!("check {} {elapsed} of {timeout}", check.name)
}

/// The running check, shown like a running tool: its time, and the end of its output.
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
    let going_on = match status.phase {
        Phase::Reviewing if tail && running.is_some() => running.unwrap_or_default(),
        Phase::Reviewing if running.is_some() => moving("checking"),
        Phase::Working => moving("working"),
        Phase::Reviewing => moving("reviewing"),
        Phase::Waiting => "ready".to_owned(),
        Phase::Ended => moving("ending"),
    };
    // In reading order; the fact with the highest number is dropped first if there is not enough room.
    let mut facts = vec![(0, going_on)];
    match round_of(status.phase, status.round, status.max) {
        Some(round) if status.supervising => {
            facts.push((1, format!("round {round}/{}", status.max)));
        }
        _ => {
            facts
                .push((1, format!("supervisor {}", if status.supervising { "on" } else { "off" })));
        }
    }
    facts.extend(status.met.map(|(met, all)| (3, format!("{met}/{all} met"))));
    facts.extend(status.mode.as_ref().map(|mode| (2, mode_told(mode))));
    match status.background {
        0 => {}
        1 => facts.push((3, "1 background task".to_owned())),
        tasks => facts.push((3, format!("{tasks} background tasks"))),
    }
    facts.extend(status.limit.as_ref().and_then(limit::meter).map(|meter| (3, meter)));
    if !status.model.is_empty() {
        facts.push((5, short_model(&status.model).to_owned()));
    }
    if !provider.is_empty() {
        facts.push((6, provider.to_owned()));
    }
    facts.extend(status.context.map(|used| (4, context(used))));
    if status.cost_usd >= 0.005 {
        facts.push((7, money(status.cost_usd)));
    }
    facts.extend(keys.iter().zip(8..).map(|(key, rank)| (rank, (*key).to_owned())));
    Styled::new(Style::Dim, &as_fits(facts, &format!(" {} ", glyphs.dot), width, glyphs))
}

/// A bare "ask" or "plan" among other words would be unclear.
fn mode_told(mode: &PermissionMode) -> String {
    match mode {
        PermissionMode::Ask | PermissionMode::Plan | PermissionMode::Auto => {
            format!("{} mode", mode.words())
        }
        mode => mode.words().to_owned(),
    }
}

/// The facts that fit: those with the highest number are dropped, but never the first.
fn as_fits(mut facts: Vec<(usize, String)>, between: &str, width: usize, glyphs: Glyphs) -> String {
    let wide = |facts: &[(usize, String)]| {
        facts.iter().map(|(_, fact)| fact.width() + between.width()).sum::<usize>()
    };
    while facts.len() > 1 && wide(&facts) > width + between.width() {
        let last = facts.iter().enumerate().max_by_key(|(_, (rank, _))| *rank);
        let Some(at) = last.map(|(at, _)| at) else { break };
        facts.remove(at);
    }
    let facts: Vec<_> = facts.into_iter().map(|(_, fact)| fact).collect();
    styled::cut(&facts.join(between), width, glyphs.ellipsis)
}

/// Without the common prefix and the date.
pub fn short_model(model: &str) -> &str {
    let short = model.strip_prefix("claude-").unwrap_or(model);
    let is_date = |tail: &str| tail.len() == 8 && tail.bytes().all(|byte| byte.is_ascii_digit());
    short.rsplit_once('-').filter(|(_, tail)| is_date(tail)).map_or(short, |(head, _)| head)
}

/// How full the context window is, if its size is known.
fn context((tokens, window): (u64, Option<u64>)) -> String {
    match window {
        Some(window) if window > 0 => {
            format!("context {}", percent(tokens, window))
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

/// The question in one line; `behind` more are waiting.
pub fn question(
    question: &Question,
    form: Option<&(FormQuestion, usize, usize)>,
    behind: usize,
    near: impl Fn(&str) -> &str,
    glyphs: Glyphs,
    width: usize,
) -> String {
    let tool = styled::cut(&question.asked.tool, width.saturating_sub(8).max(1), glyphs.ellipsis);
    let tool = styled::exposed(&tool);
    let head = match (form, question.asker) {
        (Some((form, _, 1)), _) => styled::exposed(&form.question),
        (Some((form, at, of)), _) => format!("{at}/{of} {}", styled::exposed(&form.question)),
        (None, _) if plan::is_plan(&question.asked) => "Go ahead with this plan?".to_owned(),
        (None, Asker::Agent) => format!("Allow {tool}{}?", file(question, &near)),
        (None, Asker::Supervisor) => format!("Allow {tool}{} (supervisor)?", file(question, &near)),
    };
    if behind > 0 { format!("{head}  ({behind} more waiting)") } else { head }
}

/// The file to be changed stays visible, however long the change is.
fn file(question: &Question, near: impl Fn(&str) -> &str) -> String {
    let input =
        serde_json::from_str::<serde_json::Value>(&question.asked.input).unwrap_or_default();
    let path = input["file_path"].as_str();
    path.map(|path| format!(" {}", styled::exposed(near(path)))).unwrap_or_default()
}

/// Whether "always" is a possible answer: only the client can say what it would mean.
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
        assert_eq!(text(&waiting, 5, 80), "ready · supervisor on · ? for keys · Ctrl-D exits");
        let model = "claude-test".to_owned();
        let mut working = Status { phase: Phase::Working, cost_usd: 0.2, model, ..waiting };
        assert_eq!(
            text(&working, 72, 80),
            "⠦ working 1:12 · round 1/10 · test · $0.20 · Esc interrupts"
        );
        let known = Status {
            context: Some((1001, Some(200_000))),
            mode: Some(PermissionMode::Plan),
            ..working.clone()
        };
        assert_eq!(
            line(&known, "kimi", Now::from_secs(72), Glyphs::unicode(), 80).text(),
            "⠦ working 1:12 · round 1/10 · plan mode · test · kimi · context 1% · $0.20"
        );
        working.context = Some((19, Some(200_000)));
        assert!(text(&working, 72, 80).contains("context <1% · $0.20"));
        working.context = Some((1001, None));
        assert!(text(&working, 72, 80).contains("2k tokens · $0.20"));
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
        assert!(unread.ends_with("· Ctrl-C exits") && !unread.contains("Esc"), "{unread}");
    }

    /// At each width the most important facts are shown, and none is cut off.
    #[test]
    fn a_narrow_window_keeps_what_matters() {
        let status = Status {
            phase: Phase::Working,
            model: "claude-sonnet-4-5-20250929".into(),
            context: Some((60_000, Some(200_000))),
            mode: Some(PermissionMode::AcceptEdits),
            cost_usd: 1.5,
            ..sample::status()
        };
        let at = |width| line(&status, "kimi", Now::from_secs(1), Glyphs::unicode(), width).text();
        assert_eq!(
            at(90),
            "⠇ working 0:01 · round 1/10 · accept edits · sonnet-4-5 · kimi · context 30% · $1.50"
        );
        assert_eq!(
            at(80),
            "⠇ working 0:01 · round 1/10 · accept edits · sonnet-4-5 · kimi · context 30%"
        );
        assert_eq!(at(60), "⠇ working 0:01 · round 1/10 · accept edits · context 30%");
        assert_eq!(at(42), "⠇ working 0:01 · round 1/10 · accept edits");
        assert_eq!(at(30), "⠇ working 0:01 · round 1/10");
        assert_eq!(at(15), "⠇ working 0:01");
        for width in 0..100 {
            assert!(at(width).width() <= width, "{width}");
        }
    }
}
