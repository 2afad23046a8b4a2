//! What each key means to the session, to a question, or to the text.

use crossterm::event::{Event as Input, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::choices::Choice;
use super::menu::{Menu, Pressed};
use super::{Focus, SECOND_KEY, Screen, Terminal};
use crate::client::stream::Permission;
use crate::event::{Event, Phase, Wish};
use crate::surface::commands::{self, About, NO_MODELS, NO_TODOS, OwnCommand, own_command};
use crate::surface::styled::{Style, Styled};
use crate::surface::{ImageSource, Intent};

/// What the agent is told when the person denies without a reason.
pub const DENIED: &str = "The user does not allow this.";

/// Escape and Ctrl-X in quick succession look like Ctrl-Alt-X, which is not used here.
fn pressed(key: KeyEvent) -> Vec<KeyEvent> {
    let both = KeyModifiers::CONTROL | KeyModifiers::ALT;
    if matches!(key.code, KeyCode::Char(_)) && key.modifiers == both {
        let control = KeyEvent::new(key.code, KeyModifiers::CONTROL);
        vec![KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE), control]
    } else {
        vec![key]
    }
}

/// Whether it may contain the path of an image; no other paste causes file access.
fn may_be_a_file(text: &str) -> bool {
    const LONGEST: usize = 4096;
    let text = text.trim();
    let end = text.trim_end_matches(['\'', '"']).to_ascii_lowercase();
    text.len() <= LONGEST
        && !text.contains('\n')
        && [".png", ".jpg", ".jpeg", ".gif", ".webp"].iter().any(|kind| end.ends_with(kind))
}

