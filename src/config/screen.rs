//! What ccc.json says about the user's terminal.

use serde::Deserialize;

/// The colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// The sixteen colours as the terminal has them.
    #[default]
    Terminal,
    Dark,
    Light,
}

/// The keys of the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditorMode {
    #[default]
    Shell,
    Vim,
}

/// How a person is told that the session waits for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notify {
    /// As this terminal can.
    #[default]
    Auto,
    Bell,
    Desktop,
    Off,
}

impl Notify {
    /// As `CCC_NOTIFY` has it.
    pub fn named(name: &str) -> Option<Self> {
        serde_json::from_value(name.into()).ok()
    }
}
