//! Checks what the agent's last message says about files on disk and about ports of this machine.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::claims::{
    files_changed, files_committed, files_executable, files_gone, files_named, ports_named,
};
use super::facts::Changed;
use crate::files;
use crate::tree;

/// Files that the message says were created, but that are missing or empty. A changed file of that
/// name deeper in the project also counts.
pub fn absent(project: &Path, answer: &str, changed: Option<&Changed>) -> Vec<String> {
    let deeper = |name: &str| {
        let end = format!("/{name}");
        changed.is_some_and(|changed| changed.files.iter().any(|file| file.path.ends_with(&end)))
    };
    let found = files_named(answer).into_iter().filter_map(|name| {
        match fs::metadata(project.join(&name)) {
            Ok(meta) if meta.is_file() && meta.len() == 0 => {
                Some(format!("`{name}`, which is empty"))
            }
            Ok(_) => None,
            Err(_) if deeper(&name) => None,
            Err(_) => Some(format!("`{name}`, which does not exist")),
        }
    });
    found.collect()
}

/// Files that are not as the message says: deleted but still there, executable but not, committed
/// but ignored, changed but the same as when the task began.
pub fn otherwise(
    project: &Path,
    git: Option<&Path>,
    answer: &str,
    changed: Option<&Changed>,
) -> Vec<String> {
    let meta = |name: &str| fs::symlink_metadata(project.join(name)).ok();
    let is_there = |name: &String| meta(name).is_some_and(|meta| !meta.is_dir());
    let gone = files_gone(answer).into_iter().filter(is_there);
    let mut found: Vec<_> =
        gone.map(|name| format!("`{name}` as gone, and it is still there")).collect();
    let is_plain = |name: &String| {
        meta(name).is_some_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 == 0)
    };
    let executable = files_executable(answer).into_iter().filter(is_plain);
    found.extend(executable.map(|name| format!("`{name}` as executable, and it is not")));
    let committed: Vec<_> = files_committed(answer).into_iter().filter(is_there).collect();
    if let Some(git) = git.filter(|_| !committed.is_empty()) {
        let ignored = tree::ignored(git, project, &committed);
        found.extend(ignored.into_iter().map(|name| {
            format!("`{name}` as committed, and git ignores it, so it is in no commit")
        }));
    }
    // Files that git ignores are not compared.
    if let (Some(git), Some(changed)) = (git, changed)
        && changed.count == changed.files.len()
    {
        let is_same = |name: &String| !changed.files.iter().any(|file| file.path.ends_with(name));
        let same = files_changed(answer).into_iter().filter(is_there).filter(is_same);
        let same: Vec<_> = same.collect();
        let ignored =
            if same.is_empty() { same.clone() } else { tree::ignored(git, project, &same) };
        found.extend(
            same.into_iter().filter(|name| !ignored.contains(name)).map(|name| {
                format!("`{name}` as changed, and it is the same as when the task began")
            }),
        );
    }
    found
}

/// Whether the project is a Cargo package and no workspace.
pub fn is_one_package(project: &Path) -> bool {
    let manifest = files::read_text(&project.join("Cargo.toml")).unwrap_or_default();
    let has = |section: &str| manifest.lines().any(|line| line.trim().starts_with(section));
    has("[package]") && !has("[workspace")
}

/// Ports on which, according to the message, something runs, but nothing listens. Only on systems
/// that list their ports, because ccc does not connect to any.
pub fn silent_ports(answer: &str) -> Vec<u16> {
    let ports = ports_named(answer);
    if ports.is_empty() {
        return Vec::new();
    }
    let tables: Vec<_> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok())
        .collect();
    if tables.is_empty() {
        return Vec::new();
    }
    let listening: Vec<u16> = tables.iter().flat_map(|table| listening(table)).collect();
    ports.into_iter().filter(|port| !listening.contains(port)).collect()
}

