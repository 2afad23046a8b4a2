//! Every file of a project that is under no version control.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::content::{Budget, Content};

pub fn files(root: &Path, budget: &mut Budget) -> BTreeMap<PathBuf, Content> {
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .parents(false)
        .git_global(false)
        .require_git(false)
        .sort_by_file_name(Ord::cmp)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    let mut files = BTreeMap::new();
    for entry in walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| !kind.is_dir()))
    {
        if !budget.one_more() {
            break;
        }
        if let Ok(path) = entry.path().strip_prefix(root) {
            files.insert(path.to_owned(), budget.read(entry.path()));
        }
    }
    files
}
