//! The terminal as a surface of the session: shows what happens, and turns keys into intents.

use std::io;
use std::time::Duration;

use super::{ANSWERS_ROWS, Focus, NOT_DIFF, SECOND_KEY, SETTLE, Screen, Terminal};
use crate::client::stream::Line;
use crate::console;
use crate::event::{Notice, Now, Phase, Question};
use crate::machine::Status;
use crate::surface::styled::{self, Style, Styled};
use crate::surface::{Intent, Report, Surface, commands, diff, status};

impl<S: Screen> Surface for Terminal<S> {
    fn agent(&mut self, line: &Line) {
        self.dirty = true;
        self.desk.learn(line, &self.editor);
        let lines = self.transcript.agent(line);
        self.print(lines);
    }

    fn supervisor(&mut self, line: &Line) {
        self.dirty = true;
        let lines = self.transcript.supervisor(line);
        self.print(lines);
    }

    fn notice(&mut self, notice: &Notice) {
        self.dirty = true;
        let lines = self.transcript.notice(notice);
        self.print(lines);
    }

    fn check_printed(&mut self, text: &str) {
        self.transcript.check_printed(text);
    }

    fn ask(&mut self, question: &Question) {
        self.forget_question();
        self.urgent = true;
        let lines = self.transcript.question(question);
        let text = lines.iter().map(|line| line.text() + "\n").collect::<String>();
        self.question_is_long = lines.len() + ANSWERS_ROWS > self.size.1;
        text.trim_start().clone_into(&mut self.question_text);
        self.print(lines);
        self.question = Some(question.clone());
        self.offer();
        self.focus = if self.editor.is_empty() { Focus::Fresh } else { Focus::Text };
    }

    fn unask(&mut self) {
        if self.question.is_some() {
            self.pending.push(Styled::new(Style::Dim, "The question was withdrawn."));
            self.transcript.withdrawn();
        }
        self.forget_question();
    }

    fn give_back(&mut self, text: &str) {
        self.editor.put_in_front(text);
    }

    fn update(&mut self, status: &Status, now: Now) -> io::Result<()> {
        self.urgent |= self.status.phase != status.phase;
        self.desk.update_files(&self.editor);
        self.status.clone_from(status);
        self.now = now;
        self.transcript.set_now(now);
        let working = status.phase == Phase::Working;
        let taken_up = self.transcript.set_queued(working, &status.queued);
        self.print(taken_up);
        let open = working && self.transcript.has_open_todos();
        self.transcript.shows_todos = self.todos.unwrap_or(open);
        let fresh = |pressed: &Now| now.saturating_sub(*pressed) < SECOND_KEY;
        self.leaving = self.leaving.filter(fresh);
        self.escaped = self.escaped.filter(fresh);
        if self.focus == Focus::Fresh && self.taken {
            let asked = *self.asked.get_or_insert(now);
            if now.saturating_sub(asked) >= SETTLE {
                self.focus = Focus::Answer;
            }
        }
        if self.next_frame_in().is_none_or(|after| after.is_zero()) { self.draw() } else { Ok(()) }
    }

    fn redraw_in(&self) -> Option<Duration> {
        if !self.taken {
            return None;
        }
        let moves = matches!(self.status.phase, Phase::Working | Phase::Reviewing);
        let waits = self.leaving.is_some()
            || self.escaped.is_some()
            || self.focus == Focus::Fresh
            || self.desk.is_waiting()
            || !self.is_size_stable();
        self.next_frame_in().or((moves || waits).then_some(status::FRAME))
    }

    fn set_now(&mut self, now: Now) {
        self.now = now;
    }

    fn input(&mut self, input: crossterm::event::Event) -> Vec<Intent> {
        self.urgent = true;
        self.attention.typed(self.now);
        self.on_input(input)
    }

    fn edited(&mut self, text: Result<String, String>) {
        self.on_edited(text);
    }

    fn ran(&mut self, command: &str, output: &str) {
        self.shown_to_the_agent.push_str(&commands::shown_to_the_agent(command, output));
        self.shown_to_the_agent.push_str("\n\n");
        let output = styled::lines(Style::Dim, output);
        self.log.add(&output, Vec::new());
        let told = "The agent will see this with your next message.";
        let lines = self.transcript.remark(Style::Dim, told);
        self.print(lines);
    }

    fn diff(&mut self, text: &str) -> bool {
        // The rows of a long line stand behind its mark.
        let lines = self.transcript.fitted(diff::patch(text), "    ");
        let fits = lines.len() + NOT_DIFF <= self.size.1;
        if fits {
            let lines = self.transcript.own(lines);
            self.print(lines);
        }
        fits
    }

    fn attached(&mut self, text: &str) {
        let space = if text.starts_with('[') { " " } else { "" };
        self.editor.paste(&format!("{text}{space}"));
        self.dirty = true;
        self.urgent = true;
    }

    fn told(&mut self, text: Result<String, String>) {
        let (style, text) = text.map_or_else(
            |bad| (Style::Bad, console::without_numbers(&bad)),
            |good| (Style::Dim, good),
        );
        let lines = self.transcript.remark(style, &text);
        self.print(lines);
    }

    fn suspend(&mut self) {
        if let Err(error) = self.give_back() {
            log::warn!("the terminal could not be given back: {error}");
        }
    }

    fn resume(&mut self) {
        if self.taken {
            return;
        }
        if let Err(error) = self.take() {
            log::warn!("the terminal could not be taken again: {error}");
        }
    }

    fn close(&mut self, report: &Report) -> io::Result<()> {
        self.forget_question();
        self.pending.extend(self.transcript.report(report));
        self.give_back()
    }
}
