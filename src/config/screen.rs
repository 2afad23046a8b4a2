//! What ccc.json says about the user's terminal.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// The sixteen colours of the terminal's own palette.
    #[default]
    Terminal,
    Dark,
    Light,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditorMode {
    #[default]
    Shell,
    Vim,
}

/// How a person is notified that the session waits for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notify {
    /// The best way that this terminal supports.
    #[default]
    Auto,
    Bell,
    Desktop,
    Off,
}

impl Notify {
    pub fn named(name: &str) -> Option<Self> {
        serde_json::from_value(name.into()).ok()
    }
}
