//! Code in colours. Which words of a language are what is syntect's knowledge; here its scopes
//! become our few styles, and an end is set to the time it takes.

use std::sync::OnceLock;

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use super::styled::{Style, Styled, untabbed};

/// Where the colours of one block end. Syntect reads some hundred kilobytes in a second, and of
/// some languages less.
pub const BLOCK: usize = 16 * 1024;
/// Lines that nobody wrote by hand.
const LINE: usize = 400;

/// How much may still be coloured in one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget(pub usize);

impl Default for Budget {
    fn default() -> Self {
        Self(32 * 1024)
    }
}

/// Reads the languages: some milliseconds that a thread can spend before the first code comes.
pub fn warm_up() {
    languages();
}

fn languages() -> &'static SyntaxSet {
    static LANGUAGES: OnceLock<SyntaxSet> = OnceLock::new();
    LANGUAGES.get_or_init(two_face::syntax::extra_newlines)
}

/// One block of code, line by line.
#[derive(Debug, Clone)]
pub struct Code {
    /// `None`: plain, or plain from here on.
    state: Option<(ParseState, ScopeStack)>,
    left: usize,
}

impl Code {
    /// `info` is what stands behind the opening fence; at most `most` bytes are coloured.
    pub fn new(info: &str, most: usize) -> Self {
        let state = language(info).map(|language| (ParseState::new(language), ScopeStack::new()));
        Self { state, left: most }
    }

    pub fn line(&mut self, line: &str, budget: &mut Budget) -> Styled {
        let line = untabbed(line);
        let cost = line.len() + 1;
        if line.len() > LINE || cost > self.left || cost > budget.0 {
            self.state = None;
        }
        let coloured = self.state.as_mut().and_then(|(parse, scopes)| {
            self.left -= cost;
            budget.0 -= cost;
            coloured(parse, scopes, &line)
        });
        coloured.unwrap_or_else(|| {
            self.state = None;
            let mut plain = Styled::default();
            plain.push(Style::Plain, &line);
            plain
        })
    }
}

fn coloured(parse: &mut ParseState, scopes: &mut ScopeStack, line: &str) -> Option<Styled> {
    // Languages end their comments and strings at a newline.
    let ended = format!("{line}\n");
    let changes = parse.parse_line(&ended, languages()).ok()?;
    let mut out = Styled::default();
    let mut from = 0;
    for (at, change) in changes {
        let at = at.min(line.len());
        if at > from {
            out.push(style(scopes), line.get(from..at)?);
            from = at;
        }
        scopes.apply(&change).ok()?;
    }
    out.push(style(scopes), line.get(from..)?);
    Some(out)
}

fn language(info: &str) -> Option<&'static SyntaxReference> {
    let name = info.split([' ', '\t', ',', ':']).next()?.trim_matches(['{', '}', '.']);
    // What models write and the languages do not call themselves.
    let name = match name.to_ascii_lowercase().as_str() {
        "" | "text" | "txt" | "plain" | "plaintext" | "output" => return None,
        "shell" | "console" | "shellscript" | "sh-session" | "shell-session" => "bash".to_owned(),
        "jsonc" | "json5" => "json".to_owned(),
        "node" | "mjs" | "cjs" => "js".to_owned(),
        "golang" => "go".to_owned(),
        "patch" => "diff".to_owned(),
        other => other.to_owned(),
    };
    languages().find_syntax_by_token(&name)
}

/// What scopes mean, the innermost that says something first.
fn style(scopes: &ScopeStack) -> Style {
    static MEANINGS: OnceLock<Vec<(Scope, Style)>> = OnceLock::new();
    let meanings = MEANINGS.get_or_init(|| {
        let named = |(name, style): &(&str, Style)| Some((Scope::new(name).ok()?, *style));
        MEANING.iter().filter_map(named).collect()
    });
    let of = |scope: &Scope| {
        let known = meanings.iter().filter(|(known, _)| known.is_prefix_of(*scope));
        // The longest name is the most exact.
        known.max_by_key(|(known, _)| known.len()).map(|(_, style)| *style)
    };
    scopes.as_slice().iter().rev().find_map(of).unwrap_or(Style::Plain)
}

