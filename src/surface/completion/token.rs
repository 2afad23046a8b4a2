//! The word at the cursor, if it can be completed.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    /// Where it starts in the text, including its sign.
    pub from: usize,
    /// Without the sign.
    pub query: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    Command,
    /// `quoted` if it begins with a quote, so that it may contain spaces.
    File {
        quoted: bool,
    },
}

/// The completable word at the end of `text`.
pub fn at_end(text: &str) -> Option<Token> {
    if let Some(query) = text.strip_prefix('/') {
        // A path is not a command.
        let plain = !query.contains(|c: char| c.is_whitespace() || c == '/');
        return plain.then(|| Token { kind: TokenKind::Command, from: 0, query: query.to_owned() });
    }
    // Chinese and Japanese put no spaces between words; in a mail address, letters precede the
    // sign.
    let apart = |c: char| c.is_whitespace() || (!c.is_ascii() && c.is_alphabetic());
    let starts = |at: usize| text[..at].chars().next_back().is_none_or(apart);
    let from = text.rmatch_indices('@').map(|(at, _)| at).find(|at| starts(*at))?;
    let word = &text[from + 1..];
    let (query, quoted) = match word.strip_prefix('"') {
        Some(query) => (query, true),
        None => (word, false),
    };
    let ends = |c: char| if quoted { matches!(c, '"' | '\n') } else { c.is_whitespace() };
    let kind = TokenKind::File { quoted };
    (!query.contains(ends)).then(|| Token { kind, from, query: query.to_owned() })
}

impl Token {
    /// How `entry` is written in a message. The client expects quotes around a name with spaces. A
    /// directory is left open for its contents.
    pub fn written(&self, entry: &str) -> String {
        let (sign, quoted) = match self.kind {
            TokenKind::Command => ('/', false),
            TokenKind::File { quoted } => ('@', quoted || entry.contains(char::is_whitespace)),
        };
        match (quoted, entry.ends_with('/')) {
            (false, false) => format!("{sign}{entry} "),
            (false, true) => format!("{sign}{entry}"),
            (true, false) => format!("{sign}\"{entry}\" "),
            (true, true) => format!("{sign}\"{entry}"),
        }
    }
}
