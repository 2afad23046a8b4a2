//! An overlay over the project, at the same path, in a mount namespace of the process's own. What is
//! written goes to memory. The namespace ends with its last process, and everything with it: there is
//! nothing to tidy up, however the process ends.

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

/// Where the client keeps scripts that it runs in front of every command. What is left of the agent could
/// write the judge's; so the judge has these directories for itself.
const OF_A_SHELL: [&str; 2] = ["shell-snapshots", "session-env"];

/// Tasks on a schedule, in `.claude` of the project.
const TASKS: &str = "scheduled_tasks.json";

/// Puts this process into the overlay, or leaves it as it is. Returns where its temporary files go.
pub fn enter(covers: &Covers) -> Result<Option<PathBuf>> {
    check(covers)?;
    let attempt = |locked| move || attempt(covers, locked);
    // Tried elsewhere first, because there is no way back. A machine that cannot lock the mounts
    // (which matters to root only) still has them.
    let locked = match trial::of(attempt(true)) {
        Ok(()) => true,
        Err(error) => trial::of(attempt(false)).map(|()| false).map_err(|_| error)?,
    };
    attempt(locked)()?;
    Ok(covers.of_clients.first().cloned())
}

fn check(covers: &Covers) -> Result<()> {
    if covers.covered.is_empty() {
        bail!("there is no project to cover");
    }
    for dir in &covers.covered {
        if dir.parent().is_none() {
            bail!("the project is the root directory");
        }
        // Covered, the client would lose a login that it renews.
        if covers.kept.iter().any(|kept| kept == dir) {
            bail!("the project is the client's own directory {}", dir.display());
        }
    }
    Ok(())
}

fn attempt(covers: &Covers, locked: bool) -> Result<()> {
    let here = std::env::current_dir().context("the current directory no longer exists")?;
    let inner = mounts::below(&covers.covered).context("the mounts are not known")?;
    let privileged = namespace::of_mounts()?;
    // Only now: an overlay takes no directory of another namespace.
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
            // Something mounted inside the project that no overlay can be laid over.
            real.bind(true)
                .with_context(|| format!("the mount {} cannot be covered", real.path.display()))?;
        }
    }
    for real in &kept {
        real.bind(false).with_context(|| format!("{} cannot be kept", real.path.display()))?;
    }
    for dir in covers.kept.iter().flat_map(|kept| OF_A_SHELL.map(|name| kept.join(name))) {
        hide(&dir).with_context(|| format!("{} cannot be hidden", dir.display()))?;
    }
    for dir in &covers.covered {
        let kind = statfs(dir).with_context(|| format!("cannot look at {}", dir.display()))?;
        if kind.filesystem_type() != OVERLAYFS_SUPER_MAGIC {
            bail!("{} is not covered", dir.display());
        }
    }
    for file in &covers.of_git {
        freeze(file);
    }
    keep_off_schedule(&here);
    if locked {
        namespace::lock(privileged)?;
    }
    // The way here led to the real directory, which is below now.
    std::env::set_current_dir(&here).context("the project cannot be entered")
}

/// The client keeps what its commands print among temporary files, and reads it from there. What is left of
/// the agent could write the judge's; so the judge writes its own where nobody else sees it, and still sees
/// what is there. (First, because the project may lie in there.)
fn cover_temporary(covers: &Covers, privileged: bool) -> Result<()> {
    let own = covers.of_clients.iter().filter(|dir| !mounts::is_in(dir, &covers.covered));
    for dir in own {
        let covered = Real::open(dir).and_then(|real| real.cover(privileged));
        covered
            .or_else(|_| hide(dir))
            .with_context(|| format!("{} cannot be covered", dir.display()))?;
    }
    Ok(())
}

/// An overlay copies a file as soon as it is opened to be written. Until then, whoever writes to the real one
/// writes to this one too. One that cannot be opened cannot be written by the agent either; a pipe in the
/// file's place is not waited for.
fn freeze(file: &Path) {
    let at_once = OFlag::O_NONBLOCK.bits();
    let _ = fs::OpenOptions::new().write(true).custom_flags(at_once).open(file);
}

/// A client also takes up tasks that are written down while it runs. Where there are none, none come. The list is
/// nothing that the judge should wonder about, so git is told to ignore it.
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

/// An empty directory in memory, in the place of one that others can write.
fn hide(dir: &Path) -> Result<()> {
    let _ = fs::create_dir(dir);
    if dir.is_dir() {
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        mount(Some("tmpfs"), dir, Some("tmpfs"), flags, Some("mode=0700"))?;
    }
    Ok(())
}

/// A file or directory as it is before anything lies over it.
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

    /// Lays an overlay over the directory. Its two directories of work lie in a memory file system on
    /// the same path, below it and out of sight.
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
        // The directory itself looks as it does for real.
        if privileged {
            chown(&written, Some(Uid::from_raw(meta.uid())), Some(Gid::from_raw(meta.gid())))?;
        }
        fs::set_permissions(&written, fs::Permissions::from_mode(meta.mode() & 0o7777))?;
        let [written, work] = [Self::open(&written)?, Self::open(&work)?];
        // By number: a path would have to be written with escapes for `:`, `,` and `\`.
        let layers = format!(
            "lowerdir={},upperdir={},workdir={}",
            self.by_number(),
            written.by_number(),
            work.by_number()
        );
        // Root's overlay can rename directories. Everybody else's keeps its notes where they may.
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

    /// Puts the real thing back in its place.
    fn bind(&self, read_only: bool) -> Result<()> {
        let nothing: Option<&str> = None;
        let from = self.by_number();
        let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
        mount(Some(from.as_str()), &self.path, nothing, flags, nothing)?;
        if read_only {
            // What was restricted outside has to stay so, or the kernel refuses.
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

    fn by_number(&self) -> String {
        format!("/proc/self/fd/{}", self.fd.as_raw_fd())
    }
}
