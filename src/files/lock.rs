//! A lock between processes: a separate file that is never removed, because a lock on a file that
//! is replaced locks nothing. An error names the process that holds it for too long.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::fcntl::OFlag;

use super::open::{FileLocation, Missing};

/// How long to wait for one holder; changes under a lock take milliseconds. Each new holder
/// restarts the wait, so that every one of a hundred hooks on a busy machine gets its turn.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How many times `TIMEOUT` to wait for all holders together, in case one pretends to be many.
const MOST_TIMEOUTS: u32 = 6;
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Releases the lock when dropped.
#[derive(Debug)]
pub struct Lock(
    #[cfg_attr(not(test), expect(dead_code, reason = "closing it releases the lock"))] File,
);

pub fn lock(path: &Path) -> Result<Lock> {
    lock_within(path, TIMEOUT)
}

fn lock_within(path: &Path, patience: Duration) -> Result<Lock> {
    let cannot = || format!("cannot lock {}", path.display());
    let location = FileLocation::find(path, Missing::Create).with_context(cannot)?;
    let mut file = location.private(OFlag::O_RDWR).with_context(cannot)?;
    let began = Instant::now();
    let (mut until, mut last) = (began + patience, String::new());
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if Instant::now() < until => {
                let now = note(&mut file);
                if now != last {
                    (until, last) = (Instant::now() + patience, now);
                    until = until.min(began + patience * MOST_TIMEOUTS);
                }
                thread::sleep(POLL_INTERVAL);
            }
            Err(TryLockError::WouldBlock) => bail!(
                "{} is locked by {} (waited {:.1} s). Wait for that process or end it, then try again",
                path.display(),
                holder(&mut file),
                began.elapsed().as_secs_f32()
            ),
            Err(TryLockError::Error(error)) => return Err(error).with_context(cannot),
        }
    }
    // Tells waiting processes who holds the lock; a failure is ignored.
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ");
    let own = format!("{} {now}\n", std::process::id());
    let _ = file.set_len(0).and_then(|()| file.seek(SeekFrom::Start(0)));
    let _ = file.write_all(own.as_bytes());
    Ok(Lock(file))
}

fn note(file: &mut File) -> String {
    let mut note = String::new();
    let _ = file.seek(SeekFrom::Start(0)).and_then(|_| file.take(200).read_to_string(&mut note));
    note
}

fn holder(file: &mut File) -> String {
    let note = note(file);
    let noted = note
        .trim()
        .split_once(' ')
        .and_then(|(pid, since)| Some((pid.parse::<u32>().ok()?, since)));
    match (locked_by(file), noted) {
        (Some(pid), Some((noted, since))) if pid == noted => {
            format!("process {pid} since {since}")
        }
        (Some(pid), _) => format!("process {pid}"),
        (None, Some((pid, since))) => format!("process {pid} since {since}"),
        (None, None) => "another process".to_owned(),
    }
}

/// The holder according to the kernel; not every system reports it.
fn locked_by(file: &File) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    let inode = format!(":{}", file.metadata().ok()?.ino());
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let holding = locks.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let mut holding = holding.filter(|words| words.get(1) == Some(&"FLOCK"));
    let words = holding.find(|words| words.get(5).is_some_and(|file| file.ends_with(&inode)))?;
    words.get(4)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Together they hold it for longer than a process waits for one holder.
    #[test]
    fn a_new_holder_restarts_the_wait() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.lock");
        let patience = Duration::from_millis(300);
        let mut held = lock(&path).unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| lock_within(&path, patience).map(drop));
            for holder in 0..4 {
                thread::sleep(patience / 2);
                // As the next holder would note it, but without releasing the lock in between.
                held.0.set_len(0).unwrap();
                held.0.seek(SeekFrom::Start(0)).unwrap();
                held.0.write_all(format!("{holder} now\n").as_bytes()).unwrap();
            }
            drop(held);
            waiting.join().unwrap().unwrap();
        });
    }

    /// A single holder whose note keeps changing.
    #[test]
    fn the_whole_wait_is_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.lock");
        let mut held = lock(&path).unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| lock_within(&path, Duration::from_millis(100)).map(drop));
            let mut holder = 0;
            while !waiting.is_finished() {
                held.0.seek(SeekFrom::Start(0)).unwrap();
                held.0.write_all(format!("{holder} now\n").as_bytes()).unwrap();
                holder += 1;
                thread::sleep(POLL_INTERVAL);
            }
            assert!(waiting.join().unwrap().unwrap_err().to_string().contains("is locked by"));
        });
    }

    #[test]
    fn the_holder_of_a_lock_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/x.lock");
        let held = lock(&path).unwrap();
        let error = lock_within(&path, Duration::from_millis(50)).unwrap_err().to_string();
        let who = format!("is locked by process {} since 20", std::process::id());
        assert!(error.contains(&who) && error.contains("try again"), "{error}");
        drop(held);
        lock_within(&path, Duration::ZERO).unwrap();
    }
}
