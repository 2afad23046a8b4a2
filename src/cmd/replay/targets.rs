//! Resolves the targets on the command line: fixtures, recordings, and directories of them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::directories::Directories;
use crate::record::by_hook::is_by_hook;
use crate::record::find::{Prefer, find};
use crate::record::read::{EVENTS, is_recording};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Fixture(PathBuf),
    Recording { name: String, dir: PathBuf },
}

impl Target {
    pub fn name(&self) -> String {
        match self {
            Self::Fixture(path) => path.display().to_string(),
            Self::Recording { name, .. } => name.clone(),
        }
    }
}

pub fn resolve(words: &[PathBuf]) -> Result<Vec<Target>> {
    let mut targets = Vec::new();
    for word in words {
        if !word.is_dir() {
            targets.push(one(word)?);
        } else if is_recording(word) {
            targets.push(recording(word));
        } else {
            let found = directory(word, true)?;
            if found.is_empty() {
                bail!("{} contains no fixture and no recording", word.display());
            }
            targets.extend(found);
        }
    }
    Ok(targets)
}

fn one(word: &Path) -> Result<Target> {
    if !word.exists() {
        return Ok(recording(&session(word)?));
    }
    // The event file itself is accepted too, since shells complete to it.
    match word.parent().filter(|_| word.file_name().is_some_and(|name| name == EVENTS)) {
        Some(dir) if dir.as_os_str().is_empty() => Ok(recording(Path::new("."))),
        Some(dir) => Ok(recording(dir)),
        None => Ok(Target::Fixture(word.to_owned())),
    }
}

/// The directory of a recorded session, by its path, its id or a prefix of the id.
pub fn session(word: &Path) -> Result<PathBuf> {
    if word.is_dir() {
        return Ok(word.to_owned());
    }
    let place = Directories::find()?;
    let name = word.to_string_lossy();
    match find(&place.state_dir, &name, Prefer::Recording)? {
        Some(found) => Ok(found.dir),
        None => bail!(
            "{name} is neither a file, a directory nor a recorded session; `ccc sessions` lists \
             the sessions"
        ),
    }
}

fn recording(dir: &Path) -> Target {
    let id = dir.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = id.unwrap_or_else(|| dir.display().to_string());
    Target::Recording { name, dir: dir.to_owned() }
}

/// The targets in a directory, and one level below it.
fn directory(dir: &Path, deeper: bool) -> Result<Vec<Target>> {
    let entries = fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.with_context(|| format!("cannot read {}", dir.display()))?.path());
    }
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            if is_recording(&path) {
                // What a Stop hook recorded cannot be run again.
                found.extend((!is_by_hook(&path)).then(|| recording(&path)));
            } else if deeper {
                found.extend(directory(&path, false)?);
            }
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            found.push(Target::Fixture(path));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_what_is_in_it_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        for name in [
            "b.jsonl",
            "rec/events.jsonl",
            "rec/agent.jsonl",
            "sub/a.jsonl",
            "README.md",
            "hook-rec/events.jsonl",
        ] {
            fs::create_dir_all(path(name).parent().unwrap()).unwrap();
            fs::write(path(name), "").unwrap();
        }
        fs::create_dir_all(path("sub/deep/er")).unwrap();
        fs::write(path("sub/deep/x.jsonl"), "").unwrap();
        fs::create_dir_all(path("empty")).unwrap();
        let recorded = Target::Recording { name: "rec".into(), dir: path("rec") };
        assert_eq!(
            resolve(&[dir.path().to_owned()]).unwrap(),
            [
                Target::Fixture(path("b.jsonl")),
                recorded.clone(),
                Target::Fixture(path("sub/a.jsonl"))
            ]
        );
        assert_eq!(resolve(&[path("rec")]).unwrap(), vec![recorded.clone()]);
        assert_eq!(resolve(&[path("rec/events.jsonl")]).unwrap(), [recorded]);
        let error = resolve(&[path("b.jsonl"), path("empty")]).unwrap_err().to_string();
        assert!(error.contains("contains no fixture and no recording"), "{error}");
        let error = format!("{:#}", resolve(&[path("missing")]).unwrap_err());
        assert!(error.contains("or a recorded session"), "{error}");
    }
}
