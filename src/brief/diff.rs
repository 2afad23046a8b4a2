//! What changed in the files, line by line: git compares them with the commit on which the task
//! began; new files appear in full. The size is bounded, whatever was changed.

use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use super::facts::{Changed, How};
use super::signs::FileDiff;
use crate::files;
use crate::tree::{self, git_programs::overruled};

/// Limits for the output of git, for one new file, and for the number of new files.
const MOST_BYTES: u64 = 4 << 20;
const NEW_BYTES: u64 = 256 << 10;
const NEW_FILES: usize = 100;
/// With more changed files than this, git compares all files, because a command line cannot hold
/// more names.
const MOST_PATHS: usize = 200;

/// Limits for the text for a judge with fresh eyes: in all, and for one file.
const LONGEST: usize = 48 << 10;
const LONGEST_FILE: usize = 12 << 10;

/// `commit` is the one on which the task began; without git, only new files are known.
pub fn diffs(
    project: &Path,
    git: Option<&Path>,
    commit: Option<&str>,
    changed: &Changed,
) -> Vec<FileDiff> {
    // Unless it is told the files, git examines all of them again.
    let few = changed.count <= MOST_PATHS;
    let paths: Vec<_> = changed.files.iter().filter(|_| few).map(|file| &*file.path).collect();
    let asked = git.zip(commit).filter(|_| changed.count > 0);
    let is_changed = |path: &str| changed.files.iter().find(|change| change.path == path);
    let mut found =
        asked.map(|(git, commit)| compared(git, project, commit, &paths)).unwrap_or_default();
    found.retain_mut(|file| {
        let change = is_changed(&file.path);
        file.how = change.map(|change| change.how);
        change.is_some()
    });
    let known: Vec<_> = found.iter().map(|file| file.path.clone()).collect();
    let new = changed.files.iter().filter(|change| !known.contains(&change.path));
    for change in new.take(NEW_FILES) {
        found.push(match change.how {
            How::Added => read_new(root(project, changed), &change.path),
            how => FileDiff { path: change.path.clone(), how: Some(how), ..FileDiff::default() },
        });
    }
    found
}

/// The same in the form of `git diff`, for people.
pub fn patch(
    project: &Path,
    git: Option<&Path>,
    commit: Option<&str>,
    changed: &Changed,
) -> String {
    let (new, old): (Vec<_>, Vec<_>) =
        changed.files.iter().take(NEW_FILES).partition(|change| change.how == How::Added);
    let paths: Vec<_> = old.iter().map(|change| change.path.as_str()).collect();
    let known = git.zip(commit).filter(|_| !paths.is_empty());
    let mut text = known
        .and_then(|(git, commit)| ask(git, project, commit, &["-U3"], &paths))
        .unwrap_or_else(|| {
            let named = |path: &&str| {
                format!(
                    "{path}: changed; without git, ccc does not know which \
                    lines\n"
                )
            };
            paths.iter().map(named).collect()
        });
    for change in new {
        let file = read_new(root(project, changed), &change.path);
        let lines = file.added.len();
        let _ = writeln!(text, "diff --git a/{0} b/{0}\nnew file", change.path);
        let _ = writeln!(text, "@@ -0,0 +1,{lines} @@");
        for (_, line) in &file.added {
            let _ = writeln!(text, "+{line}");
        }
    }
    let more = changed.count.saturating_sub(NEW_FILES);
    if more > 0 {
        let _ = writeln!(text, "{more} more files have changed");
    }
    text
}

/// The differences from a commit, for when the state of the files at the start of the task is
/// unknown.
pub fn since(project: &Path, git: Option<&Path>, commit: &str) -> Vec<FileDiff> {
    git.map(|git| compared(git, project, commit, &[])).unwrap_or_default()
}

