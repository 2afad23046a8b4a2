//! An overlay over the project, at the same path, in a mount namespace of its own. Writes go to
//! memory. The namespace and everything in it end with its last process, so there is nothing to
//! clean up, however the process ends.

use std::fs;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use nix::fcntl::{OFlag, open};
use nix::mount::{MsFlags, mount};
use nix::sys::stat::Mode;
use nix::sys::statfs::{OVERLAYFS_SUPER_MAGIC, statfs};
use nix::sys::statvfs::{FsFlags, statvfs};
use nix::unistd::{Gid, Uid, chown};

use super::covers::Covers;
use super::{mounts, namespace, trial};

/// Where the client keeps scripts that it runs before every command. A process that the agent left
/// behind could write there, so the judge gets these directories for itself.
const SHELL_DIRECTORIES: [&str; 2] = ["shell-snapshots", "session-env"];

/// Scheduled tasks, in the project's `.claude`.
const TASKS: &str = "scheduled_tasks.json";

/// Puts this process into the overlay, or leaves it as it is. Returns where its temporary files go.
pub fn enter(covers: &Covers) -> Result<Option<PathBuf>> {
    check(covers)?;
    let attempt = |locked| move || attempt(covers, locked);
    // Tried in another process first, because it cannot be undone. On a machine that cannot lock
    // the mounts, which matters only for root, they are still made.
    let locked = match trial::try_in_child(attempt(true)) {
        Ok(()) => true,
        Err(error) => trial::try_in_child(attempt(false)).map(|()| false).map_err(|_| error)?,
    };
    attempt(locked)()?;
    Ok(covers.client_dirs.first().cloned())
}

fn check(covers: &Covers) -> Result<()> {
    if covers.covered.is_empty() {
        bail!("there is no project to cover");
    }
    for dir in &covers.covered {
        if dir.parent().is_none() {
            bail!("the project is the root directory");
        }
        // If it were covered, a renewed login would be lost.
        if covers.kept.iter().any(|kept| kept == dir) {
            bail!("the project is the client's own directory {}", dir.display());
        }
    }
    Ok(())
}

fn attempt(covers: &Covers, locked: bool) -> Result<()> {
    let here = std::env::current_dir().context("the current directory no longer exists")?;
    let inner = mounts::below(&covers.covered).context("the mounts are not known")?;
    let privileged = namespace::enter_mount_namespace()?;
    // Opened only now, because an overlay rejects directories of another mount namespace.
    let all = covers.covered.iter().chain(&inner).map(|path| Real::open(path));
    let all = all.collect::<Result<Vec<_>>>()?;
    let within = covers.kept.iter().filter(|kept| mounts::is_in(kept, &covers.covered));
    let kept = within.map(|path| Real::open(path)).collect::<Result<Vec<_>>>()?;

    cover_temporary(covers, privileged)?;
    for real in &all {
        let covered = real.cover(privileged);
        if covers.covered.contains(&real.path) {
            covered.with_context(|| format!("{} cannot be covered", real.path.display()))?;
        } else if covered.is_err() {
            // A mount inside the project over which no overlay can be mounted becomes read-only.
            real.bind(true)
                .with_context(|| format!("the mount {} cannot be covered", real.path.display()))?;
        }
    }
    for real in &kept {
        real.bind(false).with_context(|| format!("{} cannot be kept", real.path.display()))?;
    }
    for dir in covers.kept.iter().flat_map(|kept| SHELL_DIRECTORIES.map(|name| kept.join(name))) {
        hide(&dir).with_context(|| format!("{} cannot be hidden", dir.display()))?;
    }
    for dir in &covers.covered {
        let kind = statfs(dir).with_context(|| format!("cannot look at {}", dir.display()))?;
        if kind.filesystem_type() != OVERLAYFS_SUPER_MAGIC {
            bail!("{} is not covered", dir.display());
        }
    }
    for file in &covers.git_configs {
        freeze(file);
    }
    keep_off_schedule(&here);
    if locked {
        namespace::lock(privileged)?;
    }
    // The current directory still refers to the real directory, below the overlay.
    std::env::set_current_dir(&here).context("the project cannot be entered")
}

/// The client writes the output of its commands to temporary files and reads it from there. A
/// process that the agent left behind could write to them, so the judge's writes go where nobody
/// else sees them, while it still sees what exists. Done first, because the project may lie inside.
fn cover_temporary(covers: &Covers, privileged: bool) -> Result<()> {
    let own = covers.client_dirs.iter().filter(|dir| !mounts::is_in(dir, &covers.covered));
    for dir in own {
        let covered = Real::open(dir).and_then(|real| real.cover(privileged));
        covered
            .or_else(|_| hide(dir))
            .with_context(|| format!("{} cannot be covered", dir.display()))?;
    }
    Ok(())
}

