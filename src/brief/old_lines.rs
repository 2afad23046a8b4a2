//! Whether a quote from a file stood there before the task began. Such a quote shows nothing of the
//! work. What is not known for certain counts as new.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::diff::root;
use super::facts::{Changed, Examined, How};
use super::signs::FileDiff;
use crate::review::requirement::squeezed;
use crate::tree::Snapshot;

/// The files as they were when the task began, and what has changed since.
pub struct OldLines {
    before: Arc<Snapshot>,
    root: PathBuf,
    changed: Changed,
    diffs: Vec<FileDiff>,
}

impl OldLines {
    /// `None` if nothing has changed that can be called work, or if not all changes are known.
    pub fn new(
        project: &Path,
        before: Arc<Snapshot>,
        examined: &Examined,
        diffs: Vec<FileDiff>,
    ) -> Option<Self> {
        let changed = examined.changed.clone().filter(|_| examined.note.is_none())?;
        if changed.count > changed.files.len() || !diffs.iter().any(is_work) {
            return None;
        }
        let root = root(&project.canonicalize().ok()?, &changed).to_owned();
        Some(Self { before, root, changed, diffs })
    }

    /// `file` has this text now, which contains the quote.
    pub fn have(&self, file: &Path, text: &str, quote: &str) -> bool {
        let Some(path) = file.strip_prefix(&self.root).ok().and_then(Path::to_str) else {
            return false;
        };
        match self.changed.files.iter().find(|change| change.path == path) {
            None => self.before.had(Path::new(path)),
            Some(change) if change.how == How::Modified => {
                let diff = self.diffs.iter().find(|diff| diff.path == path);
                diff.is_some_and(|diff| stands_in_old_lines(diff, text, quote))
            }
            Some(_) => false,
        }
    }
}

/// Not what a build leaves behind, nor where the client notes the person's permissions.
fn is_work(diff: &FileDiff) -> bool {
    let is_binary = diff.how == Some(How::Added) && diff.added.is_empty() && !diff.empty;
    let is_the_clients = Path::new(&diff.path).parent().is_some_and(|dir| dir.ends_with(".claude"));
    !is_binary && !is_the_clients
}

