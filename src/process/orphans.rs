//! Processes whose parent is gone, such as the tools of a client that was killed. They run in
//! sessions of their own, out of reach of a signal to a group. Whoever adopts them (the shim, and
//! ccc for the day on which a shim is killed) is their parent then: finds them, sees them off when
//! they end, and can end them.

use std::collections::BTreeSet;
use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

/// More than enough for processes that are killed; not for ever for one that hangs in the kernel.
const PATIENCE: Duration = Duration::from_secs(1);
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// Children whose exit somebody waits for. Every other child of this process is an orphan.
static AWAITED: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn awaited() -> MutexGuard<'static, BTreeSet<i32>> {
    AWAITED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// While this is there, the exit of a child is left to the one who waits for it.
#[derive(Debug)]
pub struct Awaited(i32);

impl Awaited {
    #[expect(clippy::disallowed_methods, reason = "the one place")]
    pub fn spawn(command: &mut Command) -> io::Result<(Child, Self)> {
        Self::start(|| command.spawn(), Child::id)
    }

    /// Starts a child. From its first moment nobody takes it for an orphan.
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
    }
}

/// From now on this process is the parent of whoever is orphaned below it.
#[cfg(target_os = "linux")]
pub fn adopt() {
    if let Err(error) = nix::sys::prctl::set_child_subreaper(true) {
        log::warn!("tools of a killed client may be left over: {error}");
    }
}

#[cfg(not(target_os = "linux"))]
pub fn adopt() {}

/// Adopts, and sees off those that end, for as long as this process lives.
pub fn adopt_and_reap() -> io::Result<()> {
    adopt();
    let mut ended = signal_hook::iterator::Signals::new([signal_hook::consts::SIGCHLD])?;
    crate::threads::named("orphans", move || {
        for _ in &mut ended {
            for_each(see_off);
        }
    })
}

/// Ends every orphan, and those that become ours as their parents die.
pub fn kill_all() {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let found = for_each(|orphan| {
            let _ = kill(orphan, Signal::SIGKILL);
            see_off(orphan);
        });
        if found == 0 {
            return;
        }
        if Instant::now() > deadline {
            log::warn!("{found} processes are left over");
            return;
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// Takes its exit if it has ended.
fn see_off(orphan: Pid) {
    let _ = waitpid(orphan, Some(WaitPidFlag::WNOHANG));
}

/// Says how many there were. Nobody is started or seen off meanwhile, so that each number is still
/// the orphan's.
fn for_each(each: impl Fn(Pid)) -> usize {
    let awaited = awaited();
    let orphans = children().into_iter().filter(|child| !awaited.contains(&child.as_raw()));
    orphans.map(each).count()
}

#[cfg(target_os = "linux")]
fn children() -> Vec<Pid> {
    let me = std::process::id().to_string();
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid: &i32| {
            // "pid (name) state ppid …"; the name may hold anything, so look behind its last bracket.
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1));
            parent == Some(&me)
        })
        .map(Pid::from_raw)
        .collect()
}

/// There is no way to adopt anybody.
#[cfg(not(target_os = "linux"))]
fn children() -> Vec<Pid> {
    Vec::new()
}
