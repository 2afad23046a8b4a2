//! Where one command of a script ends and the next begins.

#[derive(Debug, Default)]
pub struct Piece {
    pub text: String,
    pub writes: bool,
}

/// Collects the commands of a script.
#[derive(Debug, Default)]
pub struct Split {
    pub pieces: Vec<Piece>,
    /// Scripts inside the script.
    pub inner: Vec<String>,
    piece: Piece,
}

impl Split {
    pub fn script(&mut self, script: &str) {
        let chars: Vec<char> = script.chars().collect();
        let at = |index: usize| chars.get(index).copied().unwrap_or('\n');
        let (mut index, mut double) = (0, false);
        while index < chars.len() {
            let c = chars[index];
            match c {
                '\\' => {
                    // A backslash at the end of a line joins it with the next.
                    if at(index + 1) != '\n' {
                        self.piece.text.extend([c, at(index + 1)]);
                    }
                    index += 1;
                }
                '\'' if !double => {
                    let end = (index + 1..chars.len()).find(|end| chars[*end] == '\'');
                    let end = end.unwrap_or(chars.len() - 1);
                    self.piece.text.extend(&chars[index..=end]);
                    index = end;
                }
                '"' => {
                    double = !double;
                    self.piece.text.push(c);
                }
                '`' => {
                    let end = (index + 1..chars.len()).find(|end| chars[*end] == '`');
                    let end = end.unwrap_or(chars.len());
                    self.inside(&chars[index + 1..end]);
                    index = end;
                }
                '$' | '<' | '>' if at(index + 1) == '(' && !(double && c != '$') => {
                    let end = closing(&chars, index + 2);
                    self.inside(&chars[index + 2..end]);
                    index = end;
                }
                _ if double => self.piece.text.push(c),
                '#' if self.piece.text.is_empty() || self.piece.text.ends_with(' ') => {
                    while index + 1 < chars.len() && chars[index + 1] != '\n' {
                        index += 1;
                    }
                }
                '>' => {
                    self.piece.writes |= !is_harmless(&chars[index + 1..]);
                    self.piece.text.push(' ');
                    // A file descriptor number before it is not an argument, but that does not
                    // matter here.
                    if matches!(at(index + 1), '>' | '&' | '|') {
                        index += 1;
                    }
                }
                '&' if at(index + 1) == '>' => {}
                ';' | '&' | '|' | '\n' | '(' | ')' => self.next(),
                _ => self.piece.text.push(c),
            }
            index += 1;
        }
        self.next();
    }

    fn next(&mut self) {
        let piece = std::mem::take(&mut self.piece);
        if !piece.text.trim().is_empty() || piece.writes {
            self.pieces.push(piece);
        }
    }

    fn inside(&mut self, script: &[char]) {
        self.inner.push(script.iter().collect());
        self.piece.text.push('_');
    }
}

/// The index of the bracket that closes the one before `from`.
fn closing(chars: &[char], from: usize) -> usize {
    let (mut depth, mut quote) = (1, None);
    let mut index = from;
    while index < chars.len() {
        match (chars[index], quote) {
            ('\\', open) if open != Some('\'') => index += 1,
            (c @ ('"' | '\''), None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            ('(', None) => depth += 1,
            (')', None) => {
                depth -= 1;
                if depth == 0 {
                    return index;
                }
            }
            _ => {}
        }
        index += 1;
    }
    chars.len()
}

/// Whether the output goes to another stream of the same process or to `/dev/null`.
fn is_harmless(behind: &[char]) -> bool {
    let behind: String = behind.iter().take(24).collect();
    let behind = behind.trim_start_matches(['>', '|']).trim_start();
    let target = behind.strip_prefix('&').unwrap_or(behind);
    let is_stream =
        behind.starts_with('&') && target.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let target = target.trim_start();
    is_stream
        || ["/dev/null", "/dev/stderr", "/dev/stdout"].iter().any(|known| target.starts_with(known))
}
