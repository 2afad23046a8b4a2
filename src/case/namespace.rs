//! Namespaces for this process: one in which it may mount, and one that even root cannot leave.

use std::fs;
use std::io::{Read, Write};

use anyhow::{Context, Result, bail};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, getegid, geteuid, getpid};

/// Enters a mount namespace, with root's own rights or else inside a user namespace, in which
/// everybody may mount. Returns whether root's own rights were used.
pub fn enter_mount_namespace() -> Result<bool> {
    let privileged = geteuid().is_root() && unshare(CloneFlags::CLONE_NEWNS).is_ok();
    if !privileged {
        let (user, group) = (geteuid(), getegid());
        unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS)
            .context("this machine does not allow user namespaces")?;
        map_to_itself(user.as_raw(), group.as_raw())?;
    }
    let nothing: Option<&str> = None;
    mount(nothing, "/", nothing, MsFlags::MS_REC | MsFlags::MS_PRIVATE, nothing)
        .context("mounts cannot be made private")?;
    Ok(privileged)
}

/// Root could unmount what covers the project, or leave through `/proc/1/root`. In a second
/// namespace with the same users it cannot: mounts from outside are locked, and processes outside
/// are out of reach. Everybody else loses the right to mount when the client starts.
pub fn lock(privileged: bool) -> Result<()> {
    if !geteuid().is_root() {
        return Ok(());
    }
    let both = CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS;
    if !privileged {
        unshare(both).context("the mounts cannot be locked")?;
        return map_to_itself(0, 0);
    }
    // Only a process outside the new namespace may map more than one user.
    let maps = ["uid_map", "gid_map"].map(|name| {
        fs::read_to_string(format!("/proc/self/{name}")).map(|map| (name, identity(&map)))
    });
    let [users, groups] = maps;
    let maps = [users?, groups?];
    let (mut wait, mut go) = std::io::pipe()?;
    let outer = getpid();
    // SAFETY: the process has one thread, so the child may do whatever this one may.
    #[expect(unsafe_code, reason = "a second process has to write the map of the first")]
    match unsafe { fork() }? {
        ForkResult::Child => {
            drop(go);
            let called = wait.read_exact(&mut [0]).is_ok();
            let done = called && maps.iter().all(|(name, map)| write_map(outer, name, map).is_ok());
            std::process::exit(i32::from(!done))
        }
        ForkResult::Parent { child } => {
            drop(wait);
            let unshared = unshare(both).context("the mounts cannot be locked");
            if unshared.is_ok() {
                go.write_all(b"x")?;
            }
            drop(go);
            let mapped = waitpid(child, None)?;
            unshared?;
            if mapped != WaitStatus::Exited(child, 0) {
                bail!("the users of the inner namespace cannot be named");
            }
            Ok(())
        }
    }
}

fn write_map(process: Pid, name: &str, map: &str) -> std::io::Result<()> {
    fs::write(format!("/proc/{process}/{name}"), map)
}

/// A map in which every id that exists here stays the same.
fn identity(map: &str) -> String {
    let lines = map.lines().filter_map(|line| {
        let mut numbers = line.split_whitespace();
        let (inside, _, count) = (numbers.next()?, numbers.next()?, numbers.next()?);
        Some(format!("{inside} {inside} {count}\n"))
    });
    lines.collect()
}

fn map_to_itself(user: u32, group: u32) -> Result<()> {
    let own = |id: u32| format!("{id} {id} 1");
    fs::write("/proc/self/setgroups", "deny")
        .and_then(|()| fs::write("/proc/self/uid_map", own(user)))
        .and_then(|()| fs::write("/proc/self/gid_map", own(group)))
        .context("the user has no name in a user namespace")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_stays_the_same() {
        assert_eq!(identity("         0          0 4294967295\n"), "0 0 4294967295\n");
        assert_eq!(identity("0 1000 1\n1 100000 65536\n"), "0 0 1\n1 1 65536\n");
    }
}
