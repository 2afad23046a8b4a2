//! Small diffs: what an edit has changed, or would change.

use std::time::{Duration, Instant};

use similar::algorithms::{Capture, Replace, myers};
use similar::{ChangeTag, DiffOp, group_diff_ops};

use super::styled::{self, Glyphs, Style, Styled, exposed};
use crate::client::stream::Hunk;

/// How long to search for the smallest diff; after that any diff will do.
const PATIENCE: Duration = Duration::from_millis(200);

/// What an edit has changed, one row per line with its number; rows are cut at `width`, and the whole
/// at `most` lines.
pub fn hunks(hunks: &[Hunk], width: Option<usize>, most: usize, glyphs: Glyphs) -> Vec<Styled> {
    let lines = hunks.iter().enumerate().flat_map(|(at, hunk)| numbered(at > 0, hunk));
    let lines: Vec<_> = lines.collect();
    let total = lines.iter().filter(|line| line.text.is_some()).count();
    let digits = lines.iter().map(|line| line.number.to_string().len()).max().unwrap_or(0);
    let mut out = Vec::new();
    let mut shown = 0;
    for line in &lines {
        if shown == most {
            break;
        }
        let Some(text) = line.text else {
            out.push(Styled::new(Style::Dim, &format!("{:>digits$}", glyphs.ellipsis)));
            continue;
        };
        shown += 1;
        let text = marked(text);
        let text = styled::untabbed(&text);
        let room = width.map_or(usize::MAX, |cells| cells.saturating_sub(digits + 1));
        let text = styled::cut(&text, room, glyphs.ellipsis);
        let number = format!("{:>digits$} ", line.number);
        out.push(Styled::new(Style::Dim, &number).with(line.style, &text));
    }
    if total > shown {
        out.push(more(total - shown, glyphs));
    }
    out
}

/// A blank behind the mark, as in a question about an edit.
fn marked(line: &str) -> String {
    match line.split_at_checked(1) {
        Some((mark @ ("+" | "-" | " "), rest)) => format!("{mark} {rest}"),
        _ => line.to_owned(),
    }
}

struct Numbered<'a> {
    number: u64,
    style: Style,
    /// `None` marks lines of the file that are left out.
    text: Option<&'a str>,
}

fn numbered(gap: bool, hunk: &Hunk) -> Vec<Numbered<'_>> {
    let (mut old, mut new) = (hunk.old_start, hunk.new_start);
    let mut out = Vec::with_capacity(hunk.lines.len() + 1);
    if gap {
        out.push(Numbered { number: new, style: Style::Dim, text: None });
    }
    for line in &hunk.lines {
        let (style, number) = match line.as_bytes().first() {
            Some(b'-') => (Style::Removed, old),
            Some(b'+') => (Style::Added, new),
            // A remark about the line before, such as a missing newline.
            Some(b'\\') => (Style::Dim, new.saturating_sub(1)),
            _ => (Style::Plain, new),
        };
        old = old.saturating_add(u64::from(matches!(style, Style::Removed | Style::Plain)));
        new = new.saturating_add(u64::from(matches!(style, Style::Added | Style::Plain)));
        out.push(Numbered { number, style, text: Some(line) });
    }
    out
}

pub fn extent(hunks: &[Hunk]) -> String {
    let count = |mark: char| {
        hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.starts_with(mark)).count()
    };
    format!("+{} -{}", count('+'), count('-'))
}

/// What an edit would change, for a person who decides on it.
pub struct Edit {
    pub rows: Vec<Styled>,
    pub added: usize,
    pub removed: usize,
}

