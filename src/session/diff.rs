//! Shows the person what the task has changed. The comparison runs on its own thread, like
//! everything about files.

use std::sync::PoisonError;

use super::checks::NOT_COMPARABLE;
use super::{Incoming, Session};
use crate::brief::diff::patch;
use crate::threads::named;

impl Session<'_> {
    pub(super) fn show_diff(&mut self) {
        let Some(workplace) = self.setup.workplace.clone() else { return };
        let (base, to_control) = (self.base.clone(), self.to_control.clone());
        let started = named("diff", move || {
            let held = base.0.lock().unwrap_or_else(PoisonError::into_inner);
            let text = held.as_ref().map(|before| {
                let dir = &workplace.surroundings.dir;
                let now = workplace.look_again(Some(before));
                if !before.is_comparable(&now) {
                    return Err(NOT_COMPARABLE.to_owned());
                }
                let changed = super::checks::changes(before, &now, dir);
                Ok(patch(dir, workplace.git.as_deref(), before.commit(), &changed))
            });
            drop(held);
            // The session may be over by then.
            drop(to_control.send(Incoming::Diff(text.unwrap_or_else(|| Ok(String::new())))));
        });
        if let Err(error) = started {
            self.surface.told(Err(format!("Could not compare the files: {error}")));
        }
    }

    /// Shows the diff, in the person's pager if it is too long for the screen.
    pub(super) fn diff_found(&mut self, found: Result<String, String>) {
        let text = match found {
            Ok(text) => text,
            Err(why) => {
                return self.surface.told(Err(format!("Could not compare the files: {why}")));
            }
        };
        if text.is_empty() {
            self.surface.told(Ok("Nothing has changed since the task began.".to_owned()));
        } else if !self.surface.diff(&text) {
            self.page(&text);
        }
    }
}
