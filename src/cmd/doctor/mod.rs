//! `ccc doctor`: what works, what does not, and what to do about it. No key is ever printed.

mod checks;
mod glass_case;

use anyhow::Result;
use serde_json::{Value, json};

use super::output::{in_rows, print_json, screen_width};
use crate::console;
use crate::directories::Directories;
use crate::surface::look;
use crate::surface::{Look, Style, Styled, lines};

const NAMES: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grade {
    Well,
    /// It works, but the user should know about it.
    Odd,
    Broken,
}

#[derive(Debug)]
pub struct Finding {
    pub name: &'static str,
    pub state: Grade,
    pub text: String,
    pub advice: Option<String>,
}

impl Finding {
    fn new(name: &'static str, state: Grade, text: impl Into<String>) -> Self {
        Self { name, state, text: console::without_numbers(&text.into()), advice: None }
    }

    fn well(name: &'static str, text: impl Into<String>) -> Self {
        Self::new(name, Grade::Well, text)
    }

    fn odd(name: &'static str, text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..Self::new(name, Grade::Odd, text) }
    }

    fn broken(name: &'static str, text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..Self::new(name, Grade::Broken, text) }
    }

    fn json(&self) -> Value {
        let state = match self.state {
            Grade::Well => "well",
            Grade::Odd => "odd",
            Grade::Broken => "broken",
        };
        json!({"name": self.name, "state": state, "text": self.text, "advice": self.advice})
    }

    fn lines(&self, look: Look, screen: Option<usize>) -> Vec<Styled> {
        let (style, glyph) = match self.state {
            Grade::Well => (Style::Good, look.glyphs.good),
            Grade::Odd => (Style::Question, "!"),
            Grade::Broken => (Style::Bad, look.glyphs.bad),
        };
        let head = format!("{glyph:<3}");
        let name = format!("{:<NAMES$}", self.name);
        let margin = head.chars().count() + NAMES;
        let indent = " ".repeat(margin);
        let rows = |text: &str, before: usize| {
            lines(Style::Plain, &in_rows(text, before, screen).join("\n"))
        };
        let mut out = Vec::new();
        for (at, line) in rows(&self.text, margin).into_iter().enumerate() {
            out.push(if at == 0 {
                line.with_prefix(Style::Bold, &name).with_prefix(style, &head)
            } else {
                line.with_prefix(Style::Plain, &indent)
            });
        }
        let arrow = format!("{indent}{} ", look.glyphs.arrow);
        let advice = self.advice.iter().flat_map(|advice| rows(advice, margin + 2)).enumerate();
        out.extend(advice.map(|(at, line)| match at {
            0 => line.with_prefix(Style::Dim, &arrow),
            _ => line.with_prefix(Style::Plain, &format!("{indent}  ")),
        }));
        out
    }
}

pub fn run(as_json: bool) -> Result<i32> {
    let findings = checks::all(&Directories::find()?);
    let broken = findings.iter().filter(|finding| finding.state == Grade::Broken).count();
    if as_json {
        let findings: Vec<_> = findings.iter().map(Finding::json).collect();
        let version = env!("CARGO_PKG_VERSION");
        print_json(&json!({"well": broken == 0, "ccc": version, "checks": findings}))?;
    } else {
        let (look, screen) = (look::plain(), screen_width());
        let mut out = Vec::new();
        for line in findings.iter().flat_map(|finding| finding.lines(look, screen)) {
            line.write(look.colour, &mut out);
            out.push(b'\n');
        }
        console::print_styled(&out)?;
    }
    Ok(i32::from(broken > 0))
}