/// Shows every changed line, with characters that hide or reorder text written out. `start` is the
/// number of the file's line with which `old` begins, if known. Unchanged lines further than `context`
/// lines from a change are left out.
pub fn edit(
    old: &str,
    new: &str,
    start: Option<usize>,
    context: Option<usize>,
    glyphs: Glyphs,
) -> Edit {
    let before: Vec<&str> = old.split_inclusive('\n').collect();
    let after: Vec<&str> = new.split_inclusive('\n').collect();
    let ops = changes(&before, &after);
    let groups = match context {
        Some(context) => group_diff_ops(ops, context),
        None => vec![ops],
    };
    let digits = start.map(|start| (start + before.len().max(after.len())).to_string().len());
    let number = |line: usize| match (start, digits) {
        (Some(start), Some(digits)) => format!("{:>digits$} ", start + line),
        _ => String::new(),
    };
    // Parts of a file usually both lack the final newline; it is a change only if just one of them does.
    let uneven = old.ends_with('\n') != new.ends_with('\n') && !old.is_empty() && !new.is_empty();
    let mut edit = Edit { rows: Vec::new(), added: 0, removed: 0 };
    for (at, group) in groups.iter().enumerate() {
        if at > 0 {
            edit.rows.push(Styled::new(Style::Dim, glyphs.ellipsis));
        }
        for change in group.iter().flat_map(|change| change.iter_changes(&before, &after)) {
            let (mark, style) = match change.tag() {
                ChangeTag::Equal => ("  ", Style::Plain),
                ChangeTag::Delete => ("- ", Style::Removed),
                ChangeTag::Insert => ("+ ", Style::Added),
            };
            edit.added += usize::from(change.tag() == ChangeTag::Insert);
            edit.removed += usize::from(change.tag() == ChangeTag::Delete);
            let line = change.new_index().or(change.old_index()).unwrap_or_default();
            let text = change.value();
            let shown = exposed(text.strip_suffix('\n').unwrap_or(text));
            let row = Styled::new(style, &format!("{mark}{shown}"));
            edit.rows.push(row.with_prefix(Style::Dim, &number(line)));
            if uneven && !text.ends_with('\n') {
                edit.rows.push(Styled::new(Style::Dim, "\\ no newline at the end"));
            }
        }
    }
    edit
}

fn changes(before: &[&str], after: &[&str]) -> Vec<DiffOp> {
    let mut found = Replace::new(Capture::new());
    let until = Some(Instant::now() + PATIENCE);
    let all = (0..before.len(), 0..after.len());
    // Collecting the changes cannot fail.
    let _ = myers::diff_deadline(&mut found, before, all.0, after, all.1, until);
    found.into_inner().into_ops()
}

/// Renders a diff of several files as `git diff` writes it.
pub fn patch(text: &str) -> Vec<Styled> {
    let mut lines = Vec::new();
    // The header lines before a file's first hunk are skipped: the name and the changed lines say the same.
    let mut inside = true;
    for line in text.lines() {
        if line.starts_with("diff --git ") {
            let name = line.rsplit_once(" b/").map_or(line, |(_, name)| name);
            lines.push(Styled::new(Style::Bold, &exposed(name)));
            inside = false;
            continue;
        }
        inside |= line.starts_with("@@") || line.starts_with("Binary ");
        let style = match line.as_bytes().first() {
            _ if !inside && (line.starts_with("new file") || line.starts_with("deleted file")) => {
                Style::Dim
            }
            _ if !inside => continue,
            Some(b'+') => Style::Added,
            Some(b'-') => Style::Removed,
            Some(b' ') => Style::Plain,
            _ => Style::Dim,
        };
        lines.push(Styled::new(style, &format!("  {}", exposed(line))));
    }
    lines
}

