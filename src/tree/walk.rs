//! Lists every file of a project that is not under version control.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ignore::WalkBuilder;

use super::content::{Budget, Content};

/// The files with ignore rules, which are read in every directory.
const RULES: [&str; 2] = [".gitignore", ".ignore"];

/// If a pipe or a device takes the place of a rules file, no rules count at all: reading it would
/// block for ever, and it must not be a way to hide files.
pub fn files(root: &Path, budget: &mut Budget) -> BTreeMap<PathBuf, Content> {
    match below(root, has_rules(root), budget) {
        (files, true) => files,
        (_, false) => {
            *budget = Budget::default();
            below(root, false, budget).0
        }
    }
}

/// Whether the rules of this directory can be read, or there are none.
pub fn has_rules(dir: &Path) -> bool {
    let odd = |meta: std::fs::Metadata| !meta.is_file() && !meta.is_dir();
    RULES.iter().all(|name| !dir.join(name).metadata().is_ok_and(odd))
}

/// All files, and whether all rules that should count could be read.
fn below(root: &Path, rules: bool, budget: &mut Budget) -> (BTreeMap<PathBuf, Content>, bool) {
    let odd = Arc::new(AtomicBool::new(false));
    let found_odd = Arc::clone(&odd);
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .parents(false)
        .ignore(rules)
        .git_ignore(rules)
        .git_exclude(false)
        .git_global(false)
        .require_git(false)
        .sort_by_file_name(Ord::cmp)
        .filter_entry(move |entry| {
            let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
            let enters = !rules || !is_dir || has_rules(entry.path());
            found_odd.fetch_or(!enters, Ordering::Relaxed);
            enters && entry.file_name() != ".git"
        })
        .build();
    let mut files = BTreeMap::new();
    for entry in walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| !kind.is_dir()))
    {
        if odd.load(Ordering::Relaxed) || !budget.one_more() {
            break;
        }
        if let Ok(path) = entry.path().strip_prefix(root) {
            files.insert(path.to_owned(), budget.read(entry.path()));
        }
    }
    (files, !odd.load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn no_pipe_is_waited_for_and_none_hides_anything() {
        for odd in [".gitignore", "b/.ignore"] {
            let dir = tempfile::tempdir().unwrap();
            fs::create_dir(dir.path().join("b")).unwrap();
            for name in ["a", "b/c", "b/d"] {
                fs::write(dir.path().join(name), name).unwrap();
            }
            fs::write(dir.path().join("b/.gitignore"), "d\n").unwrap();
            let names = || {
                let all = files(dir.path(), &mut Budget::default());
                all.into_keys().map(|name| name.display().to_string()).collect::<Vec<_>>()
            };
            assert_eq!(names(), ["a", "b/.gitignore", "b/c"]);
            nix::unistd::mkfifo(&dir.path().join(odd), nix::sys::stat::Mode::S_IRWXU).unwrap();
            let found = names();
            for name in ["a", "b/c", "b/d", odd] {
                assert!(found.iter().any(|found| found == name), "{name} in {found:?}");
            }
        }
    }
}
