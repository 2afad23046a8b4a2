//! `ccc sessions show`: prints a session again in the style of the transcript.

use std::io::{BufWriter, Write};

use anyhow::{Context, Result};
use jiff::{Timestamp, Zoned};

use super::super::output::end_of_output;
use super::{json, list, when};
use crate::client::case::CaseReport;
use crate::console;
use crate::event::{Notice, Report};
use crate::record::story::{self, SessionState, Story, StoryEntry, StoryEvent};
use crate::surface::look;
use crate::surface::{Look, Style, Styled, Transcript, duration, lines, money};

const ANSWER: usize = 8;
const UNWRITTEN: &str = "cannot write the output";

pub fn run(story: &Story, as_json: bool, checks: bool) -> Result<()> {
    let mut out = BufWriter::new(console::stdout().lock());
    let written = if as_json {
        json::write_whole(story, checks, &mut out).and_then(|()| Ok(writeln!(out)?))
    } else {
        let look = Look { phases: false, hints: false, ticker: None, ..look::plain() };
        write(story, look, checks, &when::now(), &mut out)
    };
    end_of_output(written.and_then(|()| out.flush().context(UNWRITTEN)))
}

/// Written while the recording is read, because a session may not fit into memory.
fn write(story: &Story, look: Look, checks: bool, now: &Zoned, out: &mut dyn Write) -> Result<()> {
    let mut transcript = Transcript::new(look);
    transcript.set_width(list::width());
    let mut teller = Teller { story, look, checks, now, transcript, printed: String::new() };
    let mut print = |lines: Vec<Styled>| -> Result<()> {
        let mut text = Vec::new();
        for line in lines {
            line.write(look.colour, &mut text);
            text.push(b'\n');
        }
        out.write_all(&text).context(UNWRITTEN)
    };
    print(teller.head())?;
    story::tell(&story.dir, &mut |entry| print(teller.entry(&entry)))?;
    print(teller.end())
}

struct Teller<'a> {
    story: &'a Story,
    look: Look,
    now: &'a Zoned,
    transcript: Transcript,
    /// Whether to show everything that checks printed; `printed` holds its last, incomplete line.
    checks: bool,
    printed: String,
}

