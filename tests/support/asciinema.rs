//! asciinema, pinned: from the path, or installed once beside the build, for the benchmark and for
//! the tests that have their recordings read by it.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const VERSION: &str = "3.2.0";

/// What cargo may see of the environment: how to run, and how to reach a registry.
const KEPT: [&str; 12] = [
    "PATH",
    "HOME",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "http_proxy",
    "https_proxy",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// The program and its version, or why there is none.
pub fn asciinema(install: bool) -> Result<(PathBuf, String), String> {
    let own = Path::new(env!("CARGO_TARGET_TMPDIR")).join("asciinema");
    let found = || {
        [PathBuf::from("asciinema"), own.join("bin/asciinema")].into_iter().find_map(|program| {
            let version = version(&program)?;
            version.starts_with("asciinema 3").then_some((program, version))
        })
    };
    if let Some(found) = found() {
        return Ok(found);
    }
    if !install {
        return Err("not installed, and --no-install".into());
    }
    // Another process may be installing it at this moment: then this one waits, and finds it.
    fs::create_dir_all(&own).map_err(|error| error.to_string())?;
    let lock = File::create(own.join("lock")).map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    if let Some(found) = found() {
        return Ok(found);
    }
    eprintln!("installing asciinema {VERSION} into {} (once)", own.display());
    // The toolchain that runs this, and no installs: some crates carry a toolchain file that asks for
    // components, and rustup would update the user's toolchain to get them.
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["install", "asciinema", "--version", VERSION, "--locked", "--quiet", "--root"])
        .arg(&own)
        .env_clear()
        .envs(KEPT.iter().filter_map(|name| Some((name, env::var_os(name)?))))
        .env("RUSTUP_AUTO_INSTALL", "0")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cargo install: {error}"))?;
    found().ok_or_else(|| {
        let errors = String::from_utf8_lossy(&output.stderr);
        format!("cargo install: {}", errors.lines().last().unwrap_or("failed"))
    })
}

fn version(program: &Path) -> Option<String> {
    let output = Command::new(program)
        .arg("--version")
        .env_clear()
        .env("PATH", env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::null())
        .output()
        .ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
