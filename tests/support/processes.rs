//! The processes below one that a test started, read from /proc: nobody else's are looked at.

// Each test binary uses its own part of this.
#![allow(dead_code)]

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use super::patience::{PATIENCE, wait_within};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub pid: i32,
    pub args: Vec<String>,
    /// Tells it from a later process with the same number.
    started: u64,
}

impl Process {
    /// Also one that has ended and whose parent, a ccc, has not seen it off.
    #[must_use]
    pub fn is_there(&self) -> bool {
        stat(self.pid).is_some_and(|stat| stat.started == self.started && !stat.is_gone())
    }

    #[must_use]
    pub fn has_arg(&self, arg: &str) -> bool {
        self.args.iter().any(|known| known == arg)
    }

    /// A client process: the agent's or a supervisor's, not the shim in front of it.
    #[must_use]
    pub fn is_client(&self) -> bool {
        self.args.first().is_some_and(|program| program.ends_with("/claude"))
    }

    #[must_use]
    pub fn is_supervisor(&self) -> bool {
        self.is_client() && self.has_arg("--fork-session")
    }

    #[must_use]
    pub fn is_agent(&self) -> bool {
        self.is_client() && !self.has_arg("--fork-session") && self.has_arg("--print")
    }
}

/// All processes below `pid`, without itself.
#[must_use]
pub fn descendants(pid: i32) -> Vec<Process> {
    let mut children: HashMap<i32, Vec<(i32, u64)>> = HashMap::new();
    for entry in fs::read_dir("/proc").expect("read /proc").flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        if let Some(stat) = stat(pid).filter(|stat| !stat.is_gone()) {
            children.entry(stat.parent).or_default().push((pid, stat.started));
        }
    }
    let mut found = Vec::new();
    let mut parents = vec![pid];
    while let Some(parent) = parents.pop() {
        for (pid, started) in children.remove(&parent).unwrap_or_default() {
            found.push(Process { pid, args: args(pid), started });
            parents.push(pid);
        }
    }
    found
}

/// Waits until a process below `pid` is as wanted.
#[track_caller]
pub fn wait_for(pid: i32, wanted: impl Fn(&Process) -> bool) -> Process {
    let found = wait_within(PATIENCE, || descendants(pid).into_iter().find(|known| wanted(known)));
    found.unwrap_or_else(|| panic!("not among the processes below {pid}: {:#?}", descendants(pid)))
}

/// Waits until none of them is left.
#[track_caller]
pub fn wait_gone(processes: &[Process], patience: Duration) {
    let left = || processes.iter().filter(|process| process.is_there()).collect::<Vec<_>>();
    let gone = wait_within(patience, || left().is_empty().then_some(()));
    assert!(gone.is_some(), "left over after {patience:?}: {:#?}", left());
}

/// Whether there is a process of this number that somebody of ours still has to see to.
#[must_use]
pub fn is_there(pid: i32) -> bool {
    stat(pid).is_some_and(|stat| !stat.is_gone())
}

struct Stat {
    parent: i32,
    started: u64,
    /// Dead, though not yet seen off by its parent.
    ended: bool,
}

impl Stat {
    /// A dead process is there until its parent has seen it off. If that is none of ours, such as the
    /// first process of the machine, it is no business of ours either.
    fn is_gone(&self) -> bool {
        let name = || fs::read_to_string(format!("/proc/{}/comm", self.parent)).unwrap_or_default();
        self.ended && name().trim() != "ccc"
    }
}

fn stat(pid: i32) -> Option<Stat> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // "pid (name) state parent …": the name may hold anything, brackets too.
    let (_, rest) = line.rsplit_once(')')?;
    let fields: Vec<_> = rest.split_whitespace().collect();
    Some(Stat {
        parent: fields.get(1)?.parse().ok()?,
        // The 22nd field of the line.
        started: fields.get(19)?.parse().ok()?,
        ended: matches!(*fields.first()?, "Z" | "X"),
    })
}

fn args(pid: i32) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.trim_end_matches('\0').split('\0').map(str::to_owned).collect()
}
