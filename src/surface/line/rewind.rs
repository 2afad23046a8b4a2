//! `/rewind` without drawing: a numbered list, and a line that names a number.

use std::io::Write;

use super::LineSurface;
use crate::event::{Event, GoBack};
use crate::surface::Intent;
use crate::surface::styled::Style;
use crate::surface::terminal::{NOTHING_TO_GO_BACK_TO, point_shown};

const HOW: &str = "Type /rewind and a number to go back to just before that message.\n\
    The conversation and the files both go back; add \"conversation\" or \"files\"\n\
    for only one of them.";

impl<W: Write> LineSurface<W> {
    pub(super) fn rewind(&mut self, rest: &str) -> Vec<Intent> {
        let points = self.status.as_ref().map(|status| status.points.clone()).unwrap_or_default();
        if points.is_empty() {
            self.say(Style::Dim, NOTHING_TO_GO_BACK_TO);
            return Vec::new();
        }
        let (number, what) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let number = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let what = match what.trim() {
            "" | "both" => Some(GoBack::Both),
            "conversation" => Some(GoBack::Conversation),
            "files" => Some(GoBack::Files),
            _ => None,
        };
        match (number.and_then(|number| points.get(number)), what) {
            (Some(point), Some(what)) => {
                vec![Intent::Event(Event::GoBack { uuid: point.uuid.clone(), what })]
            }
            _ => {
                let ellipsis = self.text.transcript.look.glyphs.ellipsis;
                for (at, point) in points.iter().enumerate() {
                    let shown = point_shown(point, ellipsis);
                    self.say(Style::Plain, &format!("{:>2}. {shown}", at + 1));
                }
                self.say(Style::Dim, HOW);
                Vec::new()
            }
        }
    }
}
