//! What a line begins, as far as the line alone shows.

/// The columns of leading white space, and its length in bytes.
pub fn indent(line: &str) -> (usize, usize) {
    let mut columns = 0;
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b' ' => columns += 1,
            b'\t' => columns += 4 - columns % 4,
            _ => return (columns, at),
        }
    }
    (columns, line.len())
}

/// `line` without up to this many columns of white space.
pub fn unindented(line: &str, columns: usize) -> &str {
    let mut gone = 0;
    for (at, byte) in line.bytes().enumerate() {
        let width = match byte {
            b' ' => 1,
            b'\t' => 4 - gone % 4,
            _ => return &line[at..],
        };
        if gone + width > columns {
            return &line[at..];
        }
        gone += width;
    }
    ""
}

/// The fence around a block of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    mark: u8,
    len: usize,
    /// The columns before it, which the lines of code may have too.
    pub indent: usize,
    pub info: String,
}

impl Fence {
    pub fn opened(line: &str) -> Option<Self> {
        let (columns, at) = indent(line);
        let text = &line[at..];
        let mark = *text.as_bytes().first().filter(|mark| b"`~".contains(mark))?;
        let len = text.bytes().take_while(|byte| *byte == mark).count();
        let info = text[len..].trim();
        let fits = columns < 4 && len >= 3 && !(mark == b'`' && info.contains('`'));
        fits.then(|| Self { mark, len, indent: columns, info: info.to_owned() })
    }

    pub fn is_closed_by(&self, line: &str) -> bool {
        let (columns, at) = indent(line);
        let text = line[at..].trim_end();
        columns < 4 && text.len() >= self.len && text.bytes().all(|byte| byte == self.mark)
    }

    /// A line that opens the same block again.
    pub fn again(&self, lead: &str) -> String {
        let marks = char::from(self.mark).to_string().repeat(self.len);
        format!("{lead}{marks}{}\n", self.info)
    }
}

/// The beginning of a list item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marker {
    /// Items with different marks belong to different lists.
    pub mark: u8,
    pub number: Option<u64>,
    /// The column at which the item's text begins.
    pub column: usize,
    pub is_empty: bool,
}

impl Marker {
    pub fn of(line: &str) -> Option<Self> {
        let (columns, at) = indent(line);
        let text = &line[at..];
        if columns > 3 || is_rule(line) {
            return None;
        }
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let mark = *text.as_bytes().get(digits)?;
        let number = match (digits, mark) {
            (0, b'-' | b'*' | b'+') => None,
            (1..=9, b'.' | b')') => Some(text[..digits].parse().ok()?),
            _ => return None,
        };
        let rest = &text[digits + 1..];
        let (space, bytes) = indent(rest);
        let is_empty = rest.len() == bytes;
        if !is_empty && space == 0 {
            return None;
        }
        // After more than four spaces, the item's text begins after the first, and is code.
        let space = if is_empty || space > 4 { 1 } else { space };
        Some(Self { mark, number, column: columns + digits + 1 + space, is_empty })
    }

    /// Whether it may end a paragraph directly above it.
    pub fn interrupts(&self) -> bool {
        !self.is_empty && self.number.is_none_or(|number| number == 1)
    }
}

pub fn is_heading(line: &str) -> bool {
    let (columns, at) = indent(line);
    let text = &line[at..];
    let marks = text.bytes().take_while(|byte| *byte == b'#').count();
    columns < 4
        && (1..=6).contains(&marks)
        && text.as_bytes().get(marks).is_none_or(|byte| b" \t".contains(byte))
}

pub fn is_quote(line: &str) -> bool {
    let (columns, at) = indent(line);
    columns < 4 && line[at..].starts_with('>')
}

pub fn is_rule(line: &str) -> bool {
    let (columns, at) = indent(line);
    let text = &line.as_bytes()[at..];
    let Some(mark) = text.first().filter(|mark| b"-*_".contains(mark)) else {
        return false;
    };
    let enough = text.iter().filter(|byte| *byte == mark).nth(2).is_some();
    columns < 4 && enough && text.iter().all(|byte| byte == mark || b" \t".contains(byte))
}

/// What precedes the text of a line in quotes and lists, with markers replaced by spaces; and the
/// text.
pub fn inner(line: &str) -> (String, &str) {
    let mut lead = String::new();
    let mut rest = line;
    loop {
        let (_, at) = indent(rest);
        lead.push_str(&rest[..at]);
        rest = &rest[at..];
        let marked = match Marker::of(rest) {
            Some(marker) if !marker.is_empty => marker.column.min(rest.len()),
            _ if rest.starts_with('>') => {
                lead.push('>');
                rest = &rest[1..];
                continue;
            }
            _ => return (lead, rest),
        };
        // The marker and the spaces after it are ASCII, but a tab is one byte and many columns.
        let marked = rest.bytes().take(marked).take_while(u8::is_ascii).count();
        lead.extend(std::iter::repeat_n(' ', marked));
        rest = &rest[marked..];
    }
}
