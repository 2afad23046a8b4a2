//! The symbols used for drawing.

/// The symbols used for drawing, for terminals with and without Unicode.
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
    /// Before a list item.
    pub bullet: &'static str,
    /// Before a quote.
    pub quote: &'static str,
    pub lines: &'static LineGlyphs,
    pub spinner: &'static [&'static str],
}

/// The lines of tables, rules, trees and bars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineGlyphs {
    pub line: &'static str,
    pub column: &'static str,
    pub cross: &'static str,
    /// A branch of a tree that is not the last.
    pub mid_branch: &'static str,
    /// Before an open todo.
    pub todo: &'static str,
    /// The filled and the empty part of a bar.
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
            lines: &LineGlyphs {
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
            lines: &LineGlyphs {
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
