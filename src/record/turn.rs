//! A summary of a turn of the agent: what it used, and its answer.

use crate::client::stream::{Block, Line, Message};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct TurnSummary {
    pub answer: String,
    /// How often each tool was used, in the order of their first use.
    pub tools: Vec<(String, u32)>,
    pub failed: bool,
    pub seconds: f64,
    pub cost_usd: f64,
}

#[derive(Debug, Default)]
pub struct Turns {
    turn: TurnSummary,
    began: Option<f64>,
    /// What the process reports to have cost so far.
    cost: f64,
}

impl Turns {
    /// Returns the turn that this line ends.
    pub fn line(&mut self, line: &Line, at: f64) -> Option<TurnSummary> {
        let mut ended = None;
        for envelope in line.messages() {
            let own = envelope.parent.is_none();
            match &envelope.message {
                Message::Init(_) if own => {
                    self.began.get_or_insert(at);
                }
                Message::Assistant { blocks, .. } => {
                    blocks.iter().for_each(|block| self.block(block, own));
                }
                Message::Result(result) if own => {
                    let mut turn = std::mem::take(&mut self.turn);
                    turn.failed = result.is_error;
                    if !result.text.trim().is_empty() {
                        turn.answer.clone_from(&result.text);
                    }
                    turn.seconds = self.began.take().map_or(0.0, |began| at - began);
                    // A new process starts counting from zero.
                    let before = if result.cost_usd < self.cost { 0.0 } else { self.cost };
                    turn.cost_usd = result.cost_usd - before;
                    self.cost = result.cost_usd;
                    ended = Some(turn);
                }
                _ => {}
            }
        }
        ended
    }

    fn block(&mut self, block: &Block, own: bool) {
        match block {
            Block::Text(text) if own && !text.trim().is_empty() => {
                self.turn.answer.clone_from(text);
            }
            Block::ToolUse { name, .. } => {
                match self.turn.tools.iter_mut().find(|(known, _)| known == name) {
                    Some((_, times)) => *times += 1,
                    None => self.turn.tools.push((name.clone(), 1)),
                }
            }
            _ => {}
        }
    }
}