/// The local ports in the state LISTEN.
fn listening(table: &str) -> Vec<u16> {
    let rows = table.lines().skip(1);
    rows.filter_map(|row| {
        let mut columns = row.split_whitespace();
        let (local, state) = (columns.nth(1)?, columns.nth(1)?);
        let port = local.rsplit_once(':').map(|(_, port)| port)?;
        (state == "0A").then(|| u16::from_str_radix(port, 16).ok()).flatten()
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::facts::{FileChange, How};
    use super::*;

    #[test]
    fn a_file_that_was_promised_is_looked_up() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("src")).unwrap();
        for (name, text) in [("a.py", "a = 1"), ("empty.md", ""), ("src/deep.rs", "fn a() {}")] {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let change = FileChange { path: "src/deep.rs".into(), how: How::Added };
        let changed = Changed::new(vec![change]);
        let answer = "I created `a.py`, `empty.md`, `deep.rs`, `docs/deep.rs` and `gone.py`.";
        assert_eq!(
            absent(dir.path(), answer, Some(&changed)),
            [
                "`docs/deep.rs`, which does not exist",
                "`empty.md`, which is empty",
                "`gone.py`, which does not exist"
            ]
        );
    }

    #[test]
    fn a_file_that_is_otherwise_than_the_message_says_is_told() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["old.cfg", "run.sh", "done.sh"] {
            fs::write(dir.path().join(name), "a").unwrap();
        }
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(dir.path().join("done.sh"), mode).unwrap();
        let answer = "I deleted `old.cfg` and `gone.cfg`. I made `run.sh` executable. done.sh is executable now.";
        assert_eq!(
            otherwise(dir.path(), None, answer, None),
            ["`old.cfg` as gone, and it is still there", "`run.sh` as executable, and it is not"]
        );
    }

    #[test]
    fn a_file_that_git_ignores_is_in_no_commit() {
        let Some(git) = tree::find_git(std::env::var_os("PATH").as_deref()) else { return };
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in
            [(".gitignore", "*.local.json\n"), ("a.local.json", "1"), ("b.json", "1")]
        {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let init = std::process::Command::new(&git).args(["init", "-q"]).current_dir(&dir).status();
        assert!(init.unwrap().success());
        let answer = "`a.local.json` and `b.json` are added and committed.";
        assert_eq!(
            otherwise(dir.path(), Some(&git), answer, None),
            ["`a.local.json` as committed, and git ignores it, so it is in no commit"]
        );
        let changed = Changed::new(vec![FileChange { path: "c.md".into(), how: How::Modified }]);
        let answer =
            "I updated b.json and a.local.json. `a.local.json` was updated. c.md is updated.";
        let told = otherwise(dir.path(), Some(&git), answer, Some(&changed));
        assert_eq!(told, ["`b.json` as changed, and it is the same as when the task began"]);
    }

    #[test]
    fn a_package_is_told_from_a_workspace() {
        let dir = tempfile::tempdir().unwrap();
        let is_one = |text: &str| {
            fs::write(dir.path().join("Cargo.toml"), text).unwrap();
            is_one_package(dir.path())
        };
        assert!(is_one("[package]\nname = \"a\"\n"));
        assert!(!is_one("[package]\nname = \"a\"\n[workspace]\n") && !is_one("[workspace]\n"));
        fs::remove_file(dir.path().join("Cargo.toml")).unwrap();
        assert!(!is_one_package(dir.path()));
    }

    #[test]
    fn ports_that_listen_stand_in_the_systems_table() {
        let table = "  sl  local_address rem_address   st\n   \
            0: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n   \
            1: 0100007F:0050 0100007F:9999 01 00000000:00000000\n";
        assert_eq!(listening(table), [8080]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_port_on_which_nothing_listens_is_told() {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        // Port 19 (character generator) is no longer used by anything.
        let answer = format!("The server is running on http://localhost:{port} and on port 19.");
        assert_eq!(silent_ports(&answer), [19]);
    }
}