impl<S: Screen> Terminal<S> {
    pub(super) fn on_input(&mut self, input: Input) -> Vec<Intent> {
        match input {
            // Read before the terminal was given away, so it was meant for what was visible then.
            Input::Key(_) | Input::Paste(_) if !self.taken => Vec::new(),
            Input::Key(key) if key.kind != KeyEventKind::Release => {
                pressed(key).into_iter().filter_map(|key| self.key(key)).collect()
            }
            Input::Paste(text) => {
                self.leaving = None;
                self.desk.help = false;
                self.desk.completion.close();
                if self.focus == Focus::Reason {
                    self.reason.paste(&text);
                } else {
                    self.focus = Focus::Text;
                    if may_be_a_file(&text) {
                        return vec![Intent::Attach(ImageSource::Pasted(text))];
                    }
                    self.editor.paste(&text);
                }
                Vec::new()
            }
            Input::Resize(columns, rows) => {
                self.resized_at = Some(self.now);
                self.set_size((columns, rows));
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn key(&mut self, key: KeyEvent) -> Option<Intent> {
        if let Some(menu) = &mut self.menu {
            let pressed = menu.key(key);
            if pressed != Pressed::Stays {
                self.menu = None;
            }
            return match pressed {
                Pressed::Chosen(wish) => Some(Intent::Event(Event::Wish(wish))),
                Pressed::Stays | Pressed::Closed => None,
            };
        }
        let leaving = std::mem::take(&mut self.leaving);
        let escaped = std::mem::take(&mut self.escaped);
        if self.rewind.is_some() {
            return self.rewind_key(key);
        }
        if key.code == KeyCode::Esc && self.can_rewind() {
            match escaped.filter(|at| self.now.saturating_sub(*at) < SECOND_KEY) {
                Some(_) => self.offer_rewind(),
                None => self.escaped = Some(self.now),
            }
            return None;
        }
        let help = std::mem::take(&mut self.desk.help);
        let control = key.modifiers == KeyModifiers::CONTROL;
        match key.code {
            KeyCode::Char('z') if control => return Some(Intent::Suspend),
            KeyCode::Char('l') if control => {
                self.wipe = true;
                return None;
            }
            KeyCode::Char('o') if control && self.question.is_some() => {
                return Some(Intent::Page(self.question_text.clone()));
            }
            KeyCode::Char('o') if control => return Some(Intent::Page(self.log.text())),
            KeyCode::Char('t') if control => {
                self.toggle_todos();
                return None;
            }
            KeyCode::Char('b') if control && self.transcript.is_running_tool() => {
                return Some(Intent::Event(Event::Wish(Wish::Background)));
            }
            KeyCode::BackTab if self.focus != Focus::Reason => {
                return Some(Intent::Event(Event::Wish(Wish::NextMode)));
            }
            KeyCode::Char('c') if control => return self.control_c(leaving.is_some()),
            KeyCode::Char('d') if control && self.focus != Focus::Reason => {
                if self.editor.is_empty() && self.editor.searching().is_none() {
                    return Some(Intent::Event(Event::Leave));
                }
                self.focus = Focus::Text;
            }
            _ => {}
        }
        match self.focus {
            Focus::Answer => self.answer_key(key),
            Focus::Reason => self.reason_key(key),
            Focus::Text | Focus::Fresh if help && key.code == KeyCode::Esc => None,
            Focus::Text | Focus::Fresh => self.text_key(key, help),
        }
    }

    /// Whether Escape has no other function now.
    fn can_rewind(&self) -> bool {
        self.status.phase == Phase::Waiting
            && self.focus == Focus::Text
            && self.editor.is_empty()
            && self.editor.searching().is_none()
            && !self.desk.help
            && !self.desk.completion.is_open()
    }

    fn toggle_todos(&mut self) {
        if self.transcript.has_todos() {
            self.todos = Some(!self.transcript.shows_todos);
        } else {
            let lines = self.transcript.remark(Style::Dim, NO_TODOS);
            self.print(lines);
        }
    }

    pub fn toggle_vim(&mut self) -> bool {
        self.editor.toggle_vim()
    }

    fn choose_model(&mut self) {
        self.menu = Menu::models(&self.desk.models, &self.status.model);
        if self.menu.is_none() {
            let lines = self.transcript.remark(Style::Dim, NO_MODELS);
            self.print(lines);
        }
    }

    fn busy(&self) -> bool {
        matches!(self.status.phase, Phase::Working | Phase::Reviewing)
    }

    fn control_c(&mut self, leaving: bool) -> Option<Intent> {
        if self.focus == Focus::Reason {
            self.reason.clear();
            self.focus = Focus::Answer;
        } else if self.editor.searching().is_some() {
            self.editor.cancel_search();
        } else if !self.editor.is_empty() {
            self.editor.clear();
            self.desk.completion.reset();
        } else if self.busy() {
            return Some(Intent::Event(Event::Interrupt));
        } else if leaving {
            return Some(Intent::Event(Event::Leave));
        } else {
            self.leaving = Some(self.now);
        }
        None
    }

    fn text_key(&mut self, key: KeyEvent, help: bool) -> Option<Intent> {
        let popup = self.desk.completion.is_open();
        if key.code == KeyCode::Tab && self.question.is_some() && !popup {
            self.focus = Focus::Answer;
            return None;
        }
        // An Enter that came too early to be an answer, with nothing to send.
        let too_early = self.focus == Focus::Fresh && key.code == KeyCode::Enter;
        if too_early && self.editor.is_empty() && self.editor.searching().is_none() {
            self.asked = Some(self.now);
            return None;
        }
        // A person who is typing keeps typing: a question that appears meanwhile gets no key.
        self.focus = Focus::Text;
        if self.editor.search_key(key) || self.desk.popup_key(key, &mut self.editor) {
            return None;
        }
        let plain = key.modifiers.is_empty();
        let control = key.modifiers == KeyModifiers::CONTROL;
        let empty = self.editor.is_empty();
        let queued = !self.status.queued.is_empty();
        match key.code {
            KeyCode::Esc if self.editor.takes_escape() => {
                self.editor.key(key);
                None
            }
            KeyCode::Esc if self.busy() => Some(Intent::Event(Event::Interrupt)),
            KeyCode::Enter if plain => self.send(),
            KeyCode::Up if plain && empty && queued => Some(Intent::Event(Event::TakeBack)),
            KeyCode::Char('v') if control => Some(Intent::Attach(ImageSource::Clipboard)),
            KeyCode::Char('g') if control => {
                self.desk.completion.close();
                Some(Intent::Edit(self.editor.text()))
            }
            KeyCode::Char('r') if control && !self.editor.is_vim_normal() => {
                self.desk.completion.close();
                self.editor.start_search();
                None
            }
            // A second `?` is typed.
            KeyCode::Char('?') if empty && !help && !control => {
                self.desk.help = true;
                None
            }
            KeyCode::Tab => {
                self.desk.completion.reset();
                self.desk.complete(&self.editor);
                None
            }
            _ => {
                self.editor.key(key);
                if self.editor.is_vim_normal() {
                    self.desk.completion.close();
                } else {
                    self.desk.after(key, &self.editor);
                }
                None
            }
        }
    }

    fn send(&mut self) -> Option<Intent> {
        self.desk.completion.close();
        let text = self.editor.enter()?;
        self.desk.completion.reset();
        // A single "y" or "n" is meant for the question, not for the agent.
        if self.question.is_some() && self.form().is_none() {
            match text.trim().to_lowercase().as_str() {
                "y" | "yes" => return self.answer(Permission::Once),
                "n" | "no" => return self.answer(Permission::Deny(DENIED.to_owned())),
                _ => {}
            }
        }
        (self.desk.aids.remember)(&text);
        let about = About {
            status: &self.status,
            account: self.transcript.account(),
            session: self.transcript.session(),
        };
        match own_command(&text, &about, &self.desk.completion.commands) {
            Some(command) => self.own_command(command),
            None => {
                let text = commands::behind(&mut self.shown_to_the_agent, text);
                Some(Intent::Event(Event::Said(text)))
            }
        }
    }

    fn own_command(&mut self, command: OwnCommand) -> Option<Intent> {
        match command {
            OwnCommand::Leave => Some(Intent::Event(Event::Leave)),
            OwnCommand::Shell(command) => {
                // Its output appears on the terminal directly.
                let lines = self.transcript.remark(Style::User, &format!("! {command}"));
                self.print(lines);
                Some(Intent::Shell(command))
            }
            OwnCommand::Note(note) => Some(Intent::Note(note)),
            OwnCommand::Wish(wish) => Some(Intent::Event(Event::Wish(wish))),
            OwnCommand::Diff => Some(Intent::Diff),
            OwnCommand::Image(source) => Some(Intent::Attach(source)),
            OwnCommand::ChooseModel => {
                self.choose_model();
                None
            }
            OwnCommand::Todos => {
                self.toggle_todos();
                None
            }
            OwnCommand::Vim => {
                let on = self.editor.toggle_vim();
                let text = if on { "vi keys are on." } else { "vi keys are off." };
                let lines = self.transcript.remark(Style::Dim, text);
                self.print(lines);
                None
            }
            OwnCommand::Help => {
                self.desk.help = true;
                None
            }
            OwnCommand::Rewind(_) => {
                self.offer_rewind();
                None
            }
            OwnCommand::Answer(text) => {
                let lines = self.transcript.remark(Style::Plain, &text);
                self.print(lines);
                None
            }
        }
    }

    fn answer_key(&mut self, key: KeyEvent) -> Option<Intent> {
        let plain = key.modifiers.difference(KeyModifiers::SHIFT).is_empty();
        let control = key.modifiers == KeyModifiers::CONTROL;
        match key.code {
            KeyCode::Tab => self.focus = Focus::Text,
            KeyCode::Esc => return self.answer(Permission::Deny(DENIED.to_owned())),
            KeyCode::Up => self.choices.step(false),
            KeyCode::Down => self.choices.step(true),
            KeyCode::Char('p') if control => self.choices.step(false),
            KeyCode::Char('n') if control => self.choices.step(true),
            KeyCode::Char(' ') if self.choices.marks_several() => self.choices.mark(),
            KeyCode::Enter if plain => return self.choose(),
            KeyCode::Char(c) if plain && c.is_ascii_digit() => self.choices.select(c),
            // The beginning of a message, or of an answer in the person's own words.
            KeyCode::Char(c) if plain && (self.form().is_some() || self.choices.takes_words(c)) => {
                self.focus = Focus::Reason;
                self.reason.paste(&self.choices.take_digits(c));
                return self.reason_key(key);
            }
            KeyCode::Char(c) if plain => {
                self.editor.paste(&self.choices.take_digits(c));
                return self.text_key(key, false);
            }
            _ => {}
        }
        None
    }

    fn choose(&mut self) -> Option<Intent> {
        match self.choices.selected()? {
            Choice::Once => self.answer(Permission::Once),
            Choice::Always => self.answer(Permission::Always),
            Choice::AcceptEdits => self.answer(Permission::AcceptEdits),
            Choice::Deny | Choice::Decline => self.answer(Permission::Deny(DENIED.to_owned())),
            Choice::DenyAndExplain | Choice::OwnWords => {
                self.focus = Focus::Reason;
                None
            }
            Choice::Option(_) => {
                let numbers = self.choices.numbers();
                self.form_answer(&numbers)
            }
        }
    }

    fn reason_key(&mut self, key: KeyEvent) -> Option<Intent> {
        match key.code {
            KeyCode::Esc => {
                self.focus = Focus::Answer;
                None
            }
            KeyCode::Enter if key.modifiers.is_empty() && self.form().is_some() => {
                self.form_enter()
            }
            KeyCode::Enter if key.modifiers.is_empty() => {
                let blank = self.reason.is_blank();
                let reason = self.reason.enter();
                // Without a reason it is a plain no; after a backslash another line follows.
                let reason = reason.or_else(|| blank.then(|| DENIED.to_owned()))?;
                self.answer(Permission::Deny(reason))
            }
            _ => {
                self.reason.key(key);
                None
            }
        }
    }

    fn form_enter(&mut self) -> Option<Intent> {
        let typed = self.reason.enter()?;
        self.form_answer(&typed)
    }

    fn form_answer(&mut self, typed: &str) -> Option<Intent> {
        let (question, at, of) = self.form()?;
        let answer = question.answer(typed);
        let arrow = self.look.glyphs.arrow;
        self.pending.push(Styled::new(Style::User, &format!("  {arrow} {answer}")));
        self.answers.push((question.question, answer));
        if at < of {
            self.offer();
            self.focus = Focus::Answer;
            return None;
        }
        let answers = std::mem::take(&mut self.answers);
        self.answer(Permission::Answers(answers))
    }

    fn answer(&mut self, answer: Permission) -> Option<Intent> {
        let question = self.question.take()?;
        self.forget_question();
        Some(Intent::Event(Event::Answered { request_id: question.request_id, answer }))
    }
}
