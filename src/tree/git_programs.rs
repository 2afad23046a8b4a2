//! Overrides the programs that a repository's own configuration names: filters, drivers, pagers,
//! aliases. An agent can write this configuration, and git would run the programs for whoever looks
//! at the project next: ccc, or the judge. The person's own files (`~/.gitconfig`,
//! `/etc/gitconfig`) keep their effect.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::asking::ask_soon;

/// The name and value of a setting that overrides the repository's.
pub type Setting = (String, String);

/// Settings that are overridden in every repository.
const ALWAYS: [(&str, &str); 3] = [
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    // The address of a remote `ext::program`. Git asks a remote for missing objects by itself.
    ("protocol.ext.allow", "never"),
];

/// A plain comparison that accepts the arguments git passes to an external diff program.
const PLAIN_DIFF: &str = r#"f() { diff -u --label "a/$1" --label "b/$1" "$2" "$5"; :; }; f"#;

/// The harmless value for each setting that names a program, by the beginning and the end of its
/// name.
const NEUTRAL: [(&str, &str, &str); 41] = [
    ("filter.", ".clean", ""),
    ("filter.", ".smudge", ""),
    ("filter.", ".process", ""),
    ("filter.", ".required", "false"),
    ("diff.", ".textconv", "cat"),
    ("diff.", ".command", PLAIN_DIFF),
    ("diff.external", "", PLAIN_DIFF),
    ("merge.", ".driver", "false"),
    ("mergetool.", ".cmd", "false"),
    ("mergetool.", ".path", "false"),
    ("difftool.", ".cmd", "false"),
    ("difftool.", ".path", "false"),
    ("guitool.", ".cmd", "false"),
    ("browser.", ".cmd", "false"),
    ("browser.", ".path", "false"),
    ("man.", ".cmd", "false"),
    ("man.", ".path", "false"),
    ("hook.", ".command", "true"),
    ("gc.recentobjectshook", "", "true"),
    ("sendemail.", "cmd", "false"),
    // Not a program, but a list of files that git would hide.
    ("core.excludesfile", "", ""),
    ("core.pager", "", "cat"),
    ("pager.", "", "false"),
    ("core.editor", "", "true"),
    ("sequence.editor", "", "true"),
    ("core.askpass", "", "true"),
    ("core.sshcommand", "", "ssh"),
    ("core.gitproxy", "", "none"),
    ("core.alternaterefscommand", "", "true"),
    ("credential.", "helper", ""),
    ("gpg.", "program", "false"),
    ("gpg.", "defaultkeycommand", "false"),
    ("alias.", "", "!false"),
    ("interactive.difffilter", "", "cat"),
    ("trailer.", ".command", "true"),
    ("trailer.", ".cmd", "true"),
    ("tar.", ".command", "cat"),
    ("remote.", ".uploadpack", "git-upload-pack"),
    ("remote.", ".receivepack", "git-receive-pack"),
    ("submodule.", ".update", "checkout"),
    ("web.browser", "", "false"),
];

/// Git LFS, which shows large files that are stored elsewhere, keeps its effect.
const KNOWN: [&str; 2] = ["git-lfs ", "git lfs "];

/// An invalid setting that makes every git command fail and say why. It is used if the
/// configuration cannot be read, because unknown names cannot be overridden.
const UNKNOWN: [(&str, &str); 1] =
    [("core.symlinks", "(ccc could not read the configuration of this repository)")];

/// The settings that must override the configuration of the repository around `dir`, and of its
/// submodules.
pub fn overruled(git: &Path, dir: &Path) -> Vec<Setting> {
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let found = named(git, dir).unwrap_or_else(|error| {
        log::warn!("the configuration of the repository cannot be read: {error:#}");
        UNKNOWN.map(owned).to_vec()
    });
    ALWAYS.map(owned).into_iter().chain(found).collect()
}

fn named(git: &Path, dir: &Path) -> Result<Vec<Setting>> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut persons: BTreeMap<String, String> = BTreeMap::new();
    for (scope, name, value) in listed(git, dir, &["--show-scope"])? {
        match scope.as_str() {
            "local" | "worktree" => note(&mut found, name, &value),
            _ => drop(persons.insert(name, value)),
        }
    }
    for config in of_submodules(git, dir)? {
        let file = config.to_string_lossy().into_owned();
        for (_, name, value) in listed(git, dir, &["--file", &file])? {
            note(&mut found, name, &value);
        }
    }
    let kept = |(name, neutral): (String, String)| {
        let value = persons.get(&name).cloned().unwrap_or(neutral);
        (name, value)
    };
    Ok(found.into_iter().map(kept).collect())
}

