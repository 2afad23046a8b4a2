//! The content of a file as a digest, and a limit for how much is read.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::LazyLock;

use ring::digest::{Context, SHA256, SHA256_OUTPUT_LEN};
use serde::{Deserialize, Serialize};

use crate::files::open_file;

pub type Digest = [u8; SHA256_OUTPUT_LEN];

/// A larger file is identified by its size and times.
const LARGE: u64 = 64 << 20;
/// Limits for one snapshot.
const MOST_BYTES: u64 = 512 << 20;
const MOST_FILES: usize = 100_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    Absent,
    File {
        digest: Digest,
        executable: bool,
    },
    Link(Digest),
    /// Too large to read: the size, and when content or name last changed.
    Unread {
        size: u64,
        changed: (i64, i64),
    },
    /// A file that ccc's own output goes to, and which therefore changes all the time.
    Output,
    /// A device, a pipe or a socket.
    Special(u32),
    /// The commit that a submodule is at, according to the commit of the outer repository.
    Submodule(String),
}

/// What standard output and error are, as device and inode.
#[expect(clippy::disallowed_methods, reason = "prints nothing")]
static OUTPUTS: LazyLock<Vec<(u64, u64)>> = LazyLock::new(|| {
    let (out, err) = (io::stdout(), io::stderr());
    let files = [out.as_fd(), err.as_fd()].map(|output| output.try_clone_to_owned());
    let files = files.into_iter().flatten().map(File::from);
    let found = files.filter_map(|file| file.metadata().ok());
    found.map(|meta| (meta.dev(), meta.ino())).collect()
});

pub fn digest(bytes: &[u8]) -> Digest {
    let mut context = Context::new(&SHA256);
    context.update(bytes);
    finish(context)
}

fn finish(context: Context) -> Digest {
    let mut digest = Digest::default();
    digest.copy_from_slice(context.finish().as_ref());
    digest
}

/// Limits what one snapshot reads, so that a forgotten data directory costs seconds and not
/// minutes.
#[derive(Debug, Default)]
pub struct Budget {
    files: usize,
    bytes: u64,
    unread: usize,
    /// Whether there were files beyond the limit that were not examined at all.
    unseen: bool,
}

impl Budget {
    /// Whether one more file may be examined.
    pub fn one_more(&mut self) -> bool {
        self.files += 1;
        self.unseen |= self.files > MOST_FILES;
        !self.unseen
    }

    pub fn read(&mut self, path: &Path) -> Content {
        let Ok(meta) = fs::symlink_metadata(path) else { return Content::Absent };
        if meta.is_symlink() {
            let target = fs::read_link(path).unwrap_or_default();
            return Content::Link(digest(target.as_os_str().as_bytes()));
        }
        if !meta.is_file() {
            return Content::Special(meta.mode());
        }
        if OUTPUTS.contains(&(meta.dev(), meta.ino())) {
            return Content::Output;
        }
        let affordable = meta.len() <= LARGE && self.bytes + meta.len() <= MOST_BYTES;
        self.bytes += if affordable { meta.len() } else { 0 };
        let digest = if affordable { open_file(path).ok().and_then(read) } else { None };
        match digest {
            Some(digest) => {
                let executable = meta.permissions().mode() & 0o100 != 0;
                Content::File { digest, executable }
            }
            None => {
                self.unread += 1;
                let changed = (meta.ctime(), meta.ctime_nsec());
                Content::Unread { size: meta.len(), changed }
            }
        }
    }

    pub fn note(&self) -> Option<String> {
        let unseen = self.unseen.then(|| format!("ccc compares only the first {MOST_FILES} files"));
        let unread = (self.unread > 0).then(|| {
            format!("{} large or unreadable files are compared only by size and time", self.unread)
        });
        let notes: Vec<_> = unseen.into_iter().chain(unread).collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }
}

fn read(mut file: File) -> Option<Digest> {
    let mut context = Context::new(&SHA256);
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Some(finish(context)),
            Ok(size) => context.update(&buffer[..size]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}
