//! Recordings as asciinema reads them.

use std::env;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::OnceLock;

use crate::asciinema::Reader;

/// With this variable set, a test that cannot run is a failure: for CI.
const REQUIRED: &str = "CCC_REQUIRE_REAL_CLIENT";

/// The words of everything that a recording shows, after asciinema has read all of it. `None` where there is no
/// asciinema, which is said on stderr.
#[track_caller]
pub fn played(cast: &Path) -> Option<String> {
    // The first one installs it, and the others wait.
    static KNOWN: OnceLock<Option<Reader>> = OnceLock::new();
    let find = || match Reader::find() {
        Ok(reader) => Some(reader),
        Err(reason) => {
            assert!(env::var_os(REQUIRED).is_none(), "{REQUIRED} is set, but {reason}");
            // Past `eprintln!`, which the test harness swallows when the test passes.
            let _ =
                writeln!(io::stderr(), "SKIPPED: recordings are not read by asciinema: {reason}");
            None
        }
    };
    let reader = KNOWN.get_or_init(find).as_ref()?;
    let home = tempfile::tempdir().expect("a directory");
    let output = reader
        .cat(cast)
        .env("HOME", home.path())
        .env("PATH", env::var_os("PATH").unwrap_or_default())
        .output()
        .expect("asciinema runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "asciinema: {errors}");
    let shown = String::from_utf8(output.stdout).expect("UTF-8");
    // Words stand together that are only in different colours.
    Some(ccc::client::stream::strip_escapes(&shown).into_owned())
}
