//! What is drawn with, where text alone does not do.

/// The characters that are drawn with, for terminals with and without Unicode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glyphs {
    pub tool: &'static str,
    pub branch: &'static str,
    pub gutter: &'static str,
    pub good: &'static str,
    pub bad: &'static str,
    pub prompt: &'static str,
    pub arrow: &'static str,
    pub dot: &'static str,
    pub rule: &'static str,
    pub dash: &'static str,
    pub ellipsis: &'static str,
    /// In front of an item of a list.
    pub bullet: &'static str,
    /// In front of what is quoted.
    pub quote: &'static str,
    pub ruling: &'static Ruling,
    pub spinner: &'static [&'static str],
}

/// The lines of a table; `line` is that of a rule as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ruling {
    pub line: &'static str,
    pub column: &'static str,
    pub cross: &'static str,
    /// A branch of a tree behind which more follow.
    pub mid_branch: &'static str,
    /// In front of what is still to be done.
    pub todo: &'static str,
    /// Of a bar.
    pub full: &'static str,
    pub empty: &'static str,
}

impl Glyphs {
    pub const fn unicode() -> Self {
        Self {
            tool: "●",
            branch: "└",
            gutter: "┃ ",
            good: "✔",
            bad: "✘",
            prompt: "❯ ",
            arrow: "→",
            dot: "·",
            rule: "──",
            dash: "–",
            ellipsis: "…",
            bullet: "• ",
            quote: "▎ ",
            ruling: &Ruling {
                line: "─",
                column: "│",
                cross: "┼",
                mid_branch: "├",
                todo: "○",
                full: "█",
                empty: "░",
            },
            spinner: &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
        }
    }

    pub const fn ascii() -> Self {
        Self {
            tool: "*",
            branch: "`-",
            gutter: "| ",
            good: "OK",
            bad: "X",
            prompt: "> ",
            arrow: "->",
            dot: "-",
            rule: "--",
            dash: "-",
            ellipsis: "...",
            bullet: "- ",
            quote: "| ",
            ruling: &Ruling {
                line: "-",
                column: "|",
                cross: "+",
                mid_branch: "|-",
                todo: "[ ]",
                full: "#",
                empty: ".",
            },
            spinner: &["|", "/", "-", "\\"],
        }
    }
}