const MEANING: &[(&str, Style)] = &[
    ("comment", Style::Comment),
    ("punctuation.definition.comment", Style::Comment),
    ("string", Style::Quoted),
    ("punctuation.definition.string", Style::Quoted),
    ("constant.character.escape", Style::Literal),
    ("constant", Style::Literal),
    ("support.constant", Style::Literal),
    ("keyword", Style::Keyword),
    ("keyword.operator", Style::Plain),
    ("keyword.operator.word", Style::Keyword),
    ("keyword.operator.logical.python", Style::Keyword),
    ("storage", Style::Keyword),
    ("variable.language", Style::Keyword),
    ("entity.name", Style::Name),
    ("entity.name.tag", Style::Keyword),
    ("entity.other.attribute-name", Style::Name),
    ("support.function", Style::Name),
    ("support.type", Style::Name),
    ("support.type.property-name", Style::Name),
    ("variable.function", Style::Name),
    ("markup.heading", Style::Heading),
    ("markup.bold", Style::Bold),
    ("markup.italic", Style::Italic),
    ("markup.raw", Style::Code),
    ("markup.inserted", Style::Added),
    ("markup.deleted", Style::Removed),
    ("meta.diff.header", Style::Bold),
    ("meta.diff.range", Style::Name),
    // In these the text stands for itself, whatever it stands in.
    ("meta.interpolation", Style::Plain),
    ("source.shell.embedded", Style::Plain),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(info: &str, line: &str) -> Vec<(Style, String)> {
        let line = Code::new(info, BLOCK).line(line, &mut Budget::default());
        line.spans().map(|(style, text)| (style, text.to_owned())).collect()
    }

    #[test]
    fn the_languages_of_most_projects_are_known() {
        for (info, line, style, text) in [
            ("rust,ignore", "fn main() {}", Style::Name, "main"),
            ("python", "return None", Style::Keyword, "return"),
            ("py title=x", "x = 'a'", Style::Quoted, "'a'"),
            ("js", "const a = 1;", Style::Literal, "1"),
            ("typescript", "// a", Style::Comment, "// a"),
            ("tsx", "return 1", Style::Keyword, "return"),
            ("json", "{\"a\": true}", Style::Literal, "true"),
            ("yaml", "# a", Style::Comment, "# a"),
            ("toml", "a = \"b\"", Style::Quoted, "\"b\""),
            ("bash", "if true; then", Style::Keyword, "if"),
            ("console", "# a", Style::Comment, "# a"),
            ("go", "func main() {", Style::Name, "main"),
            ("c", "return 1;", Style::Keyword, "return"),
            ("c++", "return 1;", Style::Keyword, "return"),
            ("java", "return 1;", Style::Keyword, "return"),
            ("sql", "SELECT 1", Style::Keyword, "SELECT"),
            ("html", "<!-- a -->", Style::Comment, "<!-- a -->"),
            ("css", "/* a */", Style::Comment, "/* a */"),
            ("diff", "+a", Style::Added, "+a"),
            ("diff", "-a", Style::Removed, "-a"),
            ("dockerfile", "FROM a", Style::Keyword, "FROM"),
            ("markdown", "**a**", Style::Bold, "a"),
        ] {
            let spans = spans(info, line);
            let found = spans.iter().any(|(has, part)| *has == style && part.contains(text));
            assert!(found, "{info}: {spans:?}");
            let all: String = spans.into_iter().map(|(_, text)| text).collect();
            assert_eq!(all, line);
        }
    }

    #[test]
    fn what_is_no_language_is_plain() {
        for info in ["", "text", "no-such-language", "{}"] {
            assert_eq!(spans(info, "let a"), [(Style::Plain, "let a".to_owned())], "{info}");
        }
    }

    #[test]
    fn strings_go_on_in_the_next_line() {
        let mut code = Code::new("python", BLOCK);
        let mut budget = Budget::default();
        code.line("a = \"\"\"one", &mut budget);
        let line = code.line("two", &mut budget);
        assert!(
            line.spans().all(|(style, _)| matches!(style, Style::Quoted | Style::Comment)),
            "{line:?}"
        );
    }

    #[test]
    fn colours_end_where_they_would_cost_too_much() {
        let coloured = |line: &Styled| line.spans().any(|(style, _)| style == Style::Keyword);
        let mut budget = Budget(25);
        let mut code = Code::new("rust", 1000);
        assert!(coloured(&code.line("let a;", &mut budget)));
        assert!(!coloured(&code.line(&format!("let a{};", " ".repeat(LINE)), &mut budget)));
        assert!(!coloured(&code.line("let a;", &mut budget)));
        let mut code = Code::new("rust", 10);
        assert!(coloured(&code.line("let a;", &mut budget)));
        assert!(!coloured(&code.line("let a;", &mut budget)));
        let mut code = Code::new("rust", 1000);
        assert!(coloured(&code.line("let a;", &mut budget)));
        assert!(!coloured(&code.line("let a;", &mut budget)), "{budget:?}");
    }
}
