//! Looks up evidence in the record of a session and in the files of its project.

use std::fs;
use std::path::{Path, PathBuf};

use super::commands::Commands;
use super::evidence::{Facts, Record};
use super::instructions::FILE;
use crate::brief::old_lines::OldLines;
use crate::directories::STATE_DIR;
use crate::event::ReviewRequest;
use crate::files;
use crate::tree;

/// Files that are worth citing are smaller than this.
const LONGEST_FILE: u64 = 8 << 20;

#[derive(Clone, Copy)]
pub struct Lookup<'a> {
    pub agent: &'a Commands,
    /// Commands from earlier runs of the session.
    pub earlier: Option<&'a Commands>,
    pub judge: &'a Commands,
    /// The project, and further directories in which the agent works.
    pub roots: &'a [PathBuf],
    /// Where ccc keeps its records, unless in the usual place.
    pub state_dir: Option<&'a Path>,
    pub request: &'a ReviewRequest,
    /// What stood in the files before the task began, if that is known.
    pub old: Option<&'a OldLines>,
    /// Whether a check passed on the files as they are now; `None` if there is no such check.
    pub check: &'a dyn Fn(&str) -> Option<bool>,
}

impl Facts for Lookup<'_> {
    fn record(&self) -> Record<'_> {
        Record { agent: self.agent, earlier: self.earlier, judge: self.judge }
    }

    fn has_file(&self, path: &str) -> bool {
        self.roots.iter().any(|root| root.join(path).is_file())
    }

    fn is_old(&self, path: &str, text: &str, quote: &str) -> bool {
        let found = self.old.zip(self.found(path));
        // What a link leads to is old, and the link itself may be new.
        let found = found.filter(|(_, file)| file.ends_with(path.trim_start_matches("./")));
        found.is_some_and(|(old, file)| old.have(&file, text, quote))
    }

    fn file(&self, path: &str) -> Result<String, String> {
        let found = self.found(path).ok_or_else(|| format!("there is no file {path}"))?;
        let inside =
            |root: &PathBuf| fs::canonicalize(root).is_ok_and(|root| found.starts_with(root));
        if !self.roots.iter().any(inside) {
            return Err(format!("{path} is not in the project"));
        }
        if is_bookkeeping(&found) || self.state_dir.is_some_and(|dir| is_below(&found, dir)) {
            return Err(format!(
                "{path} is not part of the work: git, claude or ccc keeps its records there"
            ));
        }
        if is_instructions(&found) && !self.said().iter().any(|said| said.contains(FILE)) {
            return Err(format!(
                "{path} says what to look for; it does not show that any of it is \
                done"
            ));
        }
        let metadata = fs::metadata(&found).map_err(|error| format!("{path}: {error}"))?;
        // Reading a pipe might never end.
        if !metadata.is_file() {
            return Err(format!("{path} is not a file"));
        }
        if metadata.len() > LONGEST_FILE {
            return Err(format!("{path} is too long to search"));
        }
        let bytes = files::read(&found).map_err(|error| format!("{path}: {error}"))?;
        if bytes.contains(&0) {
            return Err(format!("{path} is not text; cite a command that shows what is in it"));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn check(&self, name: &str) -> Option<bool> {
        (self.check)(name)
    }

    fn answer(&self) -> &str {
        &self.request.last_answer
    }

    fn said(&self) -> Vec<&str> {
        let task = self.request.said.iter().filter(|said| !said.earlier);
        task.map(|said| said.text.as_str()).collect()
    }
}

impl Lookup<'_> {
    /// The file of this name, wherever its links lead.
    fn found(&self, path: &str) -> Option<PathBuf> {
        let named = Path::new(path);
        if named.is_absolute() {
            return fs::canonicalize(named).ok();
        }
        // In a subdirectory of a repository, a file may be named from the repository's root, as git
        // does.
        let repositories = self.roots.iter().filter_map(|dir| tree::root(dir));
        let mut places = self.roots.iter().map(PathBuf::as_path).chain(repositories);
        places.find_map(|dir| fs::canonicalize(dir.join(named)).ok())
    }
}

