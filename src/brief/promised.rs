//! Looks up what the agent's last message says exists: files on disk, ports of this machine.

use std::fs;
use std::path::Path;

use super::claims::{files_named, ports_named};
use super::facts::Changed;

/// Files that the message says were created and that are not there, or have nothing in them. A file of
/// that name deeper in the project is taken for the one that is meant.
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

/// Ports on which something runs, says the message, and on which nothing listens. Only where the
/// system tells without being knocked at.
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
        // Nobody has a character generator any more.
        let answer = format!("The server is running on http://localhost:{port} and on port 19.");
        assert_eq!(silent_ports(&answer), [19]);
    }
}
