//! Replacing a file whole: a draft beside it, synced, then renamed. A reader sees the old one or the
//! new one; a killed writer leaves its draft, which the next writer takes away.

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

use super::open::{Missing, Spot};

const ENDING: &str = ".draft";

/// What becomes the file, written into its draft.
type Written<'a> = &'a dyn Fn(&mut File) -> io::Result<()>;

pub fn replace(path: &Path, written: Written<'_>) -> io::Result<()> {
    let spot = Spot::find(path, Missing::IsMade)?;
    let draft = Draft::write(&spot, written, Mode::S_IRUSR | Mode::S_IWUSR)?;
    renameat(&spot.dir, draft.name.as_os_str(), &spot.dir, spot.name.as_os_str())?;
    Ok(())
}

/// The same for a file that must not be there yet: a kill at any moment leaves no empty one that
/// passes for it.
pub fn create(path: &Path, written: Written<'_>, mode: Mode) -> io::Result<()> {
    let spot = Spot::find(path, Missing::IsMade)?;
    let draft = Draft::write(&spot, written, mode)?;
    let (dir, name) = (&spot.dir, spot.name.as_os_str());
    match linkat(dir, draft.name.as_os_str(), dir, name, AtFlags::empty()) {
        // Some file systems have no second names for a file.
        Err(Errno::EPERM | Errno::EOPNOTSUPP | Errno::ENOSYS) => {
            let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL;
            let mut file = spot.open(flags, mode)?;
            written(&mut file).and_then(|()| file.sync_all())
        }
        result => Ok(result?),
    }
}

/// Removed again unless it became the file.
struct Draft<'a> {
    spot: &'a Spot,
    name: OsString,
}

impl<'a> Draft<'a> {
    fn write(spot: &'a Spot, written: Written<'_>, mode: Mode) -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        remove_left_drafts(spot);
        let mut name = prefix(&spot.name);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        name.push(format!("{}.{count}{ENDING}", std::process::id()));
        let beside =
            Spot { dir: spot.dir.try_clone()?, name: name.clone(), path: spot.path.clone() };
        let mut file = beside.open(OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL, mode)?;
        let draft = Self { spot, name };
        written(&mut file)?;
        file.sync_all()?;
        Ok(draft)
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        let _ = unlinkat(&self.spot.dir, self.name.as_os_str(), UnlinkatFlags::NoRemoveDir);
    }
}

/// `.{name}.{pid}.{count}.draft`
fn prefix(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    prefix
}

/// Drafts of this file whose writer is gone.
fn remove_left_drafts(spot: &Spot) {
    let prefix = prefix(&spot.name);
    let Ok(fd) = spot.dir.try_clone() else { return };
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
        let _ = unlinkat(&spot.dir, name.as_os_str(), UnlinkatFlags::NoRemoveDir);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    #[test]
    fn what_a_killed_writer_left_is_taken_away_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        // No process has this number: Linux counts to 4194304 at most.
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
    fn a_link_in_its_place_is_replaced_and_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (victim, link) = (dir.path().join("victim"), dir.path().join("link"));
        fs::write(&victim, "mine").unwrap();
        std::os::unix::fs::symlink(&victim, &link).unwrap();
        replace(&link, &|file| file.write_all(b"ours")).unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"mine");
        assert!(!link.is_symlink());
    }
}
