//! ccc's own files: private, never half-written, and never a link or device that somebody put in
//! their place (see `open`). The person's files are read here too, so that a FIFO or device among
//! them cannot block ccc.

mod lock;
pub mod open;
mod replace;
mod unchanged;

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result};
use nix::fcntl::OFlag;
use nix::sys::stat::Mode;

pub use lock::{Lock, lock};
pub use open::{PRIVATE, open_file, read};
pub use unchanged::{Program, WatchedFiles, digest_of, hex_digest};

use open::{FileLocation, Missing};

pub fn replace(path: &Path, content: &[u8]) -> Result<()> {
    replace::replace(path, &|file| file.write_all(content))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// The same for content that is written piece by piece. `over`: replace an existing file, which is
/// an error otherwise.
pub fn write_whole(
    path: &Path,
    over: bool,
    write: &dyn Fn(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    if over { replace::replace(path, write) } else { replace::create(path, write, PRIVATE) }
}

/// Opens a file in the person's project to append to it. It may be a link, but only within the
/// project, because the agent could link it to any file elsewhere.
pub fn append_within(project: &Path, name: &str) -> io::Result<File> {
    let path = project.join(name);
    let real = match path.canonicalize() {
        Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => path.clone(),
        real => real?,
    };
    if path.is_symlink() && !real.starts_with(project.canonicalize()?) {
        let why = format!("it is a link to {}, outside the project", real.display());
        return Err(io::Error::new(ErrorKind::InvalidInput, why));
    }
    let flags = OFlag::O_WRONLY | OFlag::O_APPEND | OFlag::O_CREAT;
    FileLocation::find(&real, Missing::Fail)?.open(flags, FOR_ALL)
}

/// Reads a file of the person, or one that ccc generated: a regular file of a sane size, in UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    let bytes = open::read(path)?;
    String::from_utf8(bytes).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}

/// What was read from a file that need not exist.
pub fn if_there<T>(read: io::Result<T>, path: &Path) -> Result<Option<T>> {
    match read {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Reads a file of ccc, which must not be a link.
pub fn read_own(path: &Path) -> io::Result<Vec<u8>> {
    open::capped(open_regular(path)?)
}

/// Opens a regular file to be read piece by piece; neither a link nor a device, and without
/// blocking.
pub fn open_regular(path: &Path) -> io::Result<File> {
    FileLocation::find(path, Missing::Fail)?.open(OFlag::O_RDONLY, Mode::empty())
}

/// Whether only its owner can access the file.
pub fn is_private(path: &Path) -> bool {
    let others = 0o077;
    path.metadata().is_ok_and(|meta| meta.permissions().mode() & others == 0)
}

/// Creates a new file; it is an error if it exists already.
pub fn create_new(path: &Path, content: &[u8], mode: Mode) -> io::Result<()> {
    replace::create(path, &|file| file.write_all(content), mode)
}

/// For files that others may read too, such as a SUPERVISOR.md.
pub const FOR_ALL: Mode = Mode::from_bits_truncate(0o644);

/// Creates an empty private file to be written piece by piece.
pub fn create_empty(path: &Path) -> io::Result<File> {
    FileLocation::find(path, Missing::Create)?.private(OFlag::O_WRONLY | OFlag::O_TRUNC)
}

pub fn append(path: &Path) -> io::Result<File> {
    FileLocation::find(path, Missing::Create)?.private(OFlag::O_WRONLY | OFlag::O_APPEND)
}

/// Opens a file of whole lines to append to it, and returns its length. An incomplete last line,
/// which a killed ccc may have left, is cut off.
pub fn append_lines(path: &Path) -> io::Result<(File, u64)> {
    let file =
        FileLocation::find(path, Missing::Create)?.private(OFlag::O_RDWR | OFlag::O_APPEND)?;
    let len = file.metadata()?.len();
    let whole = line_start(&file, len)?;
    if whole < len {
        file.set_len(whole)?;
    }
    Ok((file, whole))
}

/// The start of the line that ends at `end`, or would end there.
pub fn line_start(mut file: &File, mut end: u64) -> io::Result<u64> {
    let mut chunk = vec![0; 64 << 10];
    while end > 0 {
        let size = end.min(chunk.len() as u64);
        let part = &mut chunk[..usize::try_from(size).unwrap_or_default()];
        file.seek(SeekFrom::Start(end - size))?;
        file.read_exact(part)?;
        if let Some(at) = memchr::memrchr(b'\n', part) {
            return Ok(end - size + at as u64 + 1);
        }
        end -= size;
    }
    Ok(0)
}

/// Creates missing directories as private ones; existing ones are not changed.
pub fn create_dir(path: &Path) -> io::Result<()> {
    open::directory(path, Missing::Create).map(drop)
}

/// Creates the state directory of a project, with its own `.gitignore`, because nothing in it
/// belongs in the repository.
pub fn prepare_state_dir(dir: &Path) -> io::Result<()> {
    create_dir(dir)?;
    let ignore = dir.join(".gitignore");
    // An empty one is the work of a ccc that was killed here.
    if ignore.symlink_metadata().is_ok_and(|meta| !meta.is_file() || meta.len() > 0) {
        return Ok(());
    }
    // Not by way of a draft: as long as this file is missing, git sees the draft, and an agent's
    // `git add -A` fails when it vanishes.
    let mut file = FileLocation::find(&ignore, Missing::Create)?.private(OFlag::O_WRONLY)?;
    file.write_all(b"*\n")?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn append_within_follows_no_link_out_of_the_project() {
        let dir = tempfile::tempdir().unwrap();
        let (project, victim) = (dir.path().join("project"), dir.path().join("victim"));
        fs::create_dir(&project).unwrap();
        fs::write(&victim, "mine").unwrap();
        std::os::unix::fs::symlink("AGENTS.md", project.join("CLAUDE.md")).unwrap();
        assert!(append_within(&project, "CLAUDE.md").is_err(), "a dangling link");
        fs::write(project.join("AGENTS.md"), "").unwrap();
        append_within(&project, "CLAUDE.md").unwrap().write_all(b"- a\n").unwrap();
        assert_eq!(fs::read_to_string(project.join("AGENTS.md")).unwrap(), "- a\n");
        std::os::unix::fs::symlink(&victim, project.join("linked")).unwrap();
        let error = append_within(&project, "linked").unwrap_err().to_string();
        assert!(error.contains("outside the project"), "{error}");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
        nix::unistd::mkfifo(&project.join("fifo"), PRIVATE).unwrap();
        assert!(append_within(&project, "fifo").is_err());
        append_within(&project, "new").unwrap();
    }

    #[test]
    fn a_state_dir_is_ignored_by_git_from_its_beginning() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        let ignored = || fs::read_to_string(state.join(".gitignore")).unwrap();
        prepare_state_dir(&state).unwrap();
        assert_eq!(ignored(), "*\n");
        fs::write(state.join(".gitignore"), "").unwrap();
        prepare_state_dir(&state).unwrap();
        assert_eq!(ignored(), "*\n");
        fs::write(state.join(".gitignore"), "*.jsonl\n").unwrap();
        prepare_state_dir(&state).unwrap();
        assert_eq!(ignored(), "*.jsonl\n", "the person's own");
    }

    #[test]
    fn replaced_files_are_private_and_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b.json");
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(
            fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777,
            0o700
        );
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn half_a_line_is_cut_off_before_more_is_appended() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let long = "y".repeat(100_000);
        for (before, after) in [
            (String::new(), ""),
            ("half".to_owned(), ""),
            ("one\n".to_owned(), "one\n"),
            ("one\nhalf".to_owned(), "one\n"),
            (format!("one\n{long}"), "one\n"),
            (format!("{long}\n{long}"), &*format!("{long}\n")),
        ] {
            fs::write(&path, before).unwrap();
            let (mut file, len) = append_lines(&path).unwrap();
            assert_eq!(len, after.len() as u64);
            file.write_all(b"more\n").unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), format!("{after}more\n"));
        }
    }

    #[test]
    fn links_pipes_and_directories_are_not_opened() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link, pipe) =
            (dir.path().join("file"), dir.path().join("link"), dir.path().join("pipe"));
        fs::write(&file, "x").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(open_regular(&file).is_ok());
        for other in [&link, &pipe, &dir.path().to_owned()] {
            assert!(open_regular(other).is_err(), "{}", other.display());
        }
    }

    #[test]
    fn a_new_file_never_overwrites() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        create_new(&path, b"one", FOR_ALL).unwrap();
        assert!(create_new(&path, b"two", FOR_ALL).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"one");
    }
}
