//! What git knows about the files, asked so that the repository's own configuration cannot
//! influence the answer: no monitor program, no hook, no lock, no shortcut in comparing file times.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::asking::{ask, root};
use super::content::{Budget, Content, Digest, digest};
use super::git_programs::{Setting, overruled};

/// Far fewer than a command line can hold.
const MOST_ARGUMENTS: usize = 200;

const CONFIG: [&str; 8] = [
    "core.untrackedCache=false",
    "core.trustctime=true",
    "core.checkStat=default",
    "core.ignoreStat=false",
    "core.fileMode=true",
    "core.quotePath=false",
    "submodule.recurse=false",
    // It does not matter who owns the repository, because nothing in it is run.
    "safe.directory=*",
];

/// Runs git in one directory.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Git {
    executable: PathBuf,
    dir: PathBuf,
    /// Settings that override the configuration of the repository.
    overruled: Vec<Setting>,
}

/// Those of these files that git neither tracks nor looks at.
pub fn ignored(executable: &Path, project: &Path, names: &[String]) -> Vec<String> {
    let git = Git::of(executable, project.to_owned());
    let args = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--"];
    let args = args.into_iter().chain(names.iter().map(String::as_str));
    let found = git.run(args.map(OsStr::new), &[]).unwrap_or_default();
    let found = found.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    found.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

/// The repository that contains a project.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Repository {
    git: Git,
    /// Limits questions to the project, if it is only a part of the repository.
    part: Option<PathBuf>,
}

pub struct GitState {
    pub head: String,
    pub differs: BTreeMap<PathBuf, Content>,
    /// Directories that git lists as a single entry: submodules, and repositories that it does not
    /// know.
    pub inner: Vec<PathBuf>,
}

impl Repository {
    pub fn around(project: &Path, executable: &Path) -> Option<Self> {
        let project = project.canonicalize().ok()?;
        let root = root(&project)?;
        let git = Git::of(executable, root.to_owned());
        // If the repository contains the home directory, only the project in it is meant.
        let home = std::env::var_os("HOME").and_then(|home| Path::new(&home).canonicalize().ok());
        let within = project.strip_prefix(root).ok().filter(|part| !part.as_os_str().is_empty());
        let part = within.filter(|_| home.is_some_and(|home| home.starts_with(root)));
        Some(Self { git, part: part.map(Path::to_owned) })
    }

    pub fn root(&self) -> &Path {
        &self.git.dir
    }

    pub fn git(&self) -> &Git {
        &self.git
    }

    pub fn state(&self, budget: &mut Budget) -> Result<GitState> {
        let pathspec = self.part.as_deref().map(|part| [OsStr::new("--"), part.as_os_str()]);
        let pathspec = pathspec.iter().flatten().copied();
        let beside = self.git.clone();
        let below: Vec<OsString> = pathspec.clone().map(OsStr::to_owned).collect();
        // One command checks the times of all tracked files, and the other walks the directories at
        // the same time. `git status` alone would do one after the other.
        let beside = thread::spawn(move || beside.beside(&below));
        let asked = ["status", "--porcelain=v2", "--branch", "-z", "--no-renames"];
        // In a submodule git would run what that one's configuration names; each is asked on its own.
        let asked = asked.into_iter().chain(["--untracked-files=no", "--ignore-submodules=dirty"]);
        let status = self.git.run(asked.map(OsStr::new).chain(pathspec), &[])?;
        let beside = beside.join().unwrap_or_else(|_| bail!("a thread in ccc failed"))?;

        let GitStatus { head, mut paths } = GitStatus::read(&status);
        let head = match head {
            Some(head) => head,
            None => self.git.empty_tree()?,
        };
        paths.extend(beside);
        paths.sort();
        paths.dedup();
        let mut state = GitState { head, differs: BTreeMap::new(), inner: Vec::new() };
        for path in paths {
            let full = self.git.dir.join(&path);
            if full.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
                // Collecting the components drops the slash that git puts at the end.
                state.inner.push(path.components().collect());
            } else {
                state.differs.insert(path, budget.read(&full));
            }
        }
        Ok(state)
    }

    /// A submodule, or a repository that git does not know about.
    pub fn inner(&self, path: &Path) -> Option<Self> {
        let git = Git::of(&self.git.executable, self.git.dir.join(path));
        git.dir.join(".git").exists().then_some(Self { git, part: None })
    }
}

