//! What is measured: ccc, and the programs it is measured against.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use portable_pty::CommandBuilder;

use super::place::{CCC, Place, ROLE};

#[derive(Debug, Clone, PartialEq)]
pub enum Subject {
    /// With this `--output-format`.
    Ccc(&'static str),
    /// With a person, who does nothing.
    CccTerminal,
    /// A client with its own screen, which ccc relays.
    Native,
    Script,
    Asciinema(PathBuf),
    ReadOnly,
}

impl Subject {
    pub fn name(&self) -> String {
        match self {
            Self::Ccc(format) => format!("ccc {format}"),
            Self::CccTerminal => "ccc, on a terminal".into(),
            Self::Native => "ccc --supervisor=native".into(),
            Self::Script => "script -qfc".into(),
            Self::Asciinema(_) => "asciinema rec".into(),
            Self::ReadOnly => "read-only PTY loop".into(),
        }
    }

    pub fn is_ccc(&self) -> bool {
        matches!(self, Self::Ccc(_) | Self::CccTerminal)
    }

    /// What ccc itself is, in any of its forms.
    pub fn is_ours(&self) -> bool {
        self.is_ccc() || *self == Self::Native
    }

    /// The command that reads the agent's stream from a PTY of its own.
    pub fn command(&self, place: &mut Place, record: bool) -> io::Result<Command> {
        let argv = self.argv(place, record)?;
        let mut command = place.command(&argv)?;
        if *self == Self::Script {
            command.stdin(Stdio::piped());
        }
        Ok(command)
    }

    /// The same for a terminal on which it is watched.
    pub fn on_a_terminal(&self, place: &mut Place, record: bool) -> io::Result<CommandBuilder> {
        let argv = self.argv(place, record)?;
        Ok(place.on_a_terminal(&argv))
    }

    fn argv(&self, place: &mut Place, record: bool) -> io::Result<Vec<OsString>> {
        if !self.is_ccc() {
            place.set(ROLE, if *self == Self::ReadOnly { "reader" } else { "emitter" });
        }
        let me = std::env::current_exe()?;
        let emitter = format!("exec '{}'", me.display());
        let file = self.file(place);
        let unrecorded = if record { &[][..] } else { &["--no-record"] };
        Ok(match self {
            Self::Ccc(format) => {
                let args = ["--output-format", format, "-p", "go"];
                argv(CCC, &[&["--supervisor"], unrecorded, &args].concat())
            }
            Self::CccTerminal => argv(CCC, &[&["--supervisor"], unrecorded, &["go"]].concat()),
            Self::Native => argv(CCC, &[&["--supervisor=native"], unrecorded].concat()),
            Self::Script => {
                let mut argv = argv("script", &["-qfc", &emitter]);
                argv.push(file.into());
                argv
            }
            Self::Asciinema(program) => {
                let size = ["--headless", "--window-size", "120x40", "--overwrite", "--quiet"];
                let mut argv = argv(program, &[&["rec"], &size[..], &["-c", &emitter]].concat());
                argv.push(file.into());
                argv
            }
            Self::ReadOnly => vec![me.into()],
        })
    }

    /// Where the stream is on disk afterwards.
    pub fn file(&self, place: &Place) -> PathBuf {
        match self {
            Self::Ccc(_) | Self::CccTerminal => place.recording(),
            Self::Native => place.recording().with_file_name("session.cast"),
            Self::Script => place.path().join("typescript"),
            Self::Asciinema(_) => place.path().join("session.cast"),
            Self::ReadOnly => PathBuf::from("/dev/null"),
        }
    }
}

pub fn argv(program: impl AsRef<OsStr>, args: &[&str]) -> Vec<OsString> {
    let mut argv = vec![program.as_ref().to_owned()];
    argv.extend(args.iter().map(OsString::from));
    argv
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
