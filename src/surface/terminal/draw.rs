//! Draws the terminal. The transcript goes to the terminal's own scrollback and is wrapped by the
//! terminal; below it is the live area, which is erased and painted again when the transcript
//! grows.

use std::io;
use std::time::Duration;

use unicode_width::UnicodeWidthStr;

use super::frame::{BEGIN, END, Frame, clamp};
use super::screen::cleared;
use super::{Focus, Screen, Terminal};
use crate::client::mode::PermissionMode;
use crate::client::plan::is_plan;
use crate::surface::status;
use crate::surface::styled::{self, Style, Styled};
use crate::surface::whereabouts::BYPASS;

/// Narrower or lower than this, there is room for the text alone.
const PROMPT_FROM: usize = 8;
const GAP_FROM: usize = 10;
/// The prompt in vi's normal mode; as wide as the usual one.
const VIM_NORMAL_PROMPT: &str = ": ";
/// After a resize this recent, another one may follow before the terminal has read what it is sent.
const RESIZE_SETTLED: Duration = Duration::from_millis(300);
/// How many queued messages are shown.
const QUEUED: usize = 3;

impl<S: Screen> Terminal<S> {
    pub(super) fn draw(&mut self) -> io::Result<()> {
        if !self.taken {
            return Ok(());
        }
        // ccc may not know of a resize yet. A frame for another width would be taken for one that
        // the terminal has rewrapped, and too much would be erased.
        self.set_size(self.screen.size());
        (self.urgent, self.dirty, self.drawn_at) = (false, false, Some(self.now));
        let settled = self.transcript.settle();
        self.print(settled);
        let frame = self.frame();
        let asked = self.question.as_ref().map(|question| question.asked.tool.as_str());
        let escapes = self.attention.escapes(&self.status, asked, self.now);
        // While the terminal is being resized, everything is painted again: rows of two frames
        // could not be told apart on a terminal of a third size.
        let stays = self.pending.is_empty() && !self.wipe && self.is_size_stable();
        if stays && self.drawn.as_ref() == Some(&frame) {
            return self.screen.write_all(escapes.as_bytes()).and_then(|()| self.screen.flush());
        }
        let mut out = escapes.into_bytes();
        out.extend(BEGIN.bytes());
        match self.drawn.take_if(|drawn| stays && frame.fits(drawn)) {
            Some(drawn) => frame.repaint(&drawn, self.look.colour, &mut out),
            None => {
                out.extend(self.clear().bytes());
                self.print_pending(&mut out);
                frame.paint(self.look.colour, &mut out);
            }
        }
        out.extend(END.bytes());
        self.screen.set_above(clamp(frame.cursor.0));
        self.drawn = Some(frame);
        self.screen.write_all(&out)?;
        self.screen.flush()
    }

    /// Erases the live area.
    pub(super) fn clear(&mut self) -> String {
        let (columns, rows) = self.size;
        let drawn = self.drawn.take();
        self.screen.set_above(0);
        if std::mem::take(&mut self.wipe) {
            let clear = cleared(drawn.map_or(0, |frame| frame.above(columns, self.reflow)));
            // Scrolls everything into the scrollback, so that nothing is lost.
            return format!("{clear}\x1b[{rows}B{}\x1b[H\x1b[J", "\r\n".repeat(rows));
        }
        drawn.map(|frame| cleared(frame.above(columns, self.reflow))).unwrap_or_default()
    }

    pub(super) fn print_pending(&mut self, out: &mut Vec<u8>) {
        for line in self.pending.drain(..) {
            line.write(self.look.colour, out);
            out.extend(b"\r\n");
        }
    }