/// An overlay copies a file when it is opened for writing. Until then, writes to the real file also
/// show in the overlay. A file that cannot be opened cannot be written by the agent either. A pipe
/// in its place must not block.
fn freeze(file: &Path) {
    let at_once = OFlag::O_NONBLOCK.bits();
    let _ = fs::OpenOptions::new().write(true).custom_flags(at_once).open(file);
}

/// A client also runs scheduled tasks that are added while it runs. An empty list prevents that;
/// git ignores the list, so that the judge does not take it for a change.
fn keep_off_schedule(project: &Path) {
    let dir = project.join(".claude");
    let _ = fs::create_dir(&dir);
    let add = |name: &str, text: &str| {
        let file = fs::File::create_new(dir.join(name));
        file.and_then(|mut file| file.write_all(text.as_bytes()))
    };
    if !dir.join(TASKS).exists() && add(".gitignore", ".gitignore\nscheduled_tasks.json\n").is_ok()
    {
        let _ = add(TASKS, "{\"tasks\":[]}");
    }
}

/// Mounts an empty directory in memory over one that others can write to.
fn hide(dir: &Path) -> Result<()> {
    let _ = fs::create_dir(dir);
    if dir.is_dir() {
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        mount(Some("tmpfs"), dir, Some("tmpfs"), flags, Some("mode=0700"))?;
    }
    Ok(())
}

/// A file or directory as it was before anything was mounted over it.
struct Real {
    path: PathBuf,
    fd: OwnedFd,
}

impl Real {
    fn open(path: &Path) -> Result<Self> {
        let fd = open(path, OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty())
            .with_context(|| format!("cannot open {}", path.display()))?;
        Ok(Self { path: path.to_owned(), fd })
    }

    /// Mounts an overlay over the directory. Its upper and work directories are in a tmpfs on the
    /// same path, hidden below the overlay.
    fn cover(&self, privileged: bool) -> Result<()> {
        let meta = fs::metadata(&self.path)?;
        if !meta.is_dir() {
            bail!("it is not a directory");
        }
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        mount(Some("tmpfs"), &self.path, Some("tmpfs"), flags, Some("mode=0700"))
            .context("cannot mount a memory file system")?;
        let [written, work] = ["written", "work"].map(|name| self.path.join(name));
        fs::create_dir(&written)?;
        fs::create_dir(&work)?;
        // The directory keeps its owner and mode.
        if privileged {
            chown(&written, Some(Uid::from_raw(meta.uid())), Some(Gid::from_raw(meta.gid())))?;
        }
        fs::set_permissions(&written, fs::Permissions::from_mode(meta.mode() & 0o7777))?;
        let [written, work] = [Self::open(&written)?, Self::open(&work)?];
        // By file descriptor, because `:`, `,` and `\` in a path would have to be escaped.
        let layers = format!(
            "lowerdir={},upperdir={},workdir={}",
            self.by_descriptor(),
            written.by_descriptor(),
            work.by_descriptor()
        );
        // With root's rights the overlay can rename directories; without them its metadata must be
        // in user attributes.
        let options = if privileged {
            [",redirect_dir=on", ""].map(|more| format!("{layers}{more}"))
        } else {
            [",userxattr", ""].map(|more| format!("{layers}{more}"))
        };
        let mount = |options: &String| {
            mount(Some("overlay"), &self.path, Some("overlay"), flags, Some(options.as_str()))
        };
        mount(&options[0])
            .or_else(|_| mount(&options[1]))
            .context("cannot mount an overlay file system")
    }

    /// Mounts the real file or directory in its place again.
    fn bind(&self, read_only: bool) -> Result<()> {
        let nothing: Option<&str> = None;
        let from = self.by_descriptor();
        let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
        mount(Some(from.as_str()), &self.path, nothing, flags, nothing)?;
        if read_only {
            // The kernel refuses to drop restrictions of the original mount.
            let now = statvfs(&self.path)?.flags();
            let kept = [
                (FsFlags::ST_NOSUID, MsFlags::MS_NOSUID),
                (FsFlags::ST_NODEV, MsFlags::MS_NODEV),
                (FsFlags::ST_NOEXEC, MsFlags::MS_NOEXEC),
            ];
            let kept = kept.into_iter().filter(|(flag, _)| now.contains(*flag));
            let flags = kept.fold(
                MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY,
                |flags, (_, flag)| flags | flag,
            );
            mount(nothing, &self.path, nothing, flags, nothing)?;
        }
        Ok(())
    }

    fn by_descriptor(&self) -> String {
        format!("/proc/self/fd/{}", self.fd.as_raw_fd())
    }
}
