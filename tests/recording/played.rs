//! Recordings as asciinema reads them.

use std::env;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::asciinema::asciinema;

/// With this variable set, a test that cannot run is a failure: for CI.
const REQUIRED: &str = "CCC_REQUIRE_REAL_CLIENT";

/// The text of a recording, after asciinema has read all of it, and converted it to both of the
/// formats that it writes. `None` where there is no asciinema, which is said on stderr.
#[track_caller]
pub fn played(cast: &Path) -> Option<String> {
    let program = program()?;
    for format in ["asciicast-v2", "asciicast-v3"] {
        let converted = convert(&program, cast, format);
        assert!(converted.lines().count() > 1, "{converted}");
    }
    Some(convert(&program, cast, "txt"))
}

#[track_caller]
fn convert(program: &Path, cast: &Path, format: &str) -> String {
    let home = tempfile::tempdir().expect("a directory");
    let output = Command::new(program)
        .args(["convert", "--output-format", format])
        .arg(cast)
        .arg("-")
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", env::var_os("PATH").unwrap_or_default())
        .output()
        .expect("asciinema runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "asciinema convert to {format}: {errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn program() -> Option<PathBuf> {
    // The first one installs it, and the others wait.
    static KNOWN: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || match asciinema(true) {
        Ok((program, _)) => Some(program),
        Err(reason) => {
            assert!(env::var_os(REQUIRED).is_none(), "{REQUIRED} is set, but {reason}");
            // Past `eprintln!`, which the test harness swallows when the test passes.
            let _ = writeln!(io::stderr(), "recordings not read by asciinema: {reason}");
            None
        }
    };
    KNOWN.get_or_init(find).clone()
}