impl Git {
    fn of(executable: &Path, dir: PathBuf) -> Self {
        let overruled = overruled(executable, &dir);
        Self { executable: executable.to_owned(), dir, overruled }
    }

    fn run<'a>(&self, args: impl IntoIterator<Item = &'a OsStr>, input: &[u8]) -> Result<Vec<u8>> {
        let kept = ["HOME", "PATH", "XDG_CONFIG_HOME"];
        let kept = kept.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        let mut command = Command::new(&self.executable);
        command.arg("--no-optional-locks").arg("--literal-pathspecs");
        for setting in CONFIG {
            command.args(["-c", setting]);
        }
        for (name, value) in &self.overruled {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        command.args(args).env_clear().envs(kept).env("LC_ALL", "C");
        let answer = ask(&mut command, &self.dir, input, u64::MAX)?;
        if !answer.status.success() {
            bail!("{}", answer.errors.lines().next().unwrap_or("it failed and gave no reason"));
        }
        Ok(answer.printed)
    }

    /// Files that git does not track, tracked ones that it was told not to check, and submodules.
    fn beside(&self, pathspec: &[OsString]) -> Result<Vec<PathBuf>> {
        let args = ["ls-files", "-v", "-z", "--stage", "--others", "--exclude-standard"];
        let args = args.map(OsStr::new).into_iter();
        let all = self.run(args.chain(pathspec.iter().map(OsString::as_os_str)), &[])?;
        let wanted = all.split(|byte| *byte == 0).filter_map(|line| {
            let (tag, rest) = line.split_at_checked(2)?;
            let named = |path: &[u8]| PathBuf::from(OsString::from_vec(path.to_vec()));
            if tag[0] == b'?' {
                return Some(named(rest));
            }
            // `<mode> <id> <stage>\t<path>`
            let path = || Some(named(&rest[memchr::memchr(b'\t', rest)? + 1..]));
            if rest.starts_with(b"160000 ") {
                return path().filter(|it| self.dir.join(it).join(".git").exists());
            }
            match tag[0] {
                // In a sparse checkout, most of these files are absent on purpose.
                b'S' => path().filter(|it| self.dir.join(it).symlink_metadata().is_ok()),
                tag => path().filter(|_| tag.is_ascii_lowercase()),
            }
        });
        Ok(wanted.collect())
    }

    fn empty_tree(&self) -> Result<String> {
        let id = self.run(["hash-object", "-t", "tree", "--stdin"].map(OsStr::new), &[])?;
        Ok(String::from_utf8(id)?.trim().to_owned())
    }

    /// Whether the repository has this commit.
    pub fn has(&self, id: &str) -> bool {
        self.run(["cat-file", "-e", id].map(OsStr::new), &[]).is_ok()
    }

    /// The paths that differ between two commits.
    pub fn differing(&self, before: &str, after: &str) -> Result<Vec<PathBuf>> {
        let args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", before, after];
        let names = self.run(args.map(OsStr::new), &[])?;
        let names = names.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| PathBuf::from(OsString::from_vec(name.to_vec()))).collect())
    }

    /// The content of these paths in a commit.
    pub fn committed(&self, head: &str, paths: &[&Path]) -> Result<BTreeMap<PathBuf, Content>> {
        let mut found = BTreeMap::new();
        for some in paths.chunks(MOST_ARGUMENTS) {
            let args = ["ls-tree", "-z", "--full-tree", head, "--"].map(OsStr::new).into_iter();
            let listed = self.run(args.chain(some.iter().map(|path| path.as_os_str())), &[])?;
            found.extend(listed.split(|byte| *byte == 0).filter_map(Committed::read));
        }
        let files = found.iter().filter(|(_, committed)| committed.is_blob());
        let (files, ids): (Vec<_>, Vec<_>) =
            files.map(|(path, file)| (path.clone(), format!("{}\n", file.id))).unzip();
        let blobs = self.run(["cat-file", "--batch"].map(OsStr::new), ids.concat().as_bytes())?;
        let mut rest = blobs.as_slice();
        let mut digests = BTreeMap::new();
        for path in files {
            digests.insert(path, digest(next_blob(&mut rest).context("git's answer is cut off")?));
        }
        let content = |path: &Path| match (found.get(path), digests.get(path)) {
            (Some(committed), Some(digest)) => committed.content(*digest),
            (Some(submodule), None) => Content::Submodule(submodule.id.clone()),
            (None, _) => Content::Absent,
        };
        Ok(paths.iter().map(|path| ((*path).to_owned(), content(path))).collect())
    }
}

