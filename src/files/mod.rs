//! Files of ours: private, never half-written, and nobody else's: see `open` for what may stand in
//! their place. Files of the person's are read here too, so that no FIFO or device among them can
//! hold ccc up.

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
pub use open::{open_file, read};
pub use unchanged::{Program, WatchedFiles, digest_of, hex_digest};

use open::{Missing, Spot};

/// Written whole or not at all.
pub fn replace(path: &Path, content: &[u8]) -> Result<()> {
    replace::replace(path, &|file| file.write_all(content))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// The same for what comes piece by piece. `over`: a file that is there already is replaced, else it is
/// an error.
pub fn write_whole(
    path: &Path,
    over: bool,
    written: &dyn Fn(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    if over { replace::replace(path, written) } else { replace::create(path, written, PRIVATE) }
}

/// For a line at the end of a file of the person's, in their project. It may be a link, as long as that
/// stays inside: whatever the agent links it to lies elsewhere.
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
    Spot::find(&real, Missing::Stays)?.open(flags, FOR_ALL)
}

/// A file of the person's, or one that we generated: a regular file of a sane size, in UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    let bytes = open::read(path)?;
    String::from_utf8(bytes).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}

/// A file of ours, which is no link, whole.
pub fn read_own(path: &Path) -> io::Result<Vec<u8>> {
    open::capped(open_regular(path)?)
}

/// For reading piece by piece, and only what is a file itself: neither a link to one nor something
/// that never ends, and opening it waits for nobody.
pub fn open_regular(path: &Path) -> io::Result<File> {
    Spot::find(path, Missing::Stays)?.open(OFlag::O_RDONLY, Mode::empty())
}

/// Nobody else on this machine may read it.
pub fn is_private(path: &Path) -> bool {
    let others = 0o077;
    path.metadata().is_ok_and(|meta| meta.permissions().mode() & others == 0)
}

/// A new file; one that exists already is left alone, and is an error.
pub fn create_new(path: &Path, content: &[u8], mode: Mode) -> io::Result<()> {
    replace::create(path, &|file| file.write_all(content), mode)
}

/// For files that others may read as well, such as a SUPERVISOR.md.
pub const FOR_ALL: Mode = Mode::from_bits_truncate(0o644);
pub const PRIVATE: Mode = Mode::from_bits_truncate(0o600);

/// A private file of its own, with nothing in it yet, for what comes piece by piece.
pub fn create_empty(path: &Path) -> io::Result<File> {
    Spot::find(path, Missing::IsMade)?.private(OFlag::O_WRONLY | OFlag::O_TRUNC)
}

pub fn append(path: &Path) -> io::Result<File> {
    Spot::find(path, Missing::IsMade)?.private(OFlag::O_WRONLY | OFlag::O_APPEND)
}

/// For whole lines of ours alone: half of one, which a killed ccc may have left at the end, is cut
/// off. Also the file's length.
pub fn append_lines(path: &Path) -> io::Result<(File, u64)> {
    let file = Spot::find(path, Missing::IsMade)?.private(OFlag::O_RDWR | OFlag::O_APPEND)?;
    let len = file.metadata()?.len();
    let whole = line_start(&file, len)?;
    if whole < len {
        file.set_len(whole)?;
    }
    Ok((file, whole))
}

/// Where the line begins that ends at `end`, or would end there.
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

/// Directories that are missing are made private; those that exist stay as they are.
pub fn create_dir(path: &Path) -> io::Result<()> {
    open::directory(path, Missing::IsMade).map(drop)
}

/// The state directory of a project, with a `.gitignore` of its own: what is in it is nobody's source.
pub fn prepare_state_dir(dir: &Path) -> io::Result<()> {
    create_dir(dir)?;
    let ignore = dir.join(".gitignore");
    if ignore.symlink_metadata().is_ok() {
        return Ok(());
    }
    match create_new(&ignore, b"*\n", PRIVATE) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_line_goes_to_a_file_of_the_project_and_through_no_link_that_leads_out() {
        let dir = tempfile::tempdir().unwrap();
        let (project, victim) = (dir.path().join("project"), dir.path().join("victim"));
        fs::create_dir(&project).unwrap();
        fs::write(&victim, "mine").unwrap();
        std::os::unix::fs::symlink("AGENTS.md", project.join("CLAUDE.md")).unwrap();
        assert!(append_within(&project, "CLAUDE.md").is_err(), "it leads nowhere");
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
    fn what_is_no_file_itself_is_not_opened() {
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