/// Redirects pushes to a helper that does not exist, wherever they go: an empty beginning fits every
/// address, `host:path` too. Pushing to repositories on this machine stays possible, because tests do
/// that. A setting works for every program that runs git, unlike a rule about command names.
pub fn nowhere_to_push(git: Option<&Path>, dir: &Path) -> Vec<Setting> {
    const HERE: [&str; 4] = ["/", "./", "../", "file://"];
    let nowhere =
        |begin: String| (format!("url.a-review-does-not-push::{begin}.pushInsteadOf"), begin);
    let here = HERE.map(|begin| (format!("url.{begin}.pushInsteadOf"), begin.to_owned()));
    // The longest beginning decides, so a setting of the person's or of the repository's that
    // redirects these addresses would otherwise win.
    let known = git.and_then(|git| listed(git, dir, &[]).ok()).unwrap_or_default();
    let addresses = known.into_iter().filter_map(|(_, name, address)| {
        let is_remote = name.starts_with("remote.") && name.ends_with(".url");
        let is_here = HERE.iter().any(|begin| address.starts_with(begin));
        // Git would refuse the name of such a setting, and every command with it.
        let is_plain = !address.contains(char::is_control);
        (is_remote && !is_here && is_plain).then_some(address)
    });
    here.into_iter().chain(addresses.chain([String::new()]).map(nowhere)).collect()
}

fn note(found: &mut BTreeMap<String, String>, name: String, value: &str) {
    // Git hands the value to a shell, so there must be nothing else in it.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " -%".contains(c);
    if KNOWN.iter().any(|known| value.starts_with(known)) && value.chars().all(is_plain) {
        return;
    }
    if let Some(neutral) = neutral(&name) {
        found.insert(name, neutral.to_owned());
    }
}

/// In git's list, the names of sections and variables are in lower case, but subsections are not.
fn neutral(name: &str) -> Option<&'static str> {
    let fits = |(begin, end, _): &&(&str, &str, &str)| {
        let whole = end.is_empty() && !begin.ends_with('.');
        if whole { name == *begin } else { name.starts_with(begin) && name.ends_with(end) }
    };
    NEUTRAL.iter().find(fits).map(|(_, _, value)| *value)
}

/// The scope, name and value of each setting. Listing them runs no program.
fn listed(git: &Path, dir: &Path, how: &[&str]) -> Result<Vec<(String, String, String)>> {
    let scoped = how.contains(&"--show-scope");
    let kept = ["HOME", "PATH", "XDG_CONFIG_HOME"];
    let kept = kept.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    let mut command = Command::new(git);
    command
        .args(["-c", "safe.directory=*", "config", "--includes", "--list", "-z"])
        .args(how)
        .env_clear()
        .envs(kept);
    let answer = ask_soon(&mut command, dir)?;
    let text = String::from_utf8_lossy(&answer.printed).into_owned();
    let mut pieces = text.split('\0').filter(|piece| !piece.is_empty());
    let mut settings = Vec::new();
    while let Some(first) = pieces.next() {
        let (scope, setting) = if scoped {
            match pieces.next() {
                Some(setting) => (first, setting),
                None => break,
            }
        } else {
            ("", first)
        };
        // A name without a value means "true".
        let (name, value) = setting.split_once('\n').unwrap_or((setting, "true"));
        settings.push((scope.to_owned(), name.to_owned(), value.to_owned()));
    }
    Ok(settings)
}

/// The number of directories that are searched for submodules.
const MOST: usize = 2000;

