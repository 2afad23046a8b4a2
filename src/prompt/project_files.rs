//! The names of the project's files, without those that `.gitignore` excludes, listed by a separate
//! thread.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ignore::WalkBuilder;

use crate::threads;
use crate::tree::has_rules;

/// How many names are listed; of more, the deepest ones are left out.
const MOST: usize = 50_000;
/// How many names are looked at to find those.
const LOOKED_AT: usize = 10 * MOST;
/// An older list is made again when it is asked for.
const FRESH: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct ProjectFiles {
    root: PathBuf,
    known: Arc<Mutex<KnownFiles>>,
}

#[derive(Debug, Default)]
struct KnownFiles {
    paths: Arc<Vec<String>>,
    listed: Option<Instant>,
    listing: bool,
}

impl ProjectFiles {
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), known: Arc::default() }
    }

    /// The names known now, directories with a slash at their end, and whether they have been
    /// listed yet. Never blocks: a missing or old list is made in the background.
    pub fn list(&mut self) -> (Arc<Vec<String>>, bool) {
        let mut known = lock(&self.known);
        let fresh = known.listed.is_some_and(|listed| listed.elapsed() < FRESH);
        if !fresh && !known.listing {
            known.listing = true;
            let (root, shared) = (self.root.clone(), Arc::clone(&self.known));
            let started = threads::named("files", move || {
                let paths = Arc::new(walk(&root, MOST));
                let mut known = lock(&shared);
                *known = KnownFiles { paths, listed: Some(Instant::now()), listing: false };
            });
            if let Err(error) = started {
                log::warn!("the project's files cannot be listed: {error}");
                known.listed = Some(Instant::now());
                known.listing = false;
            }
        }
        (Arc::clone(&known.paths), known.listed.is_some())
    }
}

fn lock(known: &Mutex<KnownFiles>) -> MutexGuard<'_, KnownFiles> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

fn walk(root: &Path, most: usize) -> Vec<String> {
    // A pipe in the place of an ignore file would block the walk.
    let rules = has_rules(root);
    let walk = WalkBuilder::new(root)
        .require_git(false)
        .ignore(rules)
        .git_ignore(rules)
        .filter_entry(|entry| {
            !entry.file_type().is_some_and(|kind| kind.is_dir()) || has_rules(entry.path())
        })
        .build();
    let mut found = Vec::new();
    for entry in walk.flatten().filter(|entry| entry.depth() > 0) {
        let directory = entry.file_type().is_some_and(|kind| kind.is_dir());
        let name = entry.path().strip_prefix(root).ok().and_then(Path::to_str);
        // A name with a quote or a control character cannot be written in a message.
        let writable = |name: &&str| !name.chars().any(|c| c.is_control() || c == '"');
        if let Some(name) = name.filter(writable) {
            let name = if directory { format!("{name}/") } else { name.to_owned() };
            found.push((entry.depth(), name));
        }
        if found.len() >= LOOKED_AT {
            break;
        }
    }
    // The walk is depth-first; sorted by depth, a large directory does not hide its neighbours.
    found.sort_by_key(|(depth, _)| *depth);
    found.truncate(most);
    found.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn project() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for name in
            ["src/a b.rs", "src/main.rs", "target/debug/x", ".hidden/y", "odd\"name", "log.txt"]
        {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        fs::write(dir.path().join(".gitignore"), "/target\n*.txt\n").unwrap();
        dir
    }

    #[test]
    fn ignored_and_hidden_files_are_not_listed() {
        let dir = project();
        let mut paths = walk(dir.path(), MOST);
        paths.sort();
        assert_eq!(paths, ["src/", "src/a b.rs", "src/main.rs"]);
        assert_eq!(walk(dir.path(), 2).len(), 2);
        fs::create_dir(dir.path().join("src/deep")).unwrap();
        for name in ["src/deep/a", "src/deep/b", "z"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        paths = walk(dir.path(), 2);
        paths.sort();
        assert_eq!(paths, ["src/", "z"]);
        assert_eq!(walk(&dir.path().join("nowhere"), 2), [""; 0]);
    }

    #[test]
    fn the_list_arrives_in_the_background() {
        let dir = project();
        let mut files = ProjectFiles::new(dir.path());
        while !files.list().1 {
            std::thread::yield_now();
        }
        assert_eq!(files.list().0.len(), 3);
    }
}
