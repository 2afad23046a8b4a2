//! asciinema, for the tests that have their recordings read by it and for the benchmark. Tests take
//! the packaged one (2.4, from PyPI: seconds); the benchmark needs 3, which it builds from source
//! (`cargo bench --bench peers`: minutes, once). A test takes the built one where it is there.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const BUILT: &str = "3.2.0";
const PACKAGED: &str = "2.4.0";
/// In a session of its own: it would otherwise make the terminal of whoever runs the tests raw.
const CAT: &str =
    "import os, sys; os.setsid(); from asciinema.__main__ import main; sys.exit(main())";

/// What an installer may see of the environment: how to run, and how to reach a registry.
const KEPT: [&str; 16] = [
    "PATH",
    "HOME",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "PIP_INDEX_URL",
    "PIP_CONFIG_FILE",
    "PIP_CERT",
    "PIP_TRUSTED_HOST",
    "http_proxy",
    "https_proxy",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// asciinema 3 and its version, or why there is none.
#[allow(dead_code, reason = "only the benchmark builds it")]
pub fn asciinema(install: bool) -> Result<(PathBuf, String), String> {
    if let Some(found) = built() {
        return Ok(found);
    }
    if !install {
        return Err("not installed, and --no-install".into());
    }
    let _lock = lock()?;
    if let Some(found) = built() {
        return Ok(found);
    }
    eprintln!("building asciinema {BUILT} in {} (once)", own().display());
    // The toolchain that runs this, and no installs: some crates carry a toolchain file that asks for
    // components, and rustup would update the user's toolchain to get them.
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args(["install", "asciinema", "--version", BUILT, "--locked", "--quiet", "--root"])
        .arg(own())
        .env("RUSTUP_AUTO_INSTALL", "0");
    let failed = run(&mut cargo, "cargo install");
    built().ok_or_else(|| failed.err().unwrap_or_else(|| "cargo install: failed".into()))
}

/// An asciinema that reads recordings: the command in front of `cat FILE`, or `convert …`.
#[allow(dead_code, reason = "the benchmark reads nothing")]
pub enum Reader {
    Built(PathBuf),
    /// Where its Python package is.
    Packaged(PathBuf),
}

#[allow(dead_code, reason = "the benchmark reads nothing")]
impl Reader {
    pub fn find() -> Result<Self, String> {
        if let Some((program, _)) = built() {
            return Ok(Self::Built(program));
        }
        let package = own().join(format!("python-{PACKAGED}"));
        let _lock = lock()?;
        if !package.join("asciinema/__main__.py").exists() {
            let mut pip = Command::new("python3");
            pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
                .args(["--no-deps", "--target"])
                .arg(&package)
                .arg(format!("asciinema=={PACKAGED}"));
            run(&mut pip, "python3 -m pip install")?;
        }
        Ok(Self::Packaged(package))
    }

    /// Everything that the recording shows, as asciinema reads it.
    pub fn cat(&self, cast: &Path) -> Command {
        let mut command = match self {
            Self::Built(program) => {
                let mut command = Command::new(program);
                command.args(["convert", "--output-format", "raw"]).arg(cast).arg("-");
                command
            }
            Self::Packaged(package) => {
                let mut command = Command::new("python3");
                command.args(["-c", CAT, "cat"]).arg(cast);
                command.env("PYTHONPATH", package).env("PYTHONUTF8", "1");
                command
            }
        };
        command.stdin(Stdio::null());
        command
    }
}

fn own() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("asciinema")
}

/// Another process may be installing it at this moment: then this one waits, and finds it.
fn lock() -> Result<File, String> {
    fs::create_dir_all(own()).map_err(|error| error.to_string())?;
    let lock = File::create(own().join("lock")).map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    Ok(lock)
}

fn built() -> Option<(PathBuf, String)> {
    [PathBuf::from("asciinema"), own().join("bin/asciinema")].into_iter().find_map(|program| {
        let mut command = Command::new(&program);
        command.arg("--version").env_clear().stdin(Stdio::null());
        let output = command.env("PATH", env::var_os("PATH").unwrap_or_default()).output().ok()?;
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        version.starts_with("asciinema 3").then_some((program, version))
    })
}

fn run(command: &mut Command, name: &str) -> Result<(), String> {
    let kept = KEPT.iter().filter_map(|name| Some((name, env::var_os(name)?)));
    let set: Vec<_> = command
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect();
    let output = command.env_clear().envs(kept).envs(set).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(format!("{name}: {}", errors.lines().last().unwrap_or("failed")))
}
