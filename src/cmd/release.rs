//! The release of the installed client. ccc supervises none that is older than the oldest it is tested
//! with: such a client refuses hooks or feedback in forms that it does not know, and some of them say
//! nothing about it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};
use serde::Deserialize;

use crate::client::version::Version;
use crate::executables;
use crate::files;
use crate::process::answer::{Bounds, answer};

/// The answer takes well under a second, but many seconds on a busy machine.
const LONGEST: Duration = Duration::from_secs(30);
const BOUNDS: Bounds = Bounds { time: LONGEST, idle: LONGEST, bytes: 4096 };

/// The client for `ccc --supervisor`. If its files do not tell its release, its first line does.
pub fn supervised_client() -> Result<PathBuf> {
    let claude = executables::claude()?;
    refuse_too_old(&claude)?;
    Ok(claude)
}

/// The client for a session on its own screen, supervised or not. If its files do not tell its release,
/// it is asked: one that is too old drops the settings that ccc gives it, the hooks and the provider's
/// endpoint, and may not say so.
pub fn hooked_client() -> Result<PathBuf> {
    let claude = executables::claude()?;
    let asked = || ask(&claude).ok().and_then(|printed| Version::read(&printed));
    refuse(&claude, installed(&claude).or_else(asked))?;
    Ok(claude)
}

pub fn refuse_too_old(claude: &Path) -> Result<()> {
    refuse(claude, installed(claude))
}

fn refuse(claude: &Path, version: Option<Version>) -> Result<()> {
    match version.and_then(Version::refusal) {
        Some(why) => bail!("{why} (now: {})", claude.display()),
        None => Ok(()),
    }
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
}

/// Read from the files around it, because starting a client takes long: an old one, a script for
/// Node.js, up to a second. `None` for a script that starts the client, or a program of another name.
fn installed(claude: &Path) -> Option<Version> {
    let program = claude.canonicalize().ok()?;
    // As claude's own installer names it: ~/.local/share/claude/versions/2.1.327
    let by_name = program.file_name()?.to_str().and_then(Version::read);
    by_name.or_else(|| {
        let dirs = program.ancestors().skip(1).take(2);
        let package = dirs.map(|dir| dir.join("package.json")).find(|file| file.is_file())?;
        let package: Package = serde_json::from_str(&files::read_text(&package).ok()?).ok()?;
        let is_client = package.name.starts_with("@anthropic-ai/claude-code");
        Version::read(&package.version).filter(|_| is_client)
    })
}

/// The output of `claude --version`, with a minimal environment and a time limit.
pub fn ask(claude: &Path) -> Result<String> {
    let kept = ["PATH", "HOME"];
    let kept = kept.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    let mut command = Command::new(claude);
    told(command.arg("--version").env_clear().envs(kept), BOUNDS)
}

fn told(command: &mut Command, bounds: Bounds) -> Result<String> {
    let answer = answer(command, b"", bounds)?;
    if !answer.status.success() {
        bail!("it fails ({})", answer.status);
    }
    Ok(String::from_utf8_lossy(&answer.printed).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// The link that npm puts on the `PATH`, to a program in a package with this package.json.
    fn package(dir: &Path, program: &str, json: &str) -> PathBuf {
        let package = dir.join("lib/node_modules/@anthropic-ai/claude-code");
        let program = package.join(program);
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::write(&program, "").unwrap();
        fs::write(package.join("package.json"), json).unwrap();
        let link = dir.join("claude");
        symlink(&program, &link).unwrap();
        link
    }

    #[test]
    fn the_release_is_read_from_where_it_is_installed() {
        let found = |program: &str, json: &str| {
            let dir = tempfile::tempdir().unwrap();
            installed(&package(dir.path(), program, json)).map(|version| version.to_string())
        };
        let of = |version: &str| {
            format!(r#"{{"name": "@anthropic-ai/claude-code", "version": "{version}"}}"#)
        };
        let release = |version: &str| Some(version.to_owned());
        assert_eq!(found("cli.js", &of("1.0.128")), release("1.0.128"));
        assert_eq!(found("bin/claude.exe", &of("2.1.327")), release("2.1.327"));
        assert_eq!(found("versions/2.1.300", "{"), release("2.1.300"));
        for json in ["", "{}", r#"{"name": "mine", "version": "1.0.0"}"#, &of("next")] {
            assert_eq!(found("cli.js", json), None, "{json}");
        }
        assert_eq!(found("a/b/c/cli.js", &of("1.0.128")), None, "another program's package");
        assert_eq!(installed(Path::new("/nowhere/claude")), None);
    }

    #[test]
    fn only_a_release_that_is_known_to_be_too_old_is_refused() {
        let claude = Path::new("/bin/claude");
        let error = refuse(claude, Version::read("2.0.76")).unwrap_err().to_string();
        assert!(
            error.contains("claude 2.0.76") && error.ends_with("(now: /bin/claude)"),
            "{error}"
        );
        refuse(claude, None).unwrap();
        refuse(claude, Version::read("3.0.0")).unwrap();
    }

    #[test]
    fn a_client_that_fails_is_no_answer() {
        let error = told(&mut Command::new("false"), BOUNDS).unwrap_err();
        assert!(error.to_string().contains("fails"), "{error}");
        assert!(ask(Path::new("/nowhere/claude")).is_err());
    }
}