/// The changed lines of these files. An attribute of the repository may call a source file binary;
/// git then shows no line of it unless it is told to.
fn compared(git: &Path, project: &Path, commit: &str, paths: &[&str]) -> Vec<FileDiff> {
    let lines = |how: &[&str], paths: &[&str]| {
        parse(&ask(git, project, commit, how, paths).unwrap_or_default())
    };
    let root = tree::root(project).unwrap_or(project);
    let (hidden, mut found): (Vec<_>, Vec<_>) =
        lines(&["-U0"], paths).into_iter().partition(|file| {
            let is_shown = !file.added.is_empty() || !file.removed.is_empty();
            !is_shown && !read_new(root, &file.path).added.is_empty()
        });
    let hidden: Vec<_> = hidden.iter().take(NEW_FILES).map(|file| file.path.as_str()).collect();
    if !hidden.is_empty() {
        found.extend(lines(&["-U0", "--text"], &hidden));
    }
    found
}

/// The changes as text for a reader who has not seen the work: all removed and added lines. The
/// text says where it was cut.
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
            let _ = writeln!(text, "… {left_out} more lines changed; look at the file yourself.");
        }
    }
    text
}

/// Runs `git diff` so that the repository's own configuration cannot make it run a command.
fn ask(git: &Path, project: &Path, commit: &str, how: &[&str], paths: &[&str]) -> Option<String> {
    let mut command = Command::new(git);
    command
        .args(["-c", "core.quotepath=off", "--no-optional-locks"])
        .args(
            overruled(git, project)
                .iter()
                .flat_map(|(name, value)| ["-c".to_owned(), format!("{name}={value}")]),
        )
        .args(["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames"])
        .args(how)
        .args(["--ignore-submodules", commit, "--"])
        // Paths from the root of the repository, taken literally and not as patterns.
        .args(paths.iter().map(|path| format!(":(top,literal){path}")));
    let answer = tree::ask(&mut command, project, b"", MOST_BYTES).ok()?;
    Some(String::from_utf8_lossy(&answer.printed).into_owned())
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
            let new = rest.split_whitespace().nth(1).unwrap_or_default().trim_start_matches('+');
            let (start, count) = new.split_once(',').unwrap_or((new, "1"));
            at = start.parse().unwrap_or(0);
            inside = true;
            if let (Some(file), "0") = (files.last_mut(), count) {
                file.cuts.push(at);
            }
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

/// The directory to which the paths of changed files are relative.
pub(super) fn root<'a>(project: &'a Path, changed: &Changed) -> &'a Path {
    let deep = Path::new(&changed.below).components().count();
    project.ancestors().nth(deep).unwrap_or(project)
}