fn of_submodules(git: &Path, dir: &Path) -> Result<Vec<PathBuf>> {
    let mut command = Command::new(git);
    command.args(["rev-parse", "--path-format=absolute", "--git-common-dir"]);
    let answer = ask_soon(&mut command, dir)?;
    let git_dir = PathBuf::from(String::from_utf8_lossy(&answer.printed).trim_end());
    let (mut found, mut left) = (Vec::new(), vec![git_dir.join("modules")]);
    for _ in 0..MOST {
        let Some(dir) = left.pop() else { break };
        let Ok(entries) = fs::read_dir(&dir) else { continue };
        for entry in entries.flatten() {
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let name = entry.file_name();
            if is_dir && name != OsStr::new("objects") && name != OsStr::new("refs") {
                left.push(entry.path());
            } else if name == OsStr::new("config") && entry.path().is_file() {
                found.push(entry.path());
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_git(dir: &Path, settings: Vec<Setting>, args: &[&str]) -> (bool, String) {
        let mut command = Command::new("git");
        command.args(args).current_dir(dir).env("HOME", dir);
        command.env("GIT_CONFIG_COUNT", settings.len().to_string());
        for (at, (name, value)) in settings.into_iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{at}"), name);
            command.env(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        let Ok(done) = command.output() else { return (true, String::new()) };
        (done.status.success(), String::from_utf8_lossy(&done.stderr).into_owned())
    }

    #[test]
    fn a_remote_that_is_a_program_is_not_run() {
        let dir = tempfile::tempdir().unwrap();
        let ran = dir.path().join("ran");
        let remote = format!("ext::touch {}", ran.display());
        for args in [
            &["init", "--quiet"][..],
            &["remote", "add", "origin", &remote],
            &["config", "protocol.ext.allow", "always"],
            &["config", "protocol.allow", "always"],
        ] {
            assert!(run_git(dir.path(), Vec::new(), args).0, "{args:?}");
        }
        let settings = overruled(Path::new("git"), dir.path());
        let (fetched, error) = run_git(dir.path(), settings, &["fetch"]);
        assert!(!fetched && error.contains("'ext' not allowed") && !ran.exists(), "{error}");
        run_git(dir.path(), Vec::new(), &["fetch"]);
        assert!(ran.exists(), "the remote is a program");
    }

    #[test]
    fn a_review_pushes_to_no_other_machine() {
        let dir = tempfile::tempdir().unwrap();
        let git = |args: &[&str]| {
            let settings = nowhere_to_push(Some(Path::new("git")), dir.path());
            run_git(dir.path(), settings, args)
        };
        git(&["init", "--quiet"]);
        git(&["init", "--quiet", "--bare", "beside.git"]);
        let name =
            ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "--allow-empty", "-qm", "x"];
        git(&name);
        // The person's own redirection, from reading over https to pushing over ssh.
        git(&["config", "url.git@w.invalid:.pushInsteadOf", "https://w.invalid/"]);
        git(&["remote", "add", "redirected", "https://w.invalid/x"]);
        git(&["remote", "add", "short", "h:x"]);
        for address in [
            "https://h.invalid/x",
            "git@h.invalid:x",
            "ssh://h.invalid/x",
            "h.invalid:x",
            "me@h.invalid:x",
            "short",
            "redirected",
            "ext::false",
        ] {
            let (pushed, error) = git(&["push", address, "HEAD:refs/heads/x"]);
            assert!(!pushed && error.contains("a-review-does-not-push"), "{address}: {error}");
        }
        let beside = dir.path().join("beside.git");
        let address = format!("file://{}", beside.display());
        for address in ["./beside.git", beside.to_str().unwrap(), &address] {
            let (pushed, error) = git(&["push", address, "HEAD:refs/heads/x"]);
            assert!(pushed, "{address}: {error}");
        }
        git(&["clone", "--quiet", "./beside.git", "work"]);
        let (pushed, error) = git(&["-C", "work", "push", "origin", "origin/x:refs/heads/y"]);
        assert!(pushed, "{error}");
    }

    #[test]
    fn only_git_lfs_itself_keeps_its_effect() {
        let mut found = BTreeMap::new();
        note(&mut found, "filter.lfs.clean".to_owned(), "git-lfs clean -- %f");
        assert!(found.is_empty());
        for (name, value) in [("a", "git-lfs -x; touch ran; cat"), ("b", "git lfs `touch ran`")] {
            note(&mut found, format!("filter.{name}.clean"), value);
        }
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn what_names_a_program_is_known_by_its_name() {
        assert_eq!(neutral("filter.x.clean"), Some(""));
        assert_eq!(neutral("filter.a.b.process"), Some(""));
        assert_eq!(neutral("diff.external"), Some(PLAIN_DIFF));
        assert_eq!(neutral("credential.helper"), Some(""));
        assert_eq!(neutral("credential.https://x.helper"), Some(""));
        assert_eq!(neutral("alias.st"), Some("!false"));
        assert_eq!(neutral("gpg.ssh.defaultkeycommand"), Some("false"));
        assert_eq!(neutral("hook.lint.command"), Some("true"));
        for name in
            ["core.bare", "diff.renames", "user.name", "remote.origin.url", "diff.external2"]
        {
            assert_eq!(neutral(name), None, "{name}");
        }
    }
}
