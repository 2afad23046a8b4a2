//! What lies between the person's terminal and the program that gives back the keys.

use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use portable_pty::CommandBuilder;

use crate::place::{CCC, Place, ROLE};
use crate::subject::{Subject, argv};

#[derive(Debug, Clone, PartialEq)]
pub enum Route {
    /// Nothing.
    Direct,
    Script,
    Tmux,
    Asciinema(PathBuf),
    /// Itself gives back the keys.
    Ccc,
    /// The same program behind it.
    Native,
}

/// A server of its own for every run: the socket is in the run's directory.
const SOCKET: &str = "ccc-bench";
const SOCKET_DIR: &str = "TMUX_TMPDIR";

/// Those that this machine has; what is missing is said.
pub fn routes(subjects: &[Subject]) -> Vec<Route> {
    let mut routes = vec![Route::Ccc, Route::Native, Route::Direct];
    match tmux() {
        Ok(version) => {
            println!("  {version}\n");
            routes.push(Route::Tmux);
        }
        Err(reason) => println!("  tmux: not available: {reason}\n"),
    }
    routes.extend(subjects.iter().filter_map(|subject| match subject {
        Subject::Script => Some(Route::Script),
        Subject::Asciinema(program) => Some(Route::Asciinema(program.clone())),
        _ => None,
    }));
    routes
}

fn tmux() -> Result<String, String> {
    let output = Command::new("tmux").arg("-V").stdin(Stdio::null()).output();
    let output = output.map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

impl Route {
    pub fn name(&self) -> String {
        match self {
            Self::Direct => "direct".into(),
            Self::Script => "script -qfc".into(),
            Self::Tmux => "tmux".into(),
            Self::Asciinema(_) => "asciinema rec".into(),
            Self::Ccc => "ccc --supervisor".into(),
            Self::Native => "ccc --supervisor=native".into(),
        }
    }

    pub fn command(&self, place: &mut Place) -> io::Result<CommandBuilder> {
        if *self != Self::Ccc {
            place.set(ROLE, "echo");
        }
        let me = std::env::current_exe()?;
        let program = format!("exec '{}'", me.display());
        let file = place.path().join("recording").display().to_string();
        let argv = match self {
            Self::Direct => vec![me.into()],
            Self::Script => argv("script", &["-qfc", &program, &file]),
            Self::Tmux => {
                let dir = place.path().display().to_string();
                place.set(SOCKET_DIR, dir);
                let server = ["-L", SOCKET, "-f", "/dev/null", "-u", "new-session"];
                argv("tmux", &[&server[..], &[&program]].concat())
            }
            Self::Asciinema(recorder) => {
                argv(recorder, &["rec", "--overwrite", "--quiet", "-c", &program, &file])
            }
            Self::Ccc => argv(CCC, &["--supervisor", "go"]),
            Self::Native => argv(CCC, &["--supervisor=native"]),
        };
        Ok(place.on_a_terminal(&argv))
    }

    /// tmux has a server, which ends with its last session; the others end by a signal.
    pub fn leave(&self, place: &Place) -> bool {
        let leave = ["-L", SOCKET, "kill-session"];
        *self == Self::Tmux
            && place
                .command(&argv("tmux", &leave))
                .and_then(|mut command| command.status())
                .is_ok_and(|status| status.success())
    }
}
