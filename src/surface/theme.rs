//! The colours of each style: the terminal's own sixteen, or a palette for a dark or a light background.

use super::styled::Style;
pub use crate::config::Theme;

impl Theme {
    pub fn sgr(self, style: Style) -> &'static str {
        // The terminal's own: only those of the base colours that are readable on white and on black,
        // and none as a background: bold yellow, cyan and green are almost invisible on white.
        let [terminal, dark, light] = match style {
            Style::Plain => [""; 3],
            Style::Bold | Style::Heading | Style::Name => ["\x1b[1m"; 3],
            Style::Italic => ["\x1b[3m"; 3],
            Style::Strike => ["\x1b[9m"; 3],
            Style::Dim => ["\x1b[2m", "\x1b[38;5;246m", "\x1b[38;5;241m"],
            Style::User => ["\x1b[1;34m", "\x1b[1;38;5;75m", "\x1b[1;38;5;25m"],
            Style::Question => ["\x1b[1;35m", "\x1b[1;38;5;213m", "\x1b[1;38;5;127m"],
            Style::Link => ["\x1b[4m", "\x1b[4;38;5;75m", "\x1b[4;38;5;25m"],
            Style::Tool | Style::Code | Style::Literal => {
                ["\x1b[36m", "\x1b[38;5;80m", "\x1b[38;5;24m"]
            }
            Style::Good | Style::Added | Style::Quoted => {
                ["\x1b[32m", "\x1b[38;5;114m", "\x1b[38;5;22m"]
            }
            Style::Bad | Style::Removed => ["\x1b[31m", "\x1b[38;5;210m", "\x1b[38;5;124m"],
            Style::Alarm => ["\x1b[1;31m", "\x1b[1;38;5;203m", "\x1b[1;38;5;124m"],
            Style::Supervisor | Style::Keyword => ["\x1b[35m", "\x1b[38;5;177m", "\x1b[38;5;90m"],
            Style::Comment => ["\x1b[2;3m", "\x1b[3;38;5;246m", "\x1b[3;38;5;241m"],
        };
        match self {
            Self::Terminal => terminal,
            Self::Dark => dark,
            Self::Light => light,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLOURED: [Style; 14] = [
        Style::Dim,
        Style::User,
        Style::Question,
        Style::Tool,
        Style::Code,
        Style::Literal,
        Style::Good,
        Style::Added,
        Style::Quoted,
        Style::Bad,
        Style::Removed,
        Style::Alarm,
        Style::Supervisor,
        Style::Keyword,
    ];

    /// The luminance of one of the 256 colours.
    fn luminance(colour: u8) -> f64 {
        let level = |step: u8| if step == 0 { 0.0 } else { f64::from(55 + 40 * u16::from(step)) };
        let (r, g, b) = match colour {
            16..=231 => {
                let cube = colour - 16;
                (level(cube / 36), level(cube / 6 % 6), level(cube % 6))
            }
            _ => {
                let grey = f64::from(8 + 10 * u16::from(colour - 232));
                (grey, grey, grey)
            }
        };
        let linear = |value: f64| {
            let value = value / 255.0;
            if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
    }

    /// WCAG requires a contrast of 4.5 for ordinary text.
    #[test]
    fn every_colour_can_be_read_on_its_ground() {
        for (theme, ground) in [(Theme::Dark, 0.01), (Theme::Light, 1.0)] {
            for style in COLOURED {
                let sgr = theme.sgr(style);
                let colour = sgr.trim_end_matches('m').rsplit(';').next().unwrap();
                let colour = luminance(colour.parse().unwrap());
                let (light, dark) = (f64::max(colour, ground), f64::min(colour, ground));
                let contrast = (light + 0.05) / (dark + 0.05);
                assert!(contrast >= 4.5, "{theme:?} {style:?}: {contrast:.1}");
            }
        }
    }

    #[test]
    fn the_terminals_own_colours_are_its_own() {
        for style in COLOURED {
            assert!(!Theme::Terminal.sgr(style).contains("38;5"), "{style:?}");
        }
    }
}
