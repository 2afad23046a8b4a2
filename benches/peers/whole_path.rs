//! The whole path: agent bytes → lines → messages → screen and files. Throughput, CPU and memory.
//!
//! Time runs from the agent's first byte until the reader is through: until it has exited, or for
//! ccc, which goes on with a review, until the review's process runs. CPU is that of all processes
//! of the reader; what the agent itself has used is taken off.

use std::io;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::measure::{cpu_of_children, now, resident};
use super::place::{BYTES, Place};
use super::stamps;
use super::subject::Subject;
use super::terminal::Terminal;

pub struct Run {
    pub bytes: u64,
    pub seconds: f64,
    pub cpu_seconds: f64,
    /// Kilobytes, at even distances in time while the stream ran.
    pub resident: Vec<u64>,
    pub most: u64,
}

impl Run {
    pub fn mb_per_second(&self) -> f64 {
        mega(self.bytes) / self.seconds
    }

    pub fn cpu_per_gb(&self) -> f64 {
        self.cpu_seconds / (mega(self.bytes) / 1000.0)
    }
}

#[expect(clippy::cast_precision_loss, reason = "figures to read")]
pub fn mega(number: u64) -> f64 {
    number as f64 / 1e6
}

pub fn run(subject: &Subject, bytes: u64) -> io::Result<Run> {
    let mut place = Place::new("stream")?;
    place.set(BYTES, bytes);
    let before = cpu_of_children();
    let (samples, end) = if *subject == Subject::CccTerminal {
        on_a_terminal(&place)?
    } else {
        as_a_child(subject, &mut place)?
    };
    let cpu = cpu_of_children() - before;

    let broken = |what: String| io::Error::other(format!("{}: {what}", subject.name()));
    let stamp = |name| stamps::one(place.path(), "agent", name);
    let (Some(first), Some(last), Some(bytes), Some(own)) =
        (stamp("first"), stamp("last"), stamp("bytes"), stamp("cpu"))
    else {
        return Err(broken(format!("the agent did not get through: {}", place.errors())));
    };
    let end = if subject.is_ccc() {
        stamps::one(place.path(), "supervisor", "started")
            .ok_or_else(|| broken("there was no review".into()))?
    } else {
        end
    };
    let file = subject.file(&place);
    let written = file.metadata()?;
    if written.is_file() && written.len() < bytes {
        return Err(broken(format!("{} of {bytes} bytes are on disk", written.len())));
    }
    let (mut samples, most) = samples;
    samples.retain(|(at, _)| (first..=last).contains(at));
    Ok(Run {
        bytes,
        #[expect(clippy::cast_precision_loss, reason = "figures to read")]
        seconds: end.saturating_sub(first) as f64 / 1e9,
        cpu_seconds: mega(cpu.saturating_sub(own)),
        resident: samples.into_iter().map(|(_, resident)| resident).collect(),
        most,
    })
}

/// When, and how many kilobytes; and the peak.
type Samples = (Vec<(u64, u64)>, u64);

/// Ends by itself when the process is gone.
fn sample(pid: u32) -> JoinHandle<Samples> {
    thread::spawn(move || {
        let (mut samples, mut most) = (Vec::new(), 0);
        while let Some((resident, peak)) = resident(pid) {
            samples.push((now(), resident));
            most = most.max(peak);
            thread::sleep(Duration::from_millis(20));
        }
        (samples, most)
    })
}

fn as_a_child(subject: &Subject, place: &mut Place) -> io::Result<(Samples, u64)> {
    let mut child = subject.command(place)?.spawn()?;
    // Some readers take the end of their input for the end of the session.
    let input = child.stdin.take();
    let samples = sample(child.id());
    let status = child.wait()?;
    let end = now();
    drop(input);
    if !status.success() {
        let errors = place.errors();
        return Err(io::Error::other(format!("{}: {status}: {errors}", subject.name())));
    }
    Ok((samples.join().unwrap_or_default(), end))
}

fn on_a_terminal(place: &Place) -> io::Result<(Samples, u64)> {
    let mut terminal = Terminal::start(place, &["--supervisor", "go"])?;
    let samples = sample(terminal.pid);
    while stamps::one(place.path(), "supervisor", "started").is_none() {
        if let Some(status) = terminal.ended() {
            return Err(io::Error::other(format!("on a terminal: {status:?}")));
        }
        thread::sleep(Duration::from_millis(20));
    }
    let end = now();
    // The verdict is on its way; then the session is a person's again, and this one leaves.
    thread::sleep(Duration::from_millis(200));
    terminal.end()?;
    Ok((samples.join().unwrap_or_default(), end))
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
