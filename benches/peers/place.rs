//! A clean room for one run: a home, a project, and an environment with nothing else in it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use portable_pty::CommandBuilder;
use tempfile::TempDir;

pub const ROLE: &str = "CCC_BENCH_ROLE";
pub const PART: &str = "CCC_BENCH_PART";
pub const DIR: &str = "CCC_BENCH_DIR";
pub const BYTES: &str = "CCC_BENCH_BYTES";
pub const TURNS: &str = "CCC_BENCH_TURNS";
/// Bytes of text in one message of the prose stream.
pub const LONG: &str = "CCC_BENCH_LONG";
/// Milliseconds of work and of review in one turn of the hour.
pub const WORK: &str = "CCC_BENCH_WORK";
pub const REVIEW: &str = "CCC_BENCH_REVIEW";

pub const CCC: &str = env!("CARGO_BIN_EXE_ccc");

pub struct Place {
    dir: TempDir,
    env: Vec<(&'static str, String)>,
}

impl Place {
    pub fn new(part: &str) -> io::Result<Self> {
        let dir = tempfile::Builder::new().prefix("ccc-bench-").tempdir()?;
        fs::create_dir(dir.path().join("home"))?;
        fs::create_dir(dir.path().join("project"))?;
        fs::write(dir.path().join("project/SUPERVISOR.md"), "Judge the work.\n")?;
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let env = vec![
            ("PATH", std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".into())),
            ("HOME", path(&dir.path().join("home"))),
            ("TERM", "xterm-256color".into()),
            ("LANG", "C.UTF-8".into()),
            ("SHELL", "/bin/sh".into()),
            ("CCC_CLAUDE", path(&std::env::current_exe()?)),
            (DIR, path(dir.path())),
            (PART, part.into()),
            (ROLE, "client".into()),
        ];
        Ok(Self { dir, env })
    }

    pub fn set(&mut self, name: &'static str, value: impl ToString) {
        self.env.retain(|(known, _)| *known != name);
        self.env.push((name, value.to_string()));
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    pub fn screen(&self) -> PathBuf {
        self.dir.path().join("screen")
    }

    /// What the agent said, as ccc recorded it.
    pub fn recording(&self) -> PathBuf {
        self.state_dir().join("sessions").join(super::lines::SESSION).join("agent.jsonl")
    }

    /// Everything that ccc leaves on disk.
    pub fn state_dir(&self) -> PathBuf {
        self.project().join(".claude/ccc")
    }

    /// In the project, with this environment only; the screen is a file.
    pub fn command(&self, argv: &[OsString]) -> io::Result<Command> {
        let [program, args @ ..] = argv else { return Err(io::Error::other("no program")) };
        let mut command = Command::new(program);
        command
            .args(args)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(self.project())
            .stdin(Stdio::null())
            .stdout(File::create(self.screen())?)
            .stderr(File::create(self.dir.path().join("errors"))?);
        Ok(command)
    }

    /// The same for a terminal.
    pub fn on_a_terminal(&self, argv: &[OsString]) -> CommandBuilder {
        let mut command = CommandBuilder::from_argv(argv.to_vec());
        command.env_clear();
        for (name, value) in &self.env {
            command.env(name, value);
        }
        command.cwd(self.project());
        command
    }

    pub fn errors(&self) -> String {
        fs::read_to_string(self.dir.path().join("errors")).unwrap_or_default().trim().to_owned()
    }
}