/// A recording contains every word of the agent and of the judge, so any quote can be found in it.
fn is_bookkeeping(path: &Path) -> bool {
    let path = path.to_string_lossy();
    path.contains("/.git/")
        || path.ends_with("/.git")
        || path.contains(&format!("/{STATE_DIR}/"))
        || path.contains("/.claude/projects/")
}

fn is_below(path: &Path, dir: &Path) -> bool {
    fs::canonicalize(dir).is_ok_and(|dir| path.starts_with(dir))
}

fn is_instructions(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == FILE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Said;

    #[test]
    fn only_files_of_the_project_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let (project, library) = (dir.path().join("project"), dir.path().join("library"));
        fs::create_dir_all(&project).unwrap();
        fs::create_dir_all(&library).unwrap();
        fs::write(project.join("a.py"), "def a").unwrap();
        fs::write(library.join("b.py"), "def b").unwrap();
        fs::write(dir.path().join("secret"), "key").unwrap();
        fs::create_dir_all(project.join(".git")).unwrap();
        fs::create_dir_all(project.join(".claude/ccc/sessions")).unwrap();
        fs::write(project.join(".git/COMMIT_EDITMSG"), "all is done").unwrap();
        fs::write(project.join(".claude/ccc/sessions/judge.jsonl"), "all is done").unwrap();
        fs::write(project.join("blob"), b"all is done\0").unwrap();
        fs::create_dir_all(project.join("records/sessions")).unwrap();
        fs::write(project.join("records/sessions/events.jsonl"), "all is done").unwrap();
        fs::write(project.join("SUPERVISOR.md"), "all is done").unwrap();
        std::os::unix::fs::symlink(project.join(".git"), project.join("inward")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("secret"), project.join("link")).unwrap();
        let (request, commands) = (ReviewRequest::default(), Commands::default());
        let roots = [project.clone(), library];
        let lookup = Lookup {
            agent: &commands,
            earlier: None,
            judge: &commands,
            roots: &roots,
            state_dir: Some(&project.join("records")),
            request: &request,
            old: None,
            check: &|_| None,
        };
        let a = project.join("a.py");
        for (path, text) in [("a.py", "def a"), ("b.py", "def b"), (a.to_str().unwrap(), "def a")] {
            assert_eq!(lookup.file(path).as_deref(), Ok(text));
        }
        for (path, why) in [
            ("../secret", "not in the project"),
            ("link", "not in the project"),
            ("/etc/passwd", "not in the project"),
            (".", "is not a file"),
            (".git/COMMIT_EDITMSG", "not part of the work"),
            ("inward/COMMIT_EDITMSG", "not part of the work"),
            (".claude/ccc/sessions/judge.jsonl", "not part of the work"),
            ("records/sessions/events.jsonl", "not part of the work"),
            ("SUPERVISOR.md", "says what to look for"),
            ("blob", "is not text"),
            ("gone.py", "there is no file gone.py"),
        ] {
            let error = lookup.file(path).unwrap_err();
            assert!(error.contains(why), "{path}: {error}");
        }
        fs::create_dir_all(project.join("web")).unwrap();
        fs::write(project.join("web/c.ts"), "let c").unwrap();
        let part = [project.join("web")];
        let in_a_part = Lookup { roots: &part, ..lookup };
        assert_eq!(in_a_part.file("web/c.ts").as_deref(), Ok("let c"));
        assert_eq!(in_a_part.file("c.ts").as_deref(), Ok("let c"));
        assert!(in_a_part.file("a.py").unwrap_err().contains("not in the project"));
        // If the user asked to change SUPERVISOR.md, it can be cited.
        let said = vec![Said {
            text: "Put the checks into SUPERVISOR.md.".into(),
            earlier: false,
            ..Said::default()
        }];
        let request = ReviewRequest { said, ..ReviewRequest::default() };
        let lookup = Lookup { request: &request, ..lookup };
        assert_eq!(lookup.file("SUPERVISOR.md").as_deref(), Ok("all is done"));
        assert!(lookup.has_file("a.py") && !lookup.has_file("c.py"));
    }
}
