//! What is measured: ccc, and the programs it is measured against.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::place::{CCC, Place, ROLE};

#[derive(Debug, Clone, PartialEq)]
pub enum Subject {
    /// With this `--output-format`.
    Ccc(&'static str),
    /// With a person, who does nothing.
    CccTerminal,
    Script,
    Asciinema(PathBuf),
    ReadOnly,
}

impl Subject {
    pub fn name(&self) -> String {
        match self {
            Self::Ccc(format) => format!("ccc {format}"),
            Self::CccTerminal => "ccc, on a terminal".into(),
            Self::Script => "script -qfc".into(),
            Self::Asciinema(_) => "asciinema rec".into(),
            Self::ReadOnly => "read-only PTY loop".into(),
        }
    }

    pub fn is_ccc(&self) -> bool {
        matches!(self, Self::Ccc(_) | Self::CccTerminal)
    }

    /// The command that reads the agent's stream from a PTY of its own.
    pub fn command(&self, place: &mut Place) -> io::Result<Command> {
        if !self.is_ccc() {
            place.set(ROLE, if *self == Self::ReadOnly { "reader" } else { "emitter" });
        }
        let me = std::env::current_exe()?;
        let emitter = format!("exec '{}'", me.display());
        match self {
            Self::Ccc(format) => {
                let mut command = place.command(CCC)?;
                command.args(["--supervisor", "--output-format", format, "-p", "go"]);
                Ok(command)
            }
            Self::Script => {
                let mut command = place.command("script")?;
                command.args(["-qfc", &emitter]).arg(self.file(place)).stdin(Stdio::piped());
                Ok(command)
            }
            Self::Asciinema(program) => {
                let mut command = place.command(program)?;
                let size = ["--headless", "--window-size", "120x40", "--overwrite", "--quiet"];
                command.arg("rec").args(size).args(["-c", &emitter]).arg(self.file(place));
                Ok(command)
            }
            Self::ReadOnly => place.command(me),
            Self::CccTerminal => Err(io::Error::other("needs a terminal")),
        }
    }

    /// Where the stream is on disk afterwards.
    pub fn file(&self, place: &Place) -> PathBuf {
        match self {
            Self::Ccc(_) | Self::CccTerminal => place.recording(),
            Self::Script => place.path().join("typescript"),
            Self::Asciinema(_) => place.path().join("session.cast"),
            Self::ReadOnly => PathBuf::from("/dev/null"),
        }
    }
}

/// `script` of util-linux; the one of BSD and macOS has other options.
pub fn script() -> Result<String, String> {
    let version = version(Path::new("script"))?;
    if version.contains("util-linux") {
        Ok(version)
    } else {
        Err("not the one of util-linux".into())
    }
}

fn version(program: &Path) -> Result<String, String> {
    let output = Command::new(program)
        .arg("--version")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
