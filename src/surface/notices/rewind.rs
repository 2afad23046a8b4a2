//! Going back to an earlier message.

use super::super::Transcript;
use super::super::styled::{self, Style, Styled};
use crate::event::GoBack;

impl Transcript {
    pub(super) fn went_back(&mut self, text: &str, what: GoBack) -> Vec<Styled> {
        let (first, more) = styled::first_line(text);
        let more = if more { format!(" {}", self.look.glyphs.ellipsis) } else { String::new() };
        let (what, were) = subject(what);
        let line = format!("Restored {what} as {were} before: {first}{more}");
        let lines = self.fitted(vec![Styled::new(Style::Dim, &line)], "  ");
        self.apart(lines)
    }

    pub(super) fn not_gone_back(&mut self, what: GoBack, why: &str) -> Vec<Styled> {
        // The client's own words for two things that people meet.
        let why = match why {
            "stale target" => {
                "this version of claude can only take back its last message; update claude"
            }
            "File rewinding is not enabled." | "No file checkpoint found for this message." => {
                "claude has no copy of the files from before this message"
            }
            "" => "claude gave no reason",
            other => other,
        };
        let line = format!("Could not restore {}: {why}", subject(what).0);
        let lines = self.fitted(vec![Styled::new(Style::Bad, &line)], "  ");
        self.apart(lines)
    }
}

fn subject(what: GoBack) -> (&'static str, &'static str) {
    match what {
        GoBack::Both => ("the conversation and the files", "they were"),
        GoBack::Conversation => ("the conversation", "it was"),
        GoBack::Files => ("the files", "they were"),
    }
}
