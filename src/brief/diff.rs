//! What changed in the files, line by line: git tells it against the commit that the task began on;
//! files that are new stand there themselves. Bounded, whatever was changed.

use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use super::facts::{Changed, How};
use super::signs::FileDiff;
use crate::process::orphans::Awaited;

/// Of git's answer, and of a new file.
const MOST_BYTES: u64 = 4 << 20;
const NEW_BYTES: u64 = 256 << 10;
const NEW_FILES: usize = 100;

/// Of the text for fresh eyes: all of it, and one file's part.
const LONGEST: usize = 48 << 10;
const LONGEST_FILE: usize = 12 << 10;

/// `commit` is the one that the task began on; without git only new files are known.
pub fn diffs(
    project: &Path,
    git: Option<&Path>,
    commit: Option<&str>,
    changed: &Changed,
) -> Vec<FileDiff> {
    let text = git.zip(commit).and_then(|(git, commit)| ask(git, project, commit));
    let is_changed = |path: &str| changed.files.iter().find(|change| change.path == path);
    let mut found = parse(&text.unwrap_or_default());
    found.retain_mut(|file| {
        let change = is_changed(&file.path);
        file.how = change.map(|change| change.how);
        change.is_some()
    });
    let known: Vec<_> = found.iter().map(|file| file.path.clone()).collect();
    let new = changed.files.iter().filter(|change| !known.contains(&change.path));
    for change in new.take(NEW_FILES) {
        found.push(match change.how {
            How::Added => read_new(project, &change.path),
            how => FileDiff { path: change.path.clone(), how: Some(how), ..FileDiff::default() },
        });
    }
    found
}

/// What differs from a commit, where nobody knows how the files were when the task began.
pub fn since(project: &Path, git: Option<&Path>, commit: &str) -> Vec<FileDiff> {
    parse(&git.and_then(|git| ask(git, project, commit)).unwrap_or_default())
}

/// For whoever has not seen the work: every change, what went and what came. Bounded, and it says so.
pub fn as_text(diffs: &[FileDiff]) -> String {
    let mut text = String::new();
    for (at, file) in diffs.iter().enumerate() {
        if text.len() >= LONGEST {
            let _ =
                writeln!(text, "… {} more files changed; look at them yourself.", diffs.len() - at);
            break;
        }
        let how = match file.how {
            Some(How::Added) => "added",
            Some(How::Deleted) => "deleted",
            Some(How::Modified) | None => "modified",
        };
        let _ = writeln!(text, "== {} ({how})", file.path);
        let removed = file.removed.iter().map(|line| format!("- {line}"));
        let added = file.added.iter().map(|(at, line)| format!("+{at}: {line}"));
        let (mut room, mut left_out) = (LONGEST_FILE.min(LONGEST.saturating_sub(text.len())), 0);
        for line in removed.chain(added) {
            room = room.saturating_sub(line.len() + 1);
            if room == 0 {
                left_out += 1;
            } else {
                text.push_str(&line);
                text.push('\n');
            }
        }
        if left_out > 0 {
            let _ =
                writeln!(text, "… {left_out} more lines of it changed; look at the file yourself.");
        }
    }
    text
}

/// Nothing of the repository's own configuration may run a command here.
fn ask(git: &Path, project: &Path, commit: &str) -> Option<String> {
    let mut command = Command::new(git);
    command
        .args(["-c", "core.quotepath=off", "-c", "core.fsmonitor=false", "--no-optional-locks"])
        .args(["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "-U0"])
        .args(["--ignore-submodules", commit, "--"])
        .current_dir(project)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let (mut child, _awaited) = Awaited::spawn(&mut command).ok()?;
    let mut bytes = Vec::new();
    let read = child.stdout.take().map(|output| output.take(MOST_BYTES).read_to_end(&mut bytes));
    let _ = child.kill();
    let _ = child.wait();
    read?.ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn parse(text: &str) -> Vec<FileDiff> {
    let mut files: Vec<FileDiff> = Vec::new();
    let (mut at, mut inside) = (0, false);
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("diff --git ") {
            // Without renames both names are the same: `a/NAME b/NAME`.
            let name = rest.get(2..rest.len() / 2).unwrap_or_default();
            files.push(FileDiff { path: name.to_owned(), ..FileDiff::default() });
            inside = false;
        } else if let Some(rest) = line.strip_prefix("@@ ") {
            let new = rest.split_whitespace().nth(1).unwrap_or_default();
            let new = new.trim_start_matches('+').split(',').next().unwrap_or_default();
            at = new.parse().unwrap_or(0);
            inside = true;
        } else if inside && let Some(file) = files.last_mut() {
            if let Some(line) = line.strip_prefix('+') {
                file.added.push((at, line.to_owned()));
                at += 1;
            } else if let Some(line) = line.strip_prefix('-') {
                file.removed.push(line.to_owned());
            }
        }
    }
    files
}

fn read_new(project: &Path, path: &str) -> FileDiff {
    let mut file = FileDiff { path: path.to_owned(), how: Some(How::Added), ..FileDiff::default() };
    let whole = project.join(path);
    // A pipe or a device might never end.
    let Some(size) =
        whole.metadata().ok().filter(std::fs::Metadata::is_file).map(|meta| meta.len())
    else {
        return file;
    };
    file.empty = size == 0;
    let mut bytes = Vec::new();
    let read = File::open(whole).and_then(|open| open.take(NEW_BYTES).read_to_end(&mut bytes));
    if read.is_ok() && !bytes.contains(&0) {
        let text = String::from_utf8_lossy(&bytes);
        file.added = (1..).zip(text.lines().map(str::to_owned)).collect();
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_for_fresh_eyes_is_bounded_and_says_what_it_leaves_out() {
        let file = |path: String, lines: usize| FileDiff {
            path,
            how: Some(How::Modified),
            removed: vec!["old".to_owned()],
            added: (1..).zip(std::iter::repeat_n("new line".to_owned(), lines)).collect(),
            ..FileDiff::default()
        };
        let text = as_text(&[file("a.py".into(), 2)]);
        assert_eq!(text, "== a.py (modified)\n- old\n+1: new line\n+2: new line\n");
        let many: Vec<_> = (0..50).map(|at| file(format!("{at}.py"), 5_000)).collect();
        let text = as_text(&many);
        assert!(text.len() < LONGEST + LONGEST_FILE, "{}", text.len());
        assert!(text.contains("more lines of it changed") && text.contains("more files changed"));
    }

    #[test]
    fn gits_answer_is_read_line_by_line() {
        let text = "diff --git a/x y.py b/x y.py\nindex 1..2 100644\n--- a/x y.py\n+++ b/x y.py\n\
                    @@ -3,2 +3 @@ def f():\n-old\n---- a/odd\n+new\n@@ -9,0 +8,2 @@\n+more\n+++ odd\n\
                    diff --git a/b b/b\ndeleted file mode 100644\n--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n";
        let files = parse(text);
        assert_eq!(files.len(), 2);
        assert_eq!((files[0].path.as_str(), files[1].path.as_str()), ("x y.py", "b"));
        assert_eq!(files[0].removed, ["old", "--- a/odd"]);
        let added: Vec<_> = files[0].added.iter().map(|(at, line)| (*at, line.as_str())).collect();
        assert_eq!(added, [(3, "new"), (8, "more"), (9, "++ odd")]);
        assert_eq!(files[1].removed, ["gone"]);
    }
}
