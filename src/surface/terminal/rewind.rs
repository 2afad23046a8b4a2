//! Esc Esc: choose an earlier message to go back to, then what to restore.

use crossterm::event::KeyEvent;

use super::{Screen, Terminal};
use crate::event::{Event, GoBack};
use crate::machine::RewindPoint;
use crate::surface::styled::{self, Style, Styled};
use crate::surface::{Intent, Picked, Picker};

const WHAT: [(&str, GoBack); 3] = [
    ("The conversation and the files", GoBack::Both),
    ("The conversation only", GoBack::Conversation),
    ("The files only", GoBack::Files),
];
/// Shown when there is nothing to go back to.
pub const NOTHING: &str = "There is no earlier message in this session to go back to.";

/// The choice in progress.
#[derive(Debug)]
pub struct Rewind {
    picker: Picker,
    points: Vec<RewindPoint>,
    /// The message that was chosen.
    chosen: Option<String>,
}

impl Rewind {
    pub fn new(points: Vec<RewindPoint>, ellipsis: &str) -> Self {
        let entries = points.iter().map(|point| shown(point, ellipsis)).collect();
        Self {
            picker: Picker::new("Go back to before which message?", entries),
            points,
            chosen: None,
        }
    }
}

/// One line about a point.
pub fn shown(point: &RewindPoint, ellipsis: &str) -> String {
    let (first, more) = styled::first_line(&point.text);
    let more = if more { format!(" {ellipsis}") } else { String::new() };
    let better = if point.better { " (better than now)" } else { "" };
    match point.round {
        Some(round) => format!("round {round} was sent back{better}: {first}{more}"),
        None => format!("{first}{more}"),
    }
}

impl<S: Screen> Terminal<S> {
    pub(super) fn offer_rewind(&mut self) {
        if self.status.points.is_empty() {
            let lines = self.transcript.remark(Style::Dim, NOTHING);
            self.print(lines);
        } else {
            self.rewind = Some(Rewind::new(self.status.points.clone(), self.look.glyphs.ellipsis));
        }
    }

    pub(super) fn rewind_key(&mut self, key: KeyEvent) -> Option<Intent> {
        let rewind = self.rewind.as_mut()?;
        match (rewind.picker.key(key), &rewind.chosen) {
            (Picked::Nothing, _) => None,
            (Picked::Cancelled, _) => {
                self.rewind = None;
                None
            }
            (Picked::Entry(at), None) => {
                rewind.chosen = rewind.points.get(at).map(|point| point.uuid.clone());
                let what = WHAT.map(|(text, _)| text.to_owned()).to_vec();
                rewind.picker = Picker::new("What should be restored?", what);
                None
            }
            (Picked::Entry(at), Some(uuid)) => {
                let (_, what) = WHAT.get(at)?;
                let event = Event::GoBack { uuid: uuid.clone(), what: *what };
                self.rewind = None;
                Some(Intent::Event(event))
            }
        }
    }

    pub(super) fn rewind_rows(&self, height: usize) -> Option<Vec<Styled>> {
        let rewind = self.rewind.as_ref()?;
        Some(rewind.picker.rows((self.size.0, height), self.look.glyphs))
    }
}
