//! Observes a running review without a screen: which models judge, and how often they were asked.

use crate::client::stream::{Line, Message};
use crate::event::Notice;
use crate::surface::Surface;

#[derive(Debug, Default)]
pub struct Watching {
    /// The models as the judges' clients name them.
    pub models: Vec<String>,
    /// Turns that judges have completed.
    pub answers: u32,
    /// How many judges were started.
    pub started: u32,
    /// Why a judge gave no verdict.
    pub failures: Vec<String>,
}

impl Surface for Watching {
    fn supervisor(&mut self, line: &Line) {
        for envelope in line.messages() {
            match &envelope.message {
                Message::Init(init) if !self.models.contains(&init.model) => {
                    self.models.push(init.model.clone());
                }
                Message::Result(_) => self.answers += 1,
                _ => {}
            }
        }
    }

    fn notice(&mut self, notice: &Notice) {
        match notice {
            Notice::ReviewStarted { .. } => self.started += 1,
            Notice::ReviewFailed { reason, .. } => self.failures.push(reason.clone()),
            _ => {}
        }
    }
}