    fn frame(&mut self) -> Frame {
        let (columns, height) = self.size;
        let mut status = self.below_rows(columns, height);
        status.extend(self.alarm_row(columns));
        status.extend(self.status_rows(columns));
        let gap = usize::from(height >= GAP_FROM);
        status.truncate(height - 1 - gap);
        let room = height.saturating_sub(gap + status.len()).clamp(1, (height / 3).max(1));
        let form = self.form().is_some();
        let plan = self.question.as_ref().is_some_and(|question| is_plan(&question.asked));
        let search = self.search_prompt(columns);
        let (editor, prompt) = match self.focus {
            Focus::Reason if form => (&mut self.reason, self.look.glyphs.prompt),
            Focus::Reason if plan => (&mut self.reason, "What should change? "),
            Focus::Reason => (&mut self.reason, "Why? "),
            _ if search.is_none() && self.editor.is_vim_normal() => {
                (&mut self.editor, VIM_NORMAL_PROMPT)
            }
            _ => (&mut self.editor, search.as_deref().unwrap_or(self.look.glyphs.prompt)),
        };
        let prompt = if columns < PROMPT_FROM { "" } else { prompt };
        // One column is left for the cursor after a full row.
        editor.set_cells(columns.saturating_sub(prompt.width() + 1));
        let view = editor.view(room);
        let queued = self.queued_rows(columns);
        let used = gap + queued.len() + view.rows.len() + status.len();
        // Half of what is left, because a terminal that becomes narrower may need twice as many
        // rows for them. None while the size keeps changing, because it would be unknown whether
        // the terminal has rewrapped them.
        let room = if self.is_size_stable() { height.saturating_sub(used) / 2 } else { 0 };
        let mut rows = self.transcript.live(room);
        let checks = status::check_rows(&self.status, self.now, self.look.glyphs);
        // The head, and as much of the end as there is room for.
        let tail = checks.len().saturating_sub(1).min(room.saturating_sub(rows.len() + 1));
        let hidden = checks.len().saturating_sub(tail);
        let checks = checks.into_iter().enumerate().filter(|(at, _)| *at == 0 || *at >= hidden);
        let checks = checks.map(|(_, row)| row.cut(columns, self.look.glyphs.ellipsis));
        rows.extend(checks.take(room));
        rows.extend(vec![Styled::default(); gap]);
        rows.extend(queued);
        let above = rows.len();
        for (at, text) in view.rows.iter().enumerate() {
            let first = at == 0 && view.from_start;
            let indent = " ".repeat(prompt.width());
            let prompt = if first { prompt } else { &indent };
            rows.push(Styled::new(Style::User, prompt).with(Style::Plain, text));
        }
        let cursor = (above + view.cursor.0, (prompt.width() + view.cursor.1).min(columns - 1));
        rows.append(&mut status);
        Frame { rows, cursor, cursor_shown: self.focus != Focus::Answer, size: self.size }
    }

    pub(super) fn is_size_stable(&self) -> bool {
        self.resized_at.is_none_or(|at| self.now.saturating_sub(at) >= RESIZE_SETTLED)
    }

    /// Messages that the agent has not taken up yet.
    fn queued_rows(&self, columns: usize) -> Vec<Styled> {
        let glyphs = self.look.glyphs;
        let mut rows: Vec<_> = self
            .status
            .queued
            .iter()
            .map(|text| {
                let (first, more) = styled::first_line(text);
                let more = if more { glyphs.ellipsis } else { "" };
                let line =
                    Styled::new(Style::Dim, &format!("queued {} {first} {more}", glyphs.arrow));
                line.cut(columns, glyphs.ellipsis)
            })
            .collect();
        let hidden = rows.len().saturating_sub(QUEUED);
        rows.drain(..hidden);
        if !rows.is_empty() {
            let more = if hidden > 0 { format!("{hidden} more queued, ") } else { String::new() };
            let hint = format!("{more}Up takes the last one back");
            rows.push(Styled::new(Style::Dim, &hint).cut(columns, glyphs.ellipsis));
        }
        rows
    }

    /// A warning that must always be visible.
    fn alarm_row(&self, columns: usize) -> Option<Styled> {
        let skipped = self.status.mode == Some(PermissionMode::Bypass);
        let row = || Styled::new(Style::Alarm, BYPASS).cut(columns, self.look.glyphs.ellipsis);
        skipped.then(row)
    }

    fn status_rows(&self, columns: usize) -> Vec<Styled> {
        let glyphs = self.look.glyphs;
        if let Some(menu) = &self.menu {
            return menu.rows(self.size, glyphs);
        }
        let note = |text: &str| {
            vec![Styled::new(Style::Question, &styled::cut(text, columns, glyphs.ellipsis))]
        };
        if self.escaped.is_some() {
            return note("press Esc again to go back to an earlier message");
        }
        if self.leaving.is_some() {
            return note("press Ctrl-C again to exit");
        }
        let Some(question) = &self.question else {
            return vec![status::line(&self.status, &self.provider, self.now, glyphs, columns)];
        };
        let behind = self.status.questions.saturating_sub(1);
        let form = self.form();
        let head = status::question(
            question,
            form.as_ref(),
            behind,
            |path| self.transcript.near(path),
            glyphs,
            columns,
        );
        match (self.focus, form) {
            (Focus::Reason, Some(_)) => note(&format!("{head}  Enter to answer, Esc to go back")),
            (Focus::Reason, None) => {
                let denies = if is_plan(&question.asked) { "send" } else { "deny" };
                note(&format!("Enter to {denies}, Esc to go back"))
            }
            (Focus::Answer, _) => {
                self.choices.rows(&head, self.question_is_long, self.size, glyphs)
            }
            (Focus::Text, _) => note(&format!("{head}  Tab to answer")),
            (Focus::Fresh, _) => note(&head),
        }
    }
}
