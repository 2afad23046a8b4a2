//! Permission modes: what the client asks about, and what it does without asking.

use serde::{Deserialize, Serialize};

/// The client's permission modes. An unknown name is kept and shown as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum PermissionMode {
    /// Asks about everything that could do harm.
    #[default]
    Ask,
    AcceptEdits,
    /// Changes nothing until a plan is approved.
    Plan,
    /// A check by the provider decides.
    Auto,
    /// Denies what it would otherwise ask about.
    DontAsk,
    /// Asks about nothing.
    Bypass,
    Other(String),
}

impl PermissionMode {
    pub fn name(&self) -> &str {
        match self {
            Self::Ask => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::Auto => "auto",
            Self::DontAsk => "dontAsk",
            Self::Bypass => "bypassPermissions",
            Self::Other(name) => name,
        }
    }

    pub fn words(&self) -> &str {
        match self {
            Self::Ask => "ask",
            Self::AcceptEdits => "accept edits",
            Self::Plan => "plan",
            Self::Auto => "auto",
            Self::DontAsk => "deny unasked",
            Self::Bypass => "skip permissions",
            Self::Other(name) => name,
        }
    }

    pub fn typed(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        Some(match text.as_str() {
            "ask" | "default" | "manual" => Self::Ask,
            "edits" | "accept edits" | "acceptedits" => Self::AcceptEdits,
            "plan" => Self::Plan,
            "auto" => Self::Auto,
            "bypass" | "skip permissions" | "bypasspermissions" => Self::Bypass,
            _ => return None,
        })
    }

    /// The next available mode in the client's own order.
    #[must_use]
    pub fn next(&self, bypass: bool, auto: bool) -> Self {
        const ORDER: [PermissionMode; 5] = [
            PermissionMode::Ask,
            PermissionMode::AcceptEdits,
            PermissionMode::Plan,
            PermissionMode::Bypass,
            PermissionMode::Auto,
        ];
        let available = |mode: &&Self| match mode {
            Self::Bypass => bypass,
            Self::Auto => auto,
            _ => true,
        };
        let at = ORDER.iter().position(|mode| mode == self).map_or(0, |at| at + 1);
        ORDER[at..].iter().find(available).cloned().unwrap_or_default()
    }
}

impl From<String> for PermissionMode {
    fn from(name: String) -> Self {
        match name.as_str() {
            "default" => Self::Ask,
            "acceptEdits" => Self::AcceptEdits,
            "plan" => Self::Plan,
            "auto" => Self::Auto,
            "dontAsk" => Self::DontAsk,
            "bypassPermissions" => Self::Bypass,
            _ => Self::Other(name),
        }
    }
}

impl From<PermissionMode> for String {
    fn from(mode: PermissionMode) -> Self {
        mode.name().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_cycles_through_the_available_modes() {
        let cycle = |bypass, auto| {
            let mut mode = PermissionMode::Ask;
            let mut names = Vec::new();
            loop {
                mode = mode.next(bypass, auto);
                names.push(mode.words().to_owned());
                if mode == PermissionMode::Ask {
                    return names.join(", ");
                }
            }
        };
        assert_eq!(cycle(false, false), "accept edits, plan, ask");
        assert_eq!(cycle(true, false), "accept edits, plan, skip permissions, ask");
        assert_eq!(cycle(false, true), "accept edits, plan, auto, ask");
        // The key leaves a mode that it cannot reach.
        assert_eq!(PermissionMode::DontAsk.next(false, false), PermissionMode::Ask);
        assert_eq!(PermissionMode::Bypass.next(false, false), PermissionMode::Ask);
    }

    #[test]
    fn names_survive_a_round_trip() {
        for name in
            ["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions", "new"]
        {
            let mode = PermissionMode::from(name.to_owned());
            assert_eq!(mode.name(), name);
            assert!(!mode.words().is_empty());
        }
        assert_eq!(PermissionMode::typed(" Accept edits "), Some(PermissionMode::AcceptEdits));
        assert_eq!(PermissionMode::typed("fast"), None);
    }
}
