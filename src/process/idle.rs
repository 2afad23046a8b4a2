//! Whether a program that was asked something works on it, or waits for somebody who may never come: a
//! pipe in the place of a file has no other end.
//!
//! Waiting for a disk is another state, and so is waiting for the processor; and whoever waits often and
//! briefly is seen to wake up in between.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Between two looks.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub struct Idle {
    group: u32,
    looked: Instant,
    /// How often they had gone to sleep, and how many looks ago that was already so. Looks and not time:
    /// ccc itself may be stopped, and then they wait for ccc.
    asleep: Option<(u64, u32)>,
}

impl Idle {
    /// Of everybody in the process group.
    pub fn of(group: u32) -> Self {
        Self { group, looked: Instant::now(), asleep: None }
    }

    /// For how long nobody of them has done anything.
    pub fn time(&mut self) -> Duration {
        if self.looked.elapsed() >= LOOK_AGAIN {
            self.looked = Instant::now();
            let before = self.asleep;
            self.asleep = sleeps(self.group).map(|sleeps| match before {
                Some((same, looks)) if same == sleeps => (sleeps, looks + 1),
                _ => (sleeps, 0),
            });
        }
        self.asleep.map_or(Duration::ZERO, |(_, looks)| LOOK_AGAIN * looks)
    }
}

/// How often all threads of the group together went to sleep. None: one of them is awake, or nobody
/// knows.
fn sleeps(group: u32) -> Option<u64> {
    let mut sum = None;
    for process in fs::read_dir("/proc").ok()?.flatten() {
        let is_process = process.file_name().as_encoded_bytes()[0].is_ascii_digit();
        if !is_process || group_of(&process.path()) != Some(group) {
            continue;
        }
        // It may end while it is looked at; then somebody did something.
        for thread in fs::read_dir(process.path().join("task")).ok()?.flatten() {
            let status = fs::read_to_string(thread.path().join("status")).ok()?;
            let value = |name| status.lines().find_map(|line: &str| line.strip_prefix(name));
            if !value("State:")?.trim_start().starts_with('S') {
                return None;
            }
            let sleeps: u64 = value("voluntary_ctxt_switches:")?.trim().parse().ok()?;
            sum = Some(sum.unwrap_or(0) + sleeps);
        }
    }
    sum
}

/// `pid (name) state parent group …`; the name may hold anything.
fn group_of(process: &Path) -> Option<u32> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    stat.rsplit(')').next()?.split_whitespace().nth(2)?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    use super::*;

    fn looked_at(script: &str, enough: impl Fn(&mut Idle) -> bool) {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stdin(Stdio::piped()).process_group(0);
        #[expect(clippy::disallowed_methods, reason = "a test sees its own child off")]
        let mut child = command.spawn().unwrap();
        let mut idle = Idle::of(child.id());
        while !enough(&mut idle) {
            std::thread::yield_now();
        }
        drop(child.stdin.take());
        let _ = child.kill();
        child.wait().unwrap();
    }

    #[test]
    fn who_waits_for_somebody_is_idle_and_who_works_is_not() {
        looked_at("read line", |idle| idle.time() >= LOOK_AGAIN * 5);
        let looks = std::cell::Cell::new(0);
        looked_at("while :; do :; done", |idle| {
            let before = idle.looked;
            assert!(idle.time() < LOOK_AGAIN * 5);
            looks.set(looks.get() + u32::from(idle.looked != before));
            looks.get() > 10
        });
    }
}