/// Whether the quote occurs in lines that were not changed, and nowhere else. The lines on both sides
/// of a cut are new neighbours, so they count as changed.
fn stands_in_old_lines(diff: &FileDiff, text: &str, quote: &str) -> bool {
    let lines: Vec<_> = text.lines().collect();
    let at = |number: u32| usize::try_from(number).ok()?.checked_sub(1);
    let is_there = |(number, added): &(u32, String)| {
        at(*number).and_then(|at| lines.get(at)).is_some_and(|line| line == added)
    };
    let is_known = !diff.added.is_empty() || !diff.removed.is_empty();
    // The file has changed once more since it was compared.
    if !is_known || !diff.added.iter().all(is_there) {
        return false;
    }
    let mut is_old = vec![true; lines.len()];
    let added = diff.added.iter().map(|(number, _)| *number);
    let beside = diff.cuts.iter().flat_map(|cut| [*cut, cut + 1]);
    for number in added.chain(beside) {
        if let Some(changed) = at(number).and_then(|at| is_old.get_mut(at)) {
            *changed = false;
        }
    }
    let quote = squeezed(quote);
    let places = |lines: &[&str]| squeezed(&lines.join("\n")).matches(&quote).count();
    let (mut old, mut from) = (0, 0);
    for run in is_old.chunk_by(|one, next| one == next) {
        let to = from + run.len();
        old += if run[0] { places(&lines[from..to]) } else { 0 };
        from = to;
    }
    old > 0 && old == places(&lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brief::facts::FileChange;
    use crate::tree;

    const BEFORE: &str =
        "import re\n\ndef a(x):\n    return x\n\ndef b(x):\n    print(x)\n    return x\n";

    #[test]
    fn a_quote_is_old_if_no_line_of_it_was_touched() {
        let text = "import re\n\ndef a(x):\n    return x + 1\n\ndef b(x):\n    return x\n";
        let diff = FileDiff {
            path: "a.py".into(),
            how: Some(How::Modified),
            removed: vec!["    return x".into(), "    print(x)".into()],
            added: vec![(4, "    return x + 1".into())],
            cuts: vec![6],
            empty: false,
        };
        for (quote, is_old) in [
            ("import re", true),
            ("import  re\n\ndef a(x):", true),
            ("return x + 1", false),
            ("def a(x):\n    return x + 1", false),
            // It occurs in a changed line as well.
            ("return x", false),
            // Beside what was removed.
            ("def b(x):", false),
            ("def b(x): return x", false),
            ("not there", false),
        ] {
            assert_eq!(stands_in_old_lines(&diff, text, quote), is_old, "{quote}");
        }
        assert!(!stands_in_old_lines(&diff, BEFORE, "import re"), "changed since");
        let unknown = FileDiff { path: "a.py".into(), ..FileDiff::default() };
        assert!(!stands_in_old_lines(&unknown, text, "import re"), "without git");
    }

    /// What the quote `import re` in each file is found to be.
    fn found(git: Option<&Path>) -> Vec<(&'static str, bool)> {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().canonicalize().unwrap();
        let write = |name: &str, text: &str| std::fs::write(project.join(name), text).unwrap();
        for name in ["same.py", "changed.py", "ignored.py"] {
            write(name, BEFORE);
        }
        write(".gitignore", "ignored.py\n");
        if let Some(git) = git {
            for args in [
                &["init", "-q"][..],
                &["add", "-A"],
                &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all"],
            ] {
                let mut command = std::process::Command::new(git);
                assert!(command.args(args).current_dir(&project).status().unwrap().success());
            }
        }
        let before = Snapshot::take(&project, git);
        write("changed.py", &BEFORE.replace("print", "log"));
        write("new.py", BEFORE);
        let change = |path: &str, how| FileChange { path: path.into(), how };
        let changed = vec![change("changed.py", How::Modified), change("new.py", How::Added)];
        let changed = Changed::new(changed);
        let diffs = super::super::diff::diffs(&project, git, before.commit(), &changed);
        let examined = Examined { changed: Some(changed), ..Examined::default() };
        let old = OldLines::new(&project, Arc::new(before), &examined, diffs).unwrap();
        let is_old =
            |name| (name, old.have(&project.join(name), &read(&project.join(name)), "import re"));
        ["same.py", "changed.py", "ignored.py", "new.py"].map(is_old).to_vec()
    }

    fn read(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn what_is_not_known_for_certain_is_not_old() {
        let without = found(None);
        let lines =
            [("same.py", true), ("changed.py", false), ("ignored.py", false), ("new.py", false)];
        assert_eq!(without, lines);
        let Some(git) = tree::find_git(std::env::var_os("PATH").as_deref()) else { return };
        let lines =
            [("same.py", true), ("changed.py", true), ("ignored.py", false), ("new.py", false)];
        assert_eq!(found(Some(&git)), lines);
    }

    #[test]
    fn without_a_complete_list_of_changes_nothing_is_known() {
        let dir = tempfile::tempdir().unwrap();
        let before = Arc::new(Snapshot::take(dir.path(), None));
        let known = |files: &[&str], more: usize, note: Option<&str>| {
            let change = |path: &&str| FileChange { path: (*path).into(), how: How::Added };
            let changed = Changed::new(files.iter().map(change).collect());
            let changed = Changed { count: files.len() + more, ..changed };
            let diff = |path: &&str| FileDiff {
                path: (*path).into(),
                how: Some(How::Added),
                added: if *path == "a.out" { vec![] } else { vec![(1, "x".into())] },
                ..FileDiff::default()
            };
            let diffs = files.iter().map(diff).collect();
            let note = note.map(str::to_owned);
            let examined = Examined { changed: Some(changed), note, ..Examined::default() };
            OldLines::new(dir.path(), Arc::clone(&before), &examined, diffs).is_some()
        };
        assert!(known(&["a.py"], 0, None) && known(&["a.py", "a.out"], 0, None));
        assert!(!known(&[], 0, None) && !known(&["a.py"], 1, None));
        assert!(!known(&["a.py"], 0, Some("a.bin was not compared")));
        // No work of the agent's.
        for other in [".claude/settings.local.json", "web/.claude/settings.local.json", "a.out"] {
            assert!(!known(&[other], 0, None), "{other}");
        }
        let unknown = Examined::default();
        assert!(OldLines::new(dir.path(), before, &unknown, Vec::new()).is_none());
    }
}
