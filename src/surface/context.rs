//! Draws what fills the model's context window: a bar, and each category with its share.

use unicode_width::UnicodeWidthStr;

use super::styled::{self, Style, Styled};
use super::transcript::Transcript;
use crate::client::stream::{ContextCategory, ContextUsage};

const BAR: usize = 40;
/// A narrower screen gets only the numbers.
const BAR_FROM: usize = 60;
/// The styles of the categories, in rotation.
const STYLES: [Style; 5] =
    [Style::Supervisor, Style::Tool, Style::Good, Style::User, Style::Question];

impl Transcript {
    pub(super) fn context_usage(&mut self, usage: &ContextUsage) -> Vec<Styled> {
        let used: Vec<_> =
            usage.categories.iter().filter(|one| !one.free && one.tokens > 0).collect();
        let tokens: u64 = used.iter().map(|one| one.tokens).sum();
        let window = usage.window.max(1);
        let mut lines = vec![
            Styled::new(Style::Heading, "Context")
                .with(Style::Plain, &format!("  {} of {} tokens", short(tokens), short(window)))
                .with(Style::Dim, &format!("  {}", percent(tokens, window))),
        ];
        let wide = self.wrap.is_none_or(|cells| cells >= BAR_FROM);
        if wide && self.look.rich {
            lines.push(self.bar(&used, window));
        }
        let name = |one: &ContextCategory| styled::exposed(&one.name);
        let longest = usage.categories.iter().map(|one| name(one).width()).max().unwrap_or(0);
        let row = |style: Style, mark: &str, one: &ContextCategory| {
            let name = name(one);
            let pad = " ".repeat(longest - name.width());
            Styled::new(style, &format!("  {mark}"))
                .with(Style::Plain, &format!("{name}{pad}  {:>6}", short(one.tokens)))
                .with(Style::Dim, &format!("  {:>4}", percent(one.tokens, window)))
        };
        let mark = format!("{} ", self.look.glyphs.tool);
        let indent = " ".repeat(mark.width());
        lines.extend(
            used.iter().zip(STYLES.iter().cycle()).map(|(one, style)| row(*style, &mark, one)),
        );
        let free = usage.categories.iter().filter(|one| one.free && one.tokens > 0);
        lines.extend(free.map(|one| row(Style::Dim, &indent, one)));
        if let Some(at) = usage.compacts_at.filter(|at| *at > 0) {
            let text = format!("  claude compacts the conversation at {} tokens", short(at));
            lines.push(Styled::new(Style::Dim, &text));
        }
        let lines = self.fitted(lines, "    ");
        self.apart(lines)
    }

    /// Each category gets at least one cell while there is room.
    fn bar(&self, used: &[&ContextCategory], window: u64) -> Styled {
        let mut bar = Styled::new(Style::Plain, "  ");
        let mut left = BAR;
        for (one, style) in used.iter().zip(STYLES.iter().cycle()) {
            let cells = one.tokens.saturating_mul(BAR as u64).div_ceil(window);
            let cells = usize::try_from(cells).unwrap_or(BAR).min(left);
            left -= cells;
            bar.push(*style, &self.look.glyphs.lines.full.repeat(cells));
        }
        bar.push(Style::Dim, &self.look.glyphs.lines.empty.repeat(left));
        bar
    }
}

/// Rounded to whole percent.
pub(super) fn percent(tokens: u64, window: u64) -> String {
    match (tokens.saturating_mul(100) + window / 2) / window {
        0 if tokens > 0 => "<1%".to_owned(),
        percent => format!("{}%", percent.min(100)),
    }
}

pub(super) fn short(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..1_000_000 => format!("{}k", tokens.div_ceil(1_000)),
        _ => format!("{:.1}M", f64::from(u32::try_from(tokens / 1_000).unwrap_or(u32::MAX)) / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::transcript::tests::LOOK;

    fn drawn(columns: usize) -> Vec<String> {
        let one = |name: &str, tokens, free| ContextCategory { name: name.into(), tokens, free };
        let usage = ContextUsage {
            categories: vec![
                one("System prompt", 2_000, false),
                one("Messages", 57_910, false),
                one("Skills", 90, false),
                one("MCP tools", 0, false),
                one("Free space", 140_000, true),
            ],
            window: 200_000,
            compacts_at: Some(167_000),
        };
        let mut transcript = Transcript::new(LOOK);
        transcript.set_width(columns);
        transcript.context_usage(&usage).iter().map(Styled::text).collect()
    }

    #[test]
    fn the_categories_are_drawn() {
        assert_eq!(
            drawn(80),
            [
                "Context  60k of 200k tokens  30%",
                "  ██████████████░░░░░░░░░░░░░░░░░░░░░░░░░░",
                "  ● System prompt      2k    1%",
                "  ● Messages          58k   29%",
                "  ● Skills             90   <1%",
                "    Free space       140k   70%",
                "  claude compacts the conversation at 167k tokens",
            ]
        );
        let narrow = drawn(40);
        assert!(!narrow.concat().contains('█'));
        assert!(narrow.iter().all(|row| row.width() <= 40), "{narrow:?}");
        assert_eq!((short(999), short(1_000_000)), ("999".into(), "1.0M".into()));
    }
}
