//! Opens files so that nothing can be put in their place. Below the state directory no part of a
//! path may be a link; elsewhere the last part may not. Only regular files are opened, without
//! blocking: a FIFO or a device in their place is an error, not a hang.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use nix::fcntl::{OFlag, openat};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::geteuid;

use crate::directories::STATE_DIR;

/// More than any settings or instructions need; recordings are read piece by piece.
pub const LARGEST: u64 = 16 << 20;

pub const PRIVATE: Mode = Mode::S_IRUSR.union(Mode::S_IWUSR);
const PRIVATE_DIR: Mode = Mode::S_IRWXU;

/// A file name in a directory that is held open, so that later changes to the path do not matter.
pub struct FileLocation {
    pub dir: OwnedFd,
    pub name: OsString,
    /// For error messages.
    pub path: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    Fail,
    Create,
}

impl FileLocation {
    pub fn find(path: &Path, directories: Missing) -> io::Result<Self> {
        let name = path.file_name().ok_or_else(|| io::Error::other("it has no name"))?;
        let parent = path.parent().filter(|dir| !dir.as_os_str().is_empty());
        let dir = directory(parent.unwrap_or(Path::new(".")), directories)?;
        Ok(Self { dir, name: name.to_owned(), path: path.to_owned() })
    }

    /// Opens a regular file. `mode` applies if it is created.
    pub fn open(&self, flags: OFlag, mode: Mode) -> io::Result<File> {
        let flags = flags | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        match openat(&self.dir, self.name.as_os_str(), flags, mode) {
            Ok(fd) => regular(fd.into()),
            // The kernel's errors for a link, and for a FIFO without a reader or a socket.
            Err(nix::errno::Errno::ELOOP) => Err(not_a_file("a symbolic link")),
            Err(nix::errno::Errno::ENXIO) => Err(not_a_file("a FIFO or a device")),
            Err(error) => Err(error.into()),
        }
    }

    pub fn private(&self, flags: OFlag) -> io::Result<File> {
        self.open(flags | OFlag::O_CREAT, PRIVATE)
    }
}

/// Opens a directory; missing ones are created private, if asked for.
pub fn directory(path: &Path, missing: Missing) -> io::Result<OwnedFd> {
    let (above, ours) = split(path);
    if missing == Missing::Create {
        make_private(&above)?;
    }
    let mut dir: OwnedFd = File::open(&above)?.into();
    for name in ours {
        let made = match missing {
            Missing::Create => match mkdirat(&dir, name.as_os_str(), PRIVATE_DIR) {
                Ok(()) => true,
                Err(nix::errno::Errno::EEXIST) => false,
                Err(error) => return Err(error.into()),
            },
            Missing::Fail => false,
        };
        dir = below(&dir, &name, made)?;
    }
    Ok(dir)
}

fn below(dir: &impl AsFd, name: &OsStr, made: bool) -> io::Result<OwnedFd> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let opened = match openat(dir, name, flags, Mode::empty()) {
        Ok(fd) => fd,
        Err(nix::errno::Errno::ELOOP | nix::errno::Errno::ENOTDIR) => {
            let what = format!(
                "{} is a link or not a directory; ccc keeps its files only in real directories",
                name.display()
            );
            return Err(io::Error::other(what));
        }
        Err(error) => return Err(error.into()),
    };
    let file = File::from(opened);
    let owner = file.metadata()?.uid();
    // Root may work in directories of others.
    if !made && owner != geteuid().as_raw() && !geteuid().is_root() {
        let what = format!("{} belongs to another user ({owner})", name.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
    }
    Ok(file.into())
}

/// The part of a path that may contain links, and the names below it that may not.
fn split(path: &Path) -> (PathBuf, Vec<OsString>) {
    let parts: Vec<Component<'_>> = path.components().collect();
    let marker: Vec<Component<'_>> = Path::new(STATE_DIR).components().collect();
    let found = parts.windows(marker.len()).rposition(|window| window == marker);
    let Some(at) = found else { return (path.to_owned(), Vec::new()) };
    // The person may have made the project's own `.claude` a link.
    let above = at + marker.len() - 1;
    let ours = parts[above..].iter().map(|part| part.as_os_str().to_owned()).collect();
    (parts[..above].iter().collect(), ours)
}

fn make_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn regular(file: File) -> io::Result<File> {
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        return Ok(file);
    }
    Err(not_a_file(match kind {
        kind if kind.is_dir() => "a directory",
        kind if kind.is_fifo() => "a FIFO",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    }))
}

fn not_a_file(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what}, not a file"))
}

/// Reads a file of the person, which may be a link, if it is a regular file of a sane size.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    capped(open_file(path)?)
}

/// Opens such a file to be read piece by piece. Opened without blocking, because it could become a
/// FIFO after a check of its type.
pub fn open_file(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = fs::OpenOptions::new();
    options.read(true).custom_flags(OFlag::O_NONBLOCK.bits());
    regular(options.open(path)?)
}

pub fn capped(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        let what = format!("it is larger than {} MB", LARGEST >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_the_part_above_the_state_directory_may_contain_links() {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().join("project");
        let dotfiles = home.path().join("dotfiles");
        fs::create_dir_all(&dotfiles).unwrap();
        fs::create_dir_all(&project).unwrap();
        symlink(&dotfiles, project.join(".claude")).unwrap();
        directory(&project.join(".claude/ccc/sessions/a"), Missing::Create).unwrap();
        assert!(dotfiles.join("ccc/sessions/a").is_dir());

        let victim = home.path().join("victim");
        fs::create_dir(&victim).unwrap();
        fs::remove_dir_all(dotfiles.join("ccc/sessions")).unwrap();
        symlink(&victim, dotfiles.join("ccc/sessions")).unwrap();
        for missing in [Missing::Create, Missing::Fail] {
            let error = directory(&project.join(".claude/ccc/sessions/a"), missing).unwrap_err();
            assert!(error.to_string().contains("sessions is a link"), "{error}");
        }
        assert_eq!(fs::read_dir(&victim).unwrap().count(), 0);
    }

    #[test]
    fn only_regular_files_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path("victim"), "x").unwrap();
        symlink(path("victim"), path("link")).unwrap();
        nix::unistd::mkfifo(&path("fifo"), Mode::S_IRWXU).unwrap();
        fs::create_dir(path("dir")).unwrap();
        for (name, flags, expected) in [
            ("link", OFlag::O_RDONLY, "a symbolic link"),
            ("link", OFlag::O_WRONLY | OFlag::O_APPEND, "a symbolic link"),
            ("fifo", OFlag::O_RDONLY, "a FIFO"),
            ("fifo", OFlag::O_WRONLY, "a FIFO or a device"),
            ("fifo", OFlag::O_RDWR, "a FIFO"),
            ("dir", OFlag::O_RDONLY, "a directory"),
        ] {
            let error =
                FileLocation::find(&path(name), Missing::Fail).unwrap().open(flags, PRIVATE);
            let error = error.unwrap_err().to_string();
            assert!(error.contains(expected), "{name}: {error}");
        }
        assert_eq!(read(&path("link")).unwrap(), b"x", "the person's own links are followed");
        assert!(read(&path("fifo")).unwrap_err().to_string().contains("a FIFO"));
        assert!(read(Path::new("/dev/zero")).unwrap_err().to_string().contains("a device"));
        let large = File::create(path("large")).unwrap();
        large.set_len(LARGEST + 1).unwrap();
        assert!(read(&path("large")).unwrap_err().to_string().contains("larger than 16 MB"));
    }
}
