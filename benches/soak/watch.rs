//! What ccc takes up while it works.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub struct Watch {
    over: Arc<AtomicBool>,
    samples: JoinHandle<Vec<[u64; 3]>>,
}

pub struct Samples(Vec<[u64; 3]>);

impl Watch {
    pub fn of(pid: u32) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&over);
        let samples = thread::spawn(move || {
            let mut samples = Vec::new();
            while !ended.load(Ordering::Relaxed) {
                samples.extend(sample(pid));
                thread::sleep(Duration::from_millis(200));
            }
            samples
        });
        Self { over, samples }
    }

    pub fn end(self) -> Samples {
        self.over.store(true, Ordering::Relaxed);
        Samples(self.samples.join().expect("samples"))
    }
}

/// Memory in KB, descriptors, threads.
fn sample(pid: u32) -> Option<[u64; 3]> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let value = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count();
    Some([value("VmRSS:")?, descriptors as u64, value("Threads:")?])
}

impl Samples {
    /// The most in the second tenth and in the last tenth of the time.
    pub fn compared(&self) -> [(&'static str, u64, u64, bool); 3] {
        let tenth = (self.0.len() / 10).max(1);
        let most = |samples: &[[u64; 3]], which: usize| {
            samples.iter().map(|sample| sample[which]).max().unwrap_or(0)
        };
        let early = &self.0[tenth.min(self.0.len())..(3 * tenth).min(self.0.len())];
        let late = &self.0[self.0.len().saturating_sub(2 * tenth)..];
        let pair = |which| (most(early, which), most(late, which));
        let ((m1, m2), (d1, d2), (t1, t2)) = (pair(0), pair(1), pair(2));
        [
            ("memory, MB", m1 >> 10, m2 >> 10, m2 <= m1 + m1 / 4 + (16 << 10)),
            ("descriptors", d1, d2, d2 <= d1 + 8),
            ("threads", t1, t2, t2 <= t1 + 8),
        ]
    }
}