fn more(lines: usize, glyphs: Glyphs) -> Styled {
    let ending = if lines == 1 { "" } else { "s" };
    Styled::new(Style::Dim, &format!("{} {lines} more line{ending}", glyphs.ellipsis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_shown_without_what_only_programs_need() {
        let text = "diff --git a/x.py b/x.py\nindex 1..2 100644\n--- a/x.py\n+++ b/x.py\n\
                    @@ -1,2 +1,2 @@\n one\n-two\n--- a/odd\n+2\n\
                    diff --git a/n b/n\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+new\n";
        let lines: Vec<_> = patch(text).iter().map(Styled::text).collect();
        assert_eq!(
            lines,
            [
                "x.py",
                "  @@ -1,2 +1,2 @@",
                "   one",
                "  -two",
                "  --- a/odd",
                "  +2",
                "n",
                "  new file mode 100644",
                "  @@ -0,0 +1 @@",
                "  +new"
            ]
        );
    }

    fn texts(rows: &[Styled]) -> Vec<String> {
        rows.iter().map(Styled::text).collect()
    }

    fn hunk(old_start: u64, new_start: u64, lines: &[&str]) -> Hunk {
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        Hunk { old_start, new_start, lines }
    }

    #[test]
    fn hunks_have_the_numbers_of_their_lines() {
        let patch = [
            hunk(9, 9, &[" a", "-b", "+c", "+d", " \te\x1b[1m", "\\ No newline at end of file"]),
            hunk(120, 121, &["-两个汉字两个汉字"]),
        ];
        let rows = hunks(&patch, Some(16), 10, Glyphs::unicode());
        assert_eq!(
            texts(&rows),
            [
                "  9   a",
                " 10 - b",
                " 10 + c",
                " 11 + d",
                " 12     e",
                " 12 \\ No newlin…",
                "  …",
                "120 - 两个汉字…",
            ]
        );
        let styles = |row: &Styled| row.spans().map(|(style, _)| style).collect::<Vec<_>>();
        assert_eq!(styles(&rows[1]), [Style::Dim, Style::Removed]);
        assert_eq!(styles(&rows[2]), [Style::Dim, Style::Added]);
        assert_eq!(
            texts(&hunks(&patch, None, 2, Glyphs::ascii())),
            ["  9   a", " 10 - b", "... 5 more lines"]
        );
        assert_eq!(texts(&hunks(&patch[1..], None, 0, Glyphs::unicode())), ["… 1 more line"]);
        assert!(hunks(&[], None, 5, Glyphs::unicode()).is_empty());
    }

    #[test]
    fn edits_hide_nothing() {
        for (old, new, expected) in [
            ("a\nb\nc", "a\nx\nc", &["  a", "- b", "+ x", "  c"][..]),
            ("", "a\n\nb\n", &["+ a", "+ ", "+ b"]),
            ("a\n", "", &["- a"]),
            ("a", "a\n", &["- a", "\\ no newline at the end", "+ a"]),
            ("a\r\n", "a\n", &["- a\\r", "+ a"]),
            ("ok", "\u{202e}ko\x1b[8m", &["- ok", "+ \\u{202e}ko\\u{1b}[8m"]),
            ("same", "same", &["  same"]),
        ] {
            let edit = edit(old, new, None, None, Glyphs::unicode());
            assert_eq!(texts(&edit.rows), expected, "{old:?} {new:?}");
        }
        let piece = edit("a\nb\n", "a\nx\ny\n", Some(99), None, Glyphs::unicode());
        assert_eq!(texts(&piece.rows), [" 99   a", "100 - b", "100 + x", "101 + y"]);
        assert_eq!((piece.added, piece.removed), (2, 1));
        let lines =
            |changed: &str| {
                (1..20)
                    .map(|at| {
                        if [4, 16].contains(&at) {
                            format!("{changed}\n")
                        } else {
                            format!("{at}\n")
                        }
                    })
                    .collect::<String>()
            };
        let whole = edit(&lines("old"), &lines("new"), Some(1), Some(1), Glyphs::unicode());
        assert_eq!(
            texts(&whole.rows),
            [
                " 3   3", " 4 - old", " 4 + new", " 5   5", "…", "15   15", "16 - old", "16 + new",
                "17   17"
            ]
        );
    }

    proptest::proptest! {
        #[test]
        fn both_texts_can_be_read_off_an_edit(old in "[abc\n]{0,20}", new in "[abc\n]{0,20}") {
            let rows = texts(&edit(&old, &new, None, None, Glyphs::unicode()).rows);
            let side = |mark: &str| -> Vec<&str> {
                let rows = rows.iter().filter(|row| row.starts_with("  ") || row.starts_with(mark));
                rows.map(|row| &row[2..]).collect()
            };
            proptest::prop_assert_eq!(side("- "), old.lines().collect::<Vec<_>>());
            proptest::prop_assert_eq!(side("+ "), new.lines().collect::<Vec<_>>());
        }
    }
}
