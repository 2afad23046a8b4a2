//! What the played roles leave behind: named numbers, one a line, in a file per role.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

pub fn add(dir: &Path, role: &str, made: &[(&str, u64)]) -> io::Result<()> {
    let mut text = String::new();
    for (name, value) in made {
        text.push_str(&[name, " ", &value.to_string(), "\n"].concat());
    }
    OpenOptions::new().append(true).create(true).open(dir.join(role))?.write_all(text.as_bytes())
}

pub fn read(dir: &Path, role: &str) -> Vec<(String, u64)> {
    let text = fs::read_to_string(dir.join(role)).unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            let (name, value) = line.split_once(' ')?;
            Some((name.to_owned(), value.parse().ok()?))
        })
        .collect()
}

/// All values of one name, in order.
pub fn all(dir: &Path, role: &str, name: &str) -> Vec<u64> {
    read(dir, role).into_iter().filter(|stamp| stamp.0 == name).map(|stamp| stamp.1).collect()
}

pub fn one(dir: &Path, role: &str, name: &str) -> Option<u64> {
    all(dir, role, name).first().copied()
}
