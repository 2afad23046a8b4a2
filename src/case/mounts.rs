//! Mounts below a directory. An overlay does not include them, so each has to be covered
//! separately.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Mount points strictly below one of these directories, outer ones first.
pub fn below(dirs: &[PathBuf]) -> std::io::Result<Vec<PathBuf>> {
    let table = std::fs::read("/proc/self/mountinfo")?;
    let mut points: Vec<_> = table
        .split(|byte| *byte == b'\n')
        .filter_map(point)
        .filter(|point| dirs.iter().any(|dir| point != dir && point.starts_with(dir)))
        .collect();
    points.sort();
    points.dedup();
    Ok(points)
}

/// The fifth field, in which blanks, tabs, newlines and backslashes are octal escapes.
fn point(line: &[u8]) -> Option<PathBuf> {
    let field = line.split(|byte| *byte == b' ').nth(4)?;
    let mut path = Vec::new();
    let mut rest = field;
    while let Some((byte, after)) = rest.split_first() {
        let octal = (*byte == b'\\').then(|| after.get(..3)).flatten();
        let octal = octal.and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(decoded) => {
                path.push(decoded);
                rest = &after[3..];
            }
            None => {
                path.push(*byte);
                rest = after;
            }
        }
    }
    let path = PathBuf::from(OsString::from_vec(path));
    path.is_absolute().then_some(path)
}

/// Whether the path is one of these directories or inside one.
pub fn is_in(path: &Path, dirs: &[PathBuf]) -> bool {
    dirs.iter().any(|dir| path.starts_with(dir))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_names_are_decoded() {
        let line = br"36 35 98:0 /mnt1 /a\040b\134c\011d rw,noatime master:1 - ext3 /dev/root rw";
        assert_eq!(point(line), Some(PathBuf::from("/a b\\c\td")));
        assert_eq!(point(b""), None);
    }
}
