//! Whether a program is working, or waits for something that may never happen, such as the other
//! end of a pipe that stands in the place of a file.
//!
//! Waiting for a disk or for the processor is a different process state, and a program that waits
//! often but briefly is seen to wake up in between.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

const POLL_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub struct Idle {
    group: u32,
    looked: Instant,
    /// How often the threads have gone to sleep in total, and for how many polls that number has
    /// not changed. Polls rather than time, because ccc itself may have been stopped.
    asleep: Option<(u64, u32)>,
}

impl Idle {
    /// Watches all processes of the group.
    pub fn of(group: u32) -> Self {
        Self { group, looked: Instant::now(), asleep: None }
    }

    /// For how long none of them has done anything.
    pub fn time(&mut self) -> Duration {
        if self.looked.elapsed() >= POLL_INTERVAL {
            self.looked = Instant::now();
            let before = self.asleep;
            self.asleep = sleeps(self.group).map(|sleeps| match before {
                Some((same, looks)) if same == sleeps => (sleeps, looks + 1),
                _ => (sleeps, 0),
            });
        }
        self.asleep.map_or(Duration::ZERO, |(_, looks)| POLL_INTERVAL * looks)
    }
}

/// How often all threads of the group together went to sleep; `None` if one is awake or this is
/// unknown.
fn sleeps(group: u32) -> Option<u64> {
    let mut sum = None;
    for process in fs::read_dir("/proc").ok()?.flatten() {
        let is_process = process.file_name().as_encoded_bytes()[0].is_ascii_digit();
        if !is_process || group_of(&process.path()) != Some(group) {
            continue;
        }
        // If the process ends meanwhile, it did something.
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

/// `pid (name) state parent group …`; the name may contain anything.
fn group_of(process: &Path) -> Option<u32> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    stat.rsplit(')').next()?.split_whitespace().nth(2)?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    use super::*;

    fn watch(script: &str, enough: impl Fn(&mut Idle) -> bool) {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stdin(Stdio::piped()).process_group(0);
        #[expect(clippy::disallowed_methods, reason = "a test waits for its own child")]
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
    fn a_waiting_program_is_idle_and_a_working_one_is_not() {
        watch("read line", |idle| idle.time() >= POLL_INTERVAL * 5);
        let looks = std::cell::Cell::new(0);
        watch("while :; do :; done", |idle| {
            let before = idle.looked;
            assert!(idle.time() < POLL_INTERVAL * 5);
            looks.set(looks.get() + u32::from(idle.looked != before));
            looks.get() > 10
        });
    }
}
