//! Processes whose parent is gone, such as the tools of a killed client. They run in their own
//! sessions, which a signal to a group does not reach. The process that adopts them (the shim, or
//! ccc if a shim is killed) becomes their parent: it can find, reap and end them.

use std::collections::BTreeSet;
use std::io;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

/// More than enough for killed processes, but bounded in case one hangs in the kernel.
const TIMEOUT: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Whether this process reaps the children that nobody waits for.
static REAPS: AtomicBool = AtomicBool::new(false);

/// Children that some code waits for. Every other child of this process is an orphan.
static AWAITED: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn awaited() -> MutexGuard<'static, BTreeSet<i32>> {
    AWAITED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// While this exists, the child is not treated as an orphan, because its owner waits for it.
#[derive(Debug)]
pub struct Awaited(i32);

impl Awaited {
    #[expect(clippy::disallowed_methods, reason = "the one place")]
    pub fn spawn(command: &mut Command) -> io::Result<(Child, Self)> {
        Self::start(|| command.spawn(), Child::id)
    }

    /// Starts a child that is never mistaken for an orphan.
    pub fn start<T, E>(
        spawn: impl FnOnce() -> Result<T, E>,
        pid: impl FnOnce(&T) -> u32,
    ) -> Result<(T, Self), E> {
        let mut awaited = awaited();
        let child = spawn()?;
        let pid = pid(&child).cast_signed();
        awaited.insert(pid);
        Ok((child, Self(pid)))
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        awaited().remove(&self.0);
        if REAPS.load(Ordering::Relaxed) {
            reap_ended();
        }
    }
}

/// From now on this process becomes the parent of every orphan below it.
#[cfg(target_os = "linux")]
pub fn adopt() {
    if let Err(error) = nix::sys::prctl::set_child_subreaper(true) {
        log::warn!("tools of a killed client may be left over: {error}");
    }
}

#[cfg(not(target_os = "linux"))]
pub fn adopt() {}

/// Adopts orphans, and reaps them for as long as this process lives.
pub fn adopt_and_reap() -> io::Result<()> {
    adopt();
    REAPS.store(true, Ordering::Relaxed);
    let mut ended = signal_hook::iterator::Signals::new([signal_hook::consts::SIGCHLD])?;
    crate::threads::named("orphans", move || {
        for _ in &mut ended {
            reap_ended();
        }
    })
}

/// Kills every orphan, including those that appear when their parents die.
pub fn kill_all() {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let found = for_each(|orphan| {
            let _ = kill(orphan, Signal::SIGKILL);
            reap(orphan);
        });
        if found == 0 {
            return;
        }
        if Instant::now() > deadline {
            log::warn!("{found} processes are left over");
            return;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Reaps the orphans that have ended. The kernel says who has ended, but only the first of them: if that is a
/// child that some code waits for, the rest comes when it was waited for.
#[cfg(target_os = "linux")]
fn reap_ended() {
    let awaited = awaited();
    while let Ok(Some(child)) = first_ended() {
        if awaited.contains(&child.as_raw()) {
            return;
        }
        reap(child);
    }
}

#[cfg(not(target_os = "linux"))]
fn reap_ended() {}

/// A child that has ended and was not waited for. Fails if there is no child at all.
#[cfg(target_os = "linux")]
fn first_ended() -> nix::Result<Option<Pid>> {
    use nix::sys::wait::{Id, waitid};
    let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    waitid(Id::All, look).map(|status| status.pid())
}

fn reap(orphan: Pid) {
    let _ = waitpid(orphan, Some(WaitPidFlag::WNOHANG));
}

/// Calls `each` for every orphan, and returns how many there were. The lock keeps children from
/// being started or reaped meanwhile, so that no pid is reused.
fn for_each(each: impl Fn(Pid)) -> usize {
    let awaited = awaited();
    let orphans = children().into_iter().filter(|child| !awaited.contains(&child.as_raw()));
    orphans.map(each).count()
}

#[cfg(target_os = "linux")]
fn children() -> Vec<Pid> {
    if first_ended().is_err() {
        return Vec::new();
    }
    let me = std::process::id().to_string();
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid: &i32| {
            // "pid (name) state ppid …"; the name may contain anything, so read after its last
            // bracket.
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1));
            parent == Some(&me)
        })
        .map(Pid::from_raw)
        .collect()
}

/// This system has no way to adopt orphans.
#[cfg(not(target_os = "linux"))]
fn children() -> Vec<Pid> {
    Vec::new()
}
