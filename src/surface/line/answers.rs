//! Questions, and which typed lines answer them.

use std::io::Write;

use super::LineSurface;
use crate::client::form::{self, FormQuestion};
use crate::client::plan;
use crate::client::stream::Permission;
use crate::event::{Event, Question};
use crate::surface::Intent;
use crate::surface::status::{self, can_always};
use crate::surface::styled::{Glyphs, Style, Styled};
use crate::surface::terminal::DENIED;

/// The only word that does not answer a form; "n" might be an answer.
const DECLINE: &str = "decline";
/// A longer name of a tool is cut in the marker.
const WIDTH: usize = 48;

impl<W: Write> LineSurface<W> {
    pub(super) fn forget_question(&mut self) {
        self.question = None;
        self.asked = None;
        self.begun_before_question = false;
        self.answers.clear();
        self.kept = None;
    }

    pub(super) fn say_choices(&mut self) {
        let Some(question) = &self.question else { return };
        let text = match self.form() {
            Some((question, at, of)) => {
                let head = match of {
                    1 => String::new(),
                    _ => format!("{at}/{of} {}\n", question.question),
                };
                let number = if question.several { "one or more numbers" } else { "a number" };
                format!(
                    "{head}Type {number} or your own words, or \"{DECLINE}\" to give no answer."
                )
            }
            None if plan::is_plan(&question.asked) => {
                "Type y to go ahead, edits to go ahead and accept edits without asking,\n\
                 n to keep planning, or d followed by what to change."
                    .to_owned()
            }
            None => {
                let always = if can_always(question) {
                    ", always to allow it for the whole session,\n"
                } else {
                    ", "
                };
                format!("Type y to allow it once{always}n to deny it, or d followed by a reason.")
            }
        };
        self.say(Style::Dim, &text);
    }

    pub(super) fn question_marker(&self) -> Styled {
        let Some(question) = &self.question else { return Styled::default() };
        let text = match self.form() {
            Some((_, 1, 1)) => "Answer? ".to_owned(),
            Some((_, at, of)) => format!("Answer {at}/{of}? "),
            None => {
                let head = status::question(
                    question,
                    None,
                    0,
                    |path| self.text.transcript.near(path),
                    Glyphs::ascii(),
                    WIDTH,
                );
                let answers = match can_always(question) {
                    _ if plan::is_plan(&question.asked) => "y/edits/n/d",
                    true => "y/always/n/d",
                    false => "y/n/d",
                };
                format!("{head} [{answers}] ")
            }
        };
        Styled::new(Style::Question, &text)
    }

    pub(super) fn answer(&mut self, typed: &str) -> Option<Intent> {
        let typed = typed.trim();
        if typed == "m"
            && let Some(kept) = self.kept.take()
        {
            return Some(self.message(kept));
        }
        if let Some((question, at, of)) = self.form() {
            return self.form_answer(&question, at == of, typed);
        }
        let question = self.question.as_ref()?;
        let answer = match typed.to_lowercase().as_str() {
            "edits" if plan::is_plan(&question.asked) => Some(Permission::AcceptEdits),
            _ => permission(typed, can_always(question)),
        };
        match answer {
            Some(answer) => self.answered(answer),
            None => {
                self.say_choices();
                if !typed.is_empty() {
                    self.say(
                        Style::Dim,
                        "What you typed was not sent; type m to send it to the agent as a message.",
                    );
                    self.kept = Some(typed.to_owned());
                }
                None
            }
        }
    }

    /// The form's next question, its number, and how many there are.
    fn form(&self) -> Option<(FormQuestion, usize, usize)> {
        let questions = form::questions(&self.question.as_ref()?.asked)?;
        let at = self.answers.len();
        Some((questions.get(at)?.clone(), at + 1, questions.len()))
    }

    fn form_answer(&mut self, question: &FormQuestion, last: bool, typed: &str) -> Option<Intent> {
        if typed == DECLINE {
            return self.answered(Permission::Deny(DENIED.to_owned()));
        }
        if typed.is_empty() {
            self.say_choices();
            return None;
        }
        let answer = question.answer(typed);
        if answer != typed {
            self.say(Style::User, &format!("  {answer}"));
        }
        self.answers.push((question.question.clone(), answer));
        if last {
            let answers = std::mem::take(&mut self.answers);
            return self.answered(Permission::Answers(answers));
        }
        self.say_choices();
        None
    }

    fn answered(&mut self, answer: Permission) -> Option<Intent> {
        let Question { request_id, .. } = self.question.take()?;
        self.forget_question();
        Some(Intent::Event(Event::Answered { request_id, answer }))
    }
}

fn permission(typed: &str, always: bool) -> Option<Permission> {
    let (word, reason) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    match (word.to_lowercase().as_str(), reason.trim()) {
        ("y" | "yes", "") => Some(Permission::Once),
        ("always", "") if always => Some(Permission::Always),
        ("n" | "no" | "d", "") => Some(Permission::Deny(DENIED.to_owned())),
        ("d", reason) => Some(Permission::Deny(reason.to_owned())),
        _ => None,
    }
}