fn read_new(root: &Path, path: &str) -> FileDiff {
    let mut file = FileDiff { path: path.to_owned(), how: Some(How::Added), ..FileDiff::default() };
    let whole = root.join(path);
    let Ok(open) = files::open_file(&whole) else { return file };
    file.empty = open.metadata().is_ok_and(|meta| meta.len() == 0);
    let mut bytes = Vec::new();
    let read = open.take(NEW_BYTES).read_to_end(&mut bytes);
    if read.is_ok() && !bytes.contains(&0) {
        let text = String::from_utf8_lossy(&bytes);
        file.added = (1..).zip(text.lines().map(str::to_owned)).collect();
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brief::facts::FileChange;

    #[test]
    fn a_patch_without_git_has_what_is_new() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("new.txt"), "one\ntwo\n").unwrap();
        let change = |path: &str, how| FileChange { path: path.into(), how };
        let changed =
            Changed::new(vec![change("old.txt", How::Modified), change("new.txt", How::Added)]);
        assert_eq!(
            patch(dir.path(), None, None, &changed),
            "old.txt: changed; without git, ccc does not know which lines\n\
             diff --git a/new.txt b/new.txt\nnew file\n@@ -0,0 +1,2 @@\n+one\n+two\n"
        );
        assert_eq!(patch(dir.path(), None, None, &Changed::default()), "");
    }

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
        assert!(text.contains("more lines changed") && text.contains("more files changed"));
    }

    /// The project is a subdirectory of the repository, and a file name may look like a pattern.
    #[test]
    fn git_is_asked_for_the_changed_files_alone() {
        let Some(git) = crate::tree::find_git(std::env::var_os("PATH").as_deref()) else { return };
        let dir = tempfile::tempdir().unwrap();
        let part = dir.path().join("part");
        std::fs::create_dir(&part).unwrap();
        let names = ["part/a.py", "part/[ab].py", "beside.py", "other.py"];
        for name in names {
            std::fs::write(dir.path().join(name), "old\n").unwrap();
        }
        let run = |args: &[&str]| {
            let mut command = Command::new(&git);
            command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(args);
            assert!(command.current_dir(dir.path()).status().unwrap().success(), "{args:?}");
        };
        run(&["init", "-q"]);
        run(&["add", "-A"]);
        run(&["commit", "-qm", "all"]);
        for name in names {
            std::fs::write(dir.path().join(name), "new\n").unwrap();
        }
        let change = |path: &str| FileChange { path: path.into(), how: How::Modified };
        let changed = Changed::new(vec![change("beside.py"), change("part/[ab].py")]);
        let found = diffs(&part, Some(&git), Some("HEAD"), &changed);
        let told: Vec<_> = found.iter().map(|file| (&*file.path, file.removed.len())).collect();
        assert_eq!(told, [("beside.py", 1), ("part/[ab].py", 1)]);
    }

    #[test]
    fn a_file_that_an_attribute_calls_binary_is_compared_all_the_same() {
        let Some(git) = crate::tree::find_git(std::env::var_os("PATH").as_deref()) else { return };
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &[u8]| std::fs::write(dir.path().join(name), text).unwrap();
        write("test_a.py", b"assert f() == 3\n");
        write("a.png", b"\0one");
        let run = |args: &[&str]| {
            let mut command = Command::new(&git);
            command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(args);
            assert!(command.current_dir(dir.path()).status().unwrap().success(), "{args:?}");
        };
        run(&["init", "-q"]);
        run(&["add", "-A"]);
        run(&["commit", "-qm", "all"]);
        write("test_a.py", b"assert f() == 4\n");
        write("a.png", b"\0two");
        std::fs::write(dir.path().join(".git/info/attributes"), "*.py -diff\n").unwrap();
        let change = |path: &str| FileChange { path: path.into(), how: How::Modified };
        let changed = Changed::new(vec![change("a.png"), change("test_a.py")]);
        let found = diffs(dir.path(), Some(&git), Some("HEAD"), &changed);
        let told: Vec<_> = found.iter().map(|file| (&*file.path, &file.removed[..])).collect();
        assert_eq!(told, [("a.png", &[][..]), ("test_a.py", &["assert f() == 3".to_owned()])]);
    }

    #[test]
    fn gits_answer_is_read_line_by_line() {
        let text = "diff --git a/x y.py b/x y.py\nindex 1..2 100644\n--- a/x y.py\n+++ b/x y.py\n\
                    @@ -3,2 +3 @@ def f():\n-old\n---- a/odd\n+new\n@@ -9,0 +8,2 @@\n+more\n+++ odd\n\
                    @@ -20,2 +22,0 @@\n-cut\n-out\n\
                    diff --git a/b b/b\ndeleted file mode 100644\n--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n";
        let files = parse(text);
        assert_eq!(files.len(), 2);
        assert_eq!((files[0].path.as_str(), files[1].path.as_str()), ("x y.py", "b"));
        assert_eq!(files[0].removed, ["old", "--- a/odd", "cut", "out"]);
        assert_eq!((&files[0].cuts[..], &files[1].cuts[..]), (&[22][..], &[0][..]));
        let added: Vec<_> = files[0].added.iter().map(|(at, line)| (*at, line.as_str())).collect();
        assert_eq!(added, [(3, "new"), (8, "more"), (9, "++ odd")]);
        assert_eq!(files[1].removed, ["gone"]);
    }
}
