//! The real client, pinned: installs it once per target directory, and gives it a clean room to run in.
//!
//! It never lets the client see the environment of the test run, a real key or a real endpoint.

// Each test binary uses its own part of this.
#![allow(dead_code)]

use std::collections::HashMap;
use std::env;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, Once, PoisonError};

use serde_json::json;
use tempfile::TempDir;

/// Made up, and known to `.claude.json` as approved. The client compares the last 20 characters.
pub const API_KEY: &str = "test-key-not-real";

/// With this variable set, a suite that cannot run is a failure: for CI.
const REQUIRED: &str = "CCC_REQUIRE_REAL_CLIENT";

/// The native binary of a release, installed from the npm registry when it is not there yet.
/// `None`, after one line on stderr, where it cannot be had.
///
/// # Panics
/// When npm fails, or when the client is required and cannot be had.
#[must_use]
pub fn client(version: &str) -> Option<PathBuf> {
    static KNOWN: Mutex<Option<HashMap<String, Option<PathBuf>>>> = Mutex::new(None);
    // Held during the installation, so that the other threads wait for it instead of repeating it.
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    if let Some(found) = known.get(version) {
        return found.clone();
    }
    let found = find_or_install(version);
    known.insert(version.to_owned(), found.clone());
    found
}

fn find_or_install(version: &str) -> Option<PathBuf> {
    let Some(package) = platform_package() else {
        return unavailable("no native client for this platform");
    };
    let store = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("the target directory")
        .join("real-client");
    let home = store.join(format!("claude-{version}"));
    let binary = Path::new("node_modules/@anthropic-ai").join(package).join("claude");
    if home.join(&binary).is_file() {
        return Some(home.join(binary));
    }

    // Beside its place and then renamed: another test process may be doing the same at this moment,
    // and half an installation must never look like a whole one.
    fs::create_dir_all(&store).expect("create the client's directory");
    let draft = tempfile::Builder::new()
        .prefix(&format!("installing-{version}-"))
        .tempdir_in(&store)
        .expect("a directory to install into");
    let output = match npm_install(draft.path(), version) {
        Ok(output) => output,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return unavailable("npm is not on PATH");
        }
        Err(error) => panic!("cannot start npm: {error}"),
    };
    assert!(
        output.status.success() && draft.path().join(&binary).is_file(),
        "npm did not install client {version} ({}):\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    let draft = draft.keep();
    if let Err(error) = fs::rename(&draft, &home) {
        let _ = fs::remove_dir_all(&draft);
        // Another process was faster, or somebody left something else there.
        assert!(home.join(&binary).is_file(), "cannot install into {}: {error}", home.display());
    }
    Some(home.join(binary))
}

fn unavailable(reason: &str) -> Option<PathBuf> {
    static SAID: Once = Once::new();
    assert!(env::var_os(REQUIRED).is_none(), "{REQUIRED} is set, but {reason}");
    // Past `eprintln!`, which the test harness swallows when the test passes, as it is about to.
    SAID.call_once(|| {
        let _ = writeln!(io::stderr(), "real-client suite skipped: {reason}");
    });
    None
}

fn platform_package() -> Option<String> {
    let system = match env::consts::OS {
        "linux" => "linux",
        "macos" => "darwin",
        _ => return None,
    };
    let processor = match env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        _ => return None,
    };
    Some(format!("claude-code-{system}-{processor}"))
}

fn npm_install(into: &Path, version: &str) -> io::Result<Output> {
    // Not `--silent`: that would hide why it failed.
    Command::new("npm")
        .args(["install", "--no-fund", "--no-audit", "--loglevel=error", "--prefix"])
        .arg(into)
        .arg(format!("@anthropic-ai/claude-code@{version}"))
        .current_dir(into)
        .env_clear()
        .envs(env::vars_os().filter(|(name, _)| name.to_str().is_some_and(npm_may_see)))
        .stdin(Stdio::null())
        .output()
}

fn npm_may_see(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with("npm_config_")
        || matches!(
            name.as_str(),
            "path"
                | "home"
                | "http_proxy"
                | "https_proxy"
                | "all_proxy"
                | "no_proxy"
                | "node_extra_ca_certs"
                | "ssl_cert_file"
                | "ssl_cert_dir"
        )
}

/// A home and a project of their own, gone when dropped.
pub struct CleanRoom {
    // Only kept so that the directory lives as long as the room.
    _dir: TempDir,
    path: PathBuf,
}

impl CleanRoom {
    /// The home is prepared so that the full-screen UI starts in the project without dialogs.
    #[must_use]
    pub fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        // The client looks its project up by the resolved path, and macOS has its temporary
        // directory behind a link.
        let path = dir.path().canonicalize().expect("the directory's real path");
        let room = Self { _dir: dir, path };
        fs::create_dir_all(room.home().join(".claude")).expect("create the home");
        fs::create_dir(room.project()).expect("create the project");
        fs::create_dir(room.temporary()).expect("create the temporary directory");
        let project = room.project().to_str().expect("a path in UTF-8").to_owned();
        let config = json!({
            "hasCompletedOnboarding": true,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [API_KEY], "rejected": []},
            "projects": {
                project: {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true},
            },
        });
        fs::write(room.home().join(".claude.json"), config.to_string())
            .expect("write .claude.json");
        room
    }

    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.path.join("home")
    }

    /// An empty directory, under no version control.
    #[must_use]
    pub fn project(&self) -> PathBuf {
        self.path.join("project")
    }

    fn temporary(&self) -> PathBuf {
        self.path.join("tmp")
    }

    /// The whole environment: use it after `env_clear`.
    #[must_use]
    pub fn env(&self, api_url: &str) -> Vec<(String, String)> {
        let (home, temporary) = (self.home(), self.temporary());
        [
            ("HOME", home.to_str().expect("a path in UTF-8")),
            // The client leaves task output and probes behind; this way they go with the room.
            ("TMPDIR", temporary.to_str().expect("a path in UTF-8")),
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("TERM", "xterm-256color"),
            ("LANG", "C.UTF-8"),
            ("ANTHROPIC_BASE_URL", api_url),
            ("ANTHROPIC_API_KEY", API_KEY),
            ("IS_SANDBOX", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_ERROR_REPORTING", "1"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
    }

    /// A program in the project, with this environment and no other, and nothing on its stdin.
    #[must_use]
    pub fn command(&self, program: &Path, api_url: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.project())
            .env_clear()
            .envs(self.env(api_url))
            .stdin(Stdio::null());
        command
    }
}
