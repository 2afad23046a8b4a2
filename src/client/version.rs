//! Versions of the client, and those that ccc was tested with.

/// Oldest first: the oldest, one of the last that rewrite the system prompt of a resumed session,
/// and the newest. The real-client suites run on them.
pub const MEASURED: [Version; 3] =
    [Version([2, 1, 197]), Version([2, 1, 260]), Version([2, 1, 328])];
/// ccc supervises no older release: 2.1.150 rejects feedback in the form of `additionalContext`, 2.1.100
/// drops all of ccc's hooks because it does not know one of them, 2.0 does not name its work as later
/// releases do. npm installs this one where Node.js is older than 22.
pub const OLDEST: Version = MEASURED[0];
pub const NEWEST: Version = MEASURED[MEASURED.len() - 1];

/// How to get the client. Without `@latest`, npm chooses a release that is made for the installed
/// Node.js, which the client does not need.
pub const INSTALL: &str = "npm install -g @anthropic-ai/claude-code@latest";

/// What to do about a release that is too old.
pub fn update() -> String {
    format!("Update it (`claude update`, or `{INSTALL}`), or name another one in CCC_CLAUDE")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub [u32; 3]);

impl Version {
    /// `2.1.325 (Claude Code)`
    pub fn read(text: &str) -> Option<Self> {
        let word = text.split_whitespace().next()?;
        let mut numbers = word.split('.').map(|part| part.parse().ok());
        let version = [numbers.next()??, numbers.next()??, numbers.next()??];
        numbers.next().is_none().then_some(Self(version))
    }

    /// Why this release is not supervised, if it is too old.
    pub fn refusal(self) -> Option<String> {
        (self < OLDEST).then(|| {
            format!(
                "claude {self} is too old to be supervised; ccc needs {OLDEST} or newer. {}",
                update()
            )
        })
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared() {
        assert_eq!(Version::read("2.1.325 (Claude Code)\n"), Some(Version([2, 1, 325])));
        let refusal = |text| Version::read(text).unwrap().refusal();
        let told = refusal("2.1.196").unwrap();
        assert!(
            told.starts_with("claude 2.1.196 is too old") && told.contains("2.1.197"),
            "{told}"
        );
        assert_eq!(refusal("2.1.197").or(refusal("3.0.0")), None);
        assert!(Version::read("3.0.0").unwrap() > NEWEST);
        for text in ["", "claude 2.1.3", "2.1", "2.1.3.4", "v2.1.3"] {
            assert_eq!(Version::read(text), None, "{text}");
        }
        assert!(MEASURED.is_sorted());
        assert_eq!(Version([2, 1, 325]).to_string(), "2.1.325");
    }
}