impl Teller<'_> {
    fn head(&self) -> Vec<Styled> {
        let Story { id, session_id, project, provider, ccc, began, .. } = self.story;
        let dot = format!(" {} ", self.look.glyphs.dot);
        let mut facts = Vec::new();
        facts.extend(began.map(|began| when::day(began, self.now)));
        facts.extend(project.clone());
        facts.extend(provider.as_ref().map(|provider| format!("on {provider}")));
        facts.extend(ccc.as_ref().map(|version| format!("ccc {version}")));
        let mut out = vec![
            Styled::new(Style::Heading, &format!("Session {id}")),
            Styled::new(Style::Dim, &facts.join(&dot)),
        ];
        if session_id != id {
            let text = format!("its last conversation was {session_id}");
            out.push(Styled::new(Style::Dim, &text));
        }
        if self.story.unread > 0 {
            let text = format!("{} lines of it cannot be read", self.story.unread);
            out.push(Styled::new(Style::Bad, &text));
        }
        out.push(Styled::default());
        out
    }

    fn entry(&mut self, entry: &StoryEntry) -> Vec<Styled> {
        match &entry.what {
            StoryEvent::RunBegan(run) if *run > 1 => {
                let (rule, day) = (self.look.glyphs.rule, when::day(entry.time, self.now));
                let text = format!("{rule} resumed {day} {rule}");
                vec![Styled::default(), Styled::new(Style::Dim, &text)]
            }
            StoryEvent::Told(notice) => self.notice(notice, entry.time),
            StoryEvent::Turn(turn) => {
                let dot = self.look.glyphs.dot;
                let tools: Vec<_> =
                    turn.tools.iter().map(|(name, times)| format!("{name} {times}")).collect();
                let mut facts = vec![duration(turn.seconds)];
                if turn.cost_usd > 0.0 {
                    facts.push(money(turn.cost_usd));
                }
                let head = if tools.is_empty() {
                    String::new()
                } else {
                    format!(" {dot} {}", tools.join(", "))
                };
                let facts = format!(" {dot} {}", facts.join(&format!(" {dot} ")));
                let head = Styled::new(Style::Tool, self.look.glyphs.tool)
                    .with(Style::Bold, " The agent")
                    .with(Style::Plain, &head)
                    .with(Style::Dim, &facts);
                let mut out = vec![Styled::default(), head];
                // The notice that follows says why the turn failed.
                if !turn.failed {
                    let mut answer = lines(Style::Plain, &turn.answer);
                    let more = answer.len().saturating_sub(ANSWER);
                    answer.truncate(ANSWER);
                    if more > 0 {
                        let text = format!("{} {more} more lines", self.look.glyphs.ellipsis);
                        answer.push(Styled::new(Style::Dim, &text));
                    }
                    out.extend(answer.into_iter().map(|line| line.with_prefix(Style::Plain, "  ")));
                }
                out
            }
            StoryEvent::Reviewed(line) => self.transcript.supervisor(line),
            StoryEvent::CheckPrinted(text) if self.checks => {
                self.printed.push_str(text);
                let whole = self.printed.rfind('\n').map_or(0, |end| end + 1);
                let lines = self.printed.drain(..whole).collect::<String>();
                self.check_lines(&lines)
            }
            StoryEvent::RunBegan(_) | StoryEvent::CheckPrinted(_) => Vec::new(),
        }
    }

    fn check_lines(&self, text: &str) -> Vec<Styled> {
        let text = text.strip_suffix('\n').unwrap_or(text);
        if text.is_empty() {
            return Vec::new();
        }
        let (gutter, lines) = (self.look.glyphs.gutter, lines(Style::Dim, text).into_iter());
        lines.map(|line| line.with_prefix(Style::Supervisor, &format!("{gutter}  "))).collect()
    }

    fn notice(&mut self, notice: &Notice, time: Timestamp) -> Vec<Styled> {
        if matches!(notice, Notice::Started { .. }) {
            return Vec::new();
        }
        let printed = std::mem::take(&mut self.printed);
        let mut out = self.check_lines(&printed);
        out.extend(self.transcript.notice(notice));
        // The live screen mentions only a protection below the best one.
        if let Notice::ReviewCase { held, why, .. } = notice
            && out.is_empty()
        {
            let text = CaseReport { held: *held, why: why.clone() }.told();
            out = vec![Styled::new(Style::Dim, &format!("{}{text}", self.look.glyphs.gutter))];
        }
        // The live screen shows only the judge's own words.
        if let Notice::Brief { text, .. } = notice {
            let gutter = self.look.glyphs.gutter;
            let brief = lines(Style::Dim, text).into_iter();
            out = brief.map(|line| line.with_prefix(Style::Supervisor, gutter)).collect();
        }
        let stamp = match notice {
            Notice::UserMessage { .. } | Notice::ReviewStarted { .. } => {
                when::clock(time, self.now)
            }
            _ => return out,
        };
        if let Some(line) = out.iter_mut().find(|line| !line.text().is_empty()) {
            let stamp = format!(" {} {stamp}", self.look.glyphs.dot);
            *line = std::mem::take(line).with(Style::Dim, &stamp);
        }
        out
    }

    fn end(&mut self) -> Vec<Styled> {
        let story = self.story;
        let SessionState::Over(outcome) = &story.state else {
            let text = match story.state {
                SessionState::Running => "It is still running.".to_owned(),
                _ => format!(
                    "Cut off {} the recording stops before the session ended. Resume with: ccc \
                     --supervisor --resume {}",
                    self.look.glyphs.dash, story.session_id
                ),
            };
            return vec![Styled::default(), Styled::new(Style::Bold, &text)];
        };
        self.transcript.report(&Report {
            denials: Vec::new(),
            exit_code: outcome.exit_code(),
            outcome: outcome.clone(),
            session_id: Some(story.session_id.clone()),
            rounds: story.rounds.clone(),
            result: String::new(),
            cost_usd: story.cost_usd,
            supervision: story.supervision,
            seconds: story.seconds.clone(),
        })
    }
}

#[cfg(test)]
mod tests;
