//! A project behind the shim, which runs shell scripts in its case.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ccc::client::case::{CaseReport, CaseRequest};
use tempfile::TempDir;

/// A home, a project with a file, and room beside them.
pub struct CaseRoom {
    _dir: Option<TempDir>,
    pub root: PathBuf,
    pub project: PathBuf,
    in_front: Vec<OsString>,
}

impl CaseRoom {
    pub fn new() -> Self {
        Self::with_project("project")
    }

    pub fn with_project(name: &str) -> Self {
        // Not among the temporary files, where everybody may write in every case.
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
        let place = Self::under(dir.path(), name);
        Self { _dir: Some(dir), ..place }
    }

    pub fn under(dir: &Path, name: &str) -> Self {
        let root = dir.canonicalize().expect("a path");
        let project = root.join(name);
        for path in [root.join("home/.claude"), root.join("tmp"), project.join("dir")] {
            fs::create_dir_all(path).expect("a directory");
        }
        fs::write(project.join("file"), "real\n").expect("a file");
        fs::write(project.join("dir/deep"), "real\n").expect("a file");
        Self { _dir: None, root, project, in_front: Vec::new() }
    }

    /// A build directory among the temporary files makes every place here one of them.
    pub fn is_temporary(&self) -> bool {
        ["/tmp", "/var/tmp"].iter().any(|dir| self.root.starts_with(dir))
    }

    /// A command that runs the shim.
    pub fn behind(mut self, command: &[&str]) -> Self {
        self.in_front = command.iter().map(OsString::from).collect();
        self
    }

    pub fn command(&self, case: &CaseRequest, dir: &Path, script: &str) -> Command {
        let ccc = OsString::from(env!("CARGO_BIN_EXE_ccc"));
        let mut argv = self.in_front.clone();
        argv.extend([ccc, "agent-shim".into()]);
        argv.extend(case.args());
        argv.extend(["--", "/bin/sh", "-c", script].map(OsString::from));
        let mut command = Command::new(&argv[0]);
        command
            .args(&argv[1..])
            .current_dir(dir)
            .env_clear()
            .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
            .env("HOME", self.root.join("home"))
            .env("TMPDIR", self.root.join("tmp"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// What the shim said, what the script printed, and how it ended.
    pub fn run(&self, script: &str) -> Done {
        self.run_in(&self.project, std::slice::from_ref(&self.project), script)
    }

    pub fn run_in(&self, dir: &Path, covered: &[PathBuf], script: &str) -> Done {
        let case = CaseRequest { required: false, covered: covered.to_vec() };
        Done::of(self.command(&case, dir, script))
    }

    pub fn git(&self, dir: &Path, args: &[&str]) {
        let done = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@t"])
            .args(args)
            .current_dir(dir)
            .env("HOME", self.root.join("home"))
            .output()
            .expect("git");
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

#[derive(Debug)]
pub struct Done {
    pub report: CaseReport,
    pub printed: String,
    pub code: Option<i32>,
}

impl Done {
    pub fn of(mut command: Command) -> Self {
        let mut child = command.spawn().expect("the shim");
        // Its end would mean that ccc is gone.
        let _input = child.stdin.take();
        let output = child.wait_with_output().expect("output");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        let (first, printed) = text.split_once('\n').unwrap_or((&text, ""));
        let report = serde_json::from_str(first).unwrap_or_else(|e| panic!("{e}: {text}{errors}"));
        Self { report, printed: format!("{printed}{errors}"), code: output.status.code() }
    }
}
