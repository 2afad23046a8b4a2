//! Clocks and counters of the system.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};

/// Nanoseconds of the one clock that all processes share.
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("the monotonic clock");
    Duration::from(time).as_nanos().try_into().unwrap_or(u64::MAX)
}

/// User and system time in microseconds.
pub fn cpu(usage: Usage) -> u64 {
    let time = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    time.try_into().unwrap_or(0)
}

/// Of all children that were waited for, and of theirs.
pub fn cpu_of_children() -> u64 {
    getrusage(UsageWho::RUSAGE_CHILDREN).map_or(0, cpu)
}

/// A percentile of sorted nanoseconds, in milliseconds.
#[expect(clippy::cast_precision_loss, reason = "figures to read")]
pub fn at(sorted: &[u64], percent: usize) -> f64 {
    let index = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(index).map_or(f64::NAN, |span| *span as f64 / 1e6)
}

/// Kilobytes of a process: resident now, and at most so far. Nothing where there is no `/proc`.
pub fn resident(pid: u32) -> Option<(u64, u64)> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    Some((field(&status, "VmRSS:")?, field(&status, "VmHWM:")?))
}

/// How often each thread of these processes has gone to sleep or been pushed aside so far.
pub fn switches(pids: &[u32]) -> Option<BTreeMap<PathBuf, u64>> {
    let mut threads = BTreeMap::new();
    for pid in pids {
        for task in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
            // A thread may end between the listing and the look at it.
            let Ok(status) = fs::read_to_string(task.path().join("status")) else { continue };
            let count = |name| field(&status, name);
            let sum = count("voluntary_ctxt_switches:")? + count("nonvoluntary_ctxt_switches:")?;
            threads.insert(task.path(), sum);
        }
    }
    Some(threads)
}

fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// A process and everything below it.
pub fn tree(root: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
            Some((pid, field(&status, "PPid:")?.try_into().ok()?))
        })
        .collect();
    let mut tree = vec![root];
    let mut at = 0;
    while at < tree.len() {
        let parent = tree[at];
        tree.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        at += 1;
    }
    tree
}