/// A line of `git ls-tree`: `<mode> <type> <id>\t<path>`.
struct Committed {
    mode: String,
    id: String,
}

impl Committed {
    fn read(line: &[u8]) -> Option<(PathBuf, Self)> {
        let tab = memchr::memchr(b'\t', line)?;
        let head = std::str::from_utf8(&line[..tab]).ok()?;
        let path = PathBuf::from(OsString::from_vec(line[tab + 1..].to_vec()));
        let mut words = head.split(' ');
        let (mode, kind, id) = (words.next()?, words.next()?, words.next()?);
        // A tree is a directory in this commit, at a path that is or was a file elsewhere.
        (kind != "tree").then(|| (path, Self { mode: mode.to_owned(), id: id.to_owned() }))
    }

    fn is_blob(&self) -> bool {
        self.mode != "160000"
    }

    fn content(&self, digest: Digest) -> Content {
        match self.mode.as_str() {
            "120000" => Content::Link(digest),
            mode => Content::File { digest, executable: mode == "100755" },
        }
    }
}

/// `<id> blob <size>\n<content>\n`
fn next_blob<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = memchr::memchr(b'\n', rest)?;
    let head = std::str::from_utf8(&rest[..end]).ok()?;
    let size: usize = head.rsplit(' ').next()?.parse().ok()?;
    let blob = rest.get(end + 1..end + 1 + size)?;
    *rest = rest.get(end + size + 2..)?;
    Some(blob)
}

/// The output of `git status --porcelain=v2 --branch -z`.
#[derive(Debug, Default, PartialEq)]
struct GitStatus {
    /// `None` before the first commit.
    head: Option<String>,
    paths: Vec<PathBuf>,
}

impl GitStatus {
    fn read(text: &[u8]) -> Self {
        let mut status = Self::default();
        for line in text.split(|byte| *byte == 0) {
            // The number of fields before the path.
            let fields = match line.first() {
                Some(b'1') => 8,
                Some(b'u') => 10,
                Some(b'?') => 1,
                Some(b'#') => {
                    let oid = line.strip_prefix(b"# branch.oid ");
                    let oid = oid.filter(|oid| *oid != b"(initial)");
                    if let Some(oid) = oid {
                        status.head = Some(String::from_utf8_lossy(oid).into_owned());
                    }
                    continue;
                }
                _ => continue,
            };
            if let Some(path) = line.splitn(fields + 1, |byte| *byte == b' ').nth(fields) {
                status.paths.push(PathBuf::from(OsString::from_vec(path.to_vec())));
            }
        }
        status
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_names_its_path() {
        let text = b"# branch.oid 1234\0# branch.head main\0\
            1 .M N... 100644 100644 100644 aaaa bbbb a b.txt\0\
            u UU N... 100644 100644 100644 100644 aa bb cc both changed\0\
            ? new file\n2\0? dir/\0";
        let status = GitStatus::read(text);
        assert_eq!(status.head.as_deref(), Some("1234"));
        let paths: Vec<_> = status.paths.iter().map(|path| path.to_string_lossy()).collect();
        assert_eq!(paths, ["a b.txt", "both changed", "new file\n2", "dir/"]);
        assert_eq!(GitStatus::read(b"# branch.oid (initial)\0"), GitStatus::default());
    }
}
