//! Replaces a file atomically: a draft beside it is written, synced and renamed. A reader sees the
//! old file or the new one. A killed writer leaves its draft, which the next writer removes.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, renameat};
use nix::sys::signal::kill;
use nix::sys::stat::Mode;
use nix::unistd::{Pid, UnlinkatFlags, linkat, unlinkat};

use super::open::{FileLocation, Missing, PRIVATE};

const ENDING: &str = ".draft";

type WriteContent<'a> = &'a dyn Fn(&mut File) -> io::Result<()>;

pub fn replace(path: &Path, write: WriteContent<'_>) -> io::Result<()> {
    let location = FileLocation::find(path, Missing::Create)?;
    let draft = Draft::write(&location, write, PRIVATE)?;
    renameat(&location.dir, draft.name.as_os_str(), &location.dir, location.name.as_os_str())?;
    Ok(())
}

/// The same for a file that must not exist yet. A kill at any moment leaves no incomplete file.
pub fn create(path: &Path, write: WriteContent<'_>, mode: Mode) -> io::Result<()> {
    let location = FileLocation::find(path, Missing::Create)?;
    let draft = Draft::write(&location, write, mode)?;
    let (dir, name) = (&location.dir, location.name.as_os_str());
    match linkat(dir, draft.name.as_os_str(), dir, name, AtFlags::empty()) {
        // Some file systems have no hard links.
        Err(Errno::EPERM | Errno::EOPNOTSUPP | Errno::ENOSYS) => {
            let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL;
            let mut file = location.open(flags, mode)?;
            write(&mut file).and_then(|()| file.sync_all())
        }
        result => Ok(result?),
    }
}

/// A draft, removed when dropped. (If it was renamed, it is already gone.)
struct Draft<'a> {
    location: &'a FileLocation,
    name: OsString,
}

impl<'a> Draft<'a> {
    fn write(location: &'a FileLocation, write: WriteContent<'_>, mode: Mode) -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        remove_left_drafts(location);
        let mut name = prefix(&location.name);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        name.push(format!("{}.{count}{ENDING}", std::process::id()));
        let beside = FileLocation {
            dir: location.dir.try_clone()?,
            name: name.clone(),
            path: location.path.clone(),
        };
        let mut file = beside.open(OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL, mode)?;
        let draft = Self { location, name };
        write(&mut file)?;
        file.sync_all()?;
        Ok(draft)
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        let _ = unlinkat(&self.location.dir, self.name.as_os_str(), UnlinkatFlags::NoRemoveDir);
    }
}

/// `.{name}.{pid}.{count}.draft`
fn prefix(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    prefix
}

/// Removes drafts of this file whose writer is gone.
fn remove_left_drafts(location: &FileLocation) {
    let prefix = prefix(&location.name);
    let Ok(fd) = location.dir.try_clone() else { return };
    let Ok(mut dir) = Dir::from_fd(fd) else { return };
    let left: Vec<OsString> = dir
        .iter()
        .flatten()
        .filter_map(|entry| {
            use std::os::unix::ffi::OsStrExt;
            let name = entry.file_name().to_bytes();
            let rest = name.strip_prefix(prefix.as_encoded_bytes())?;
            let rest = str::from_utf8(rest).ok()?.strip_suffix(ENDING)?;
            let pid: i32 = rest.split_once('.')?.0.parse().ok()?;
            let gone = kill(Pid::from_raw(pid), None) == Err(Errno::ESRCH);
            gone.then(|| OsStr::from_bytes(name).to_owned())
        })
        .collect();
    for name in left {
        let _ = unlinkat(&location.dir, name.as_os_str(), UnlinkatFlags::NoRemoveDir);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    #[test]
    fn only_drafts_of_killed_writers_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        // No process has this id: the limit on Linux is 4194304.
        let left = dir.path().join(".x.json.99999999.0.draft");
        let others = [".y.json.99999999.0.draft", ".x.json.draft", ".x.json.old"];
        fs::write(&left, "half").unwrap();
        others.iter().for_each(|name| fs::write(dir.path().join(name), "").unwrap());
        let running = dir.path().join(format!(".x.json.{}.9999.draft", std::process::id()));
        fs::write(&running, "").unwrap();
        replace(&dir.path().join("x.json"), &|file| file.write_all(b"whole")).unwrap();
        assert!(!left.exists() && running.exists());
        assert!(others.iter().all(|name| dir.path().join(name).exists()));
        assert_eq!(fs::read(dir.path().join("x.json")).unwrap(), b"whole");
    }

    #[test]
    fn a_link_is_replaced_and_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (victim, link) = (dir.path().join("victim"), dir.path().join("link"));
        fs::write(&victim, "mine").unwrap();
        std::os::unix::fs::symlink(&victim, &link).unwrap();
        replace(&link, &|file| file.write_all(b"ours")).unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"mine");
        assert!(!link.is_symlink());
    }
}
