//! The whole path: agent bytes → lines → messages → screen and files. Throughput, CPU and memory.
//!
//! Time runs from the agent's first byte until the reader is through: until it has exited, or for
//! ccc, which goes on with a review, until the review's process runs. CPU is that of all processes
//! of the reader; what the agent itself has used is taken off.

use std::io;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::measure::{cpu_of_children, now, resident};
use super::place::{BYTES, LONG, Place};
use super::stamps;
use super::subject::Subject;
use super::terminal::{Shown, Terminal};

/// What is to be got through, and how.
#[derive(Debug, Clone, Copy)]
pub struct Job {
    pub stream: Stream,
    pub bytes: u64,
    /// ccc's own recording; the others cannot do without.
    pub record: bool,
    /// Everybody's screen is a terminal, and not only that of the ccc that needs one.
    pub watched: bool,
}

#[derive(Debug, Clone, Copy)]
pub enum Stream {
    /// Lines of all sizes.
    Mixed,
    /// Partial messages, and after so many bytes of text the whole message.
    Prose { message: u64 },
}

impl Job {
    pub fn mixed(bytes: u64) -> Self {
        Self { stream: Stream::Mixed, bytes, record: true, watched: false }
    }
}

pub struct Run {
    pub bytes: u64,
    /// Until the reader is through.
    pub seconds: f64,
    /// Until the agent has got rid of its last byte.
    pub written_seconds: f64,
    pub cpu_seconds: f64,
    /// Kilobytes, at even distances in time while the stream ran.
    pub resident: Vec<u64>,
    pub most: u64,
    /// Bytes on the terminal, where there was one.
    pub shown: u64,
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

pub fn run(subject: &Subject, job: &Job) -> io::Result<Run> {
    let mut place = match job.stream {
        Stream::Mixed => Place::new("stream")?,
        Stream::Prose { message } => {
            let mut place = Place::new("prose")?;
            place.set(LONG, message);
            place
        }
    };
    place.set(BYTES, job.bytes);
    let before = cpu_of_children();
    let Watched { samples: (mut samples, most), end, shown } = if *subject == Subject::CccTerminal {
        with_a_person(&mut place, job)?
    } else if job.watched {
        on_a_terminal(subject, &mut place, job)?
    } else {
        as_a_child(subject, &mut place, job)?
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
    if !subject.is_ours() || job.record {
        let written = subject.file(&place).metadata()?;
        if written.is_file() && written.len() < bytes {
            return Err(broken(format!("{} of {bytes} bytes are on disk", written.len())));
        }
    }
    let prose = matches!(job.stream, Stream::Prose { .. });
    if prose && shown.is_some_and(|shown| !shown.end) && *subject != Subject::ReadOnly {
        return Err(broken("the end of the text was not on the screen".into()));
    }
    samples.retain(|(at, _)| (first..=last).contains(at));
    Ok(Run {
        bytes,
        seconds: seconds(first, end),
        written_seconds: seconds(first, last),
        cpu_seconds: mega(cpu.saturating_sub(own)),
        resident: samples.into_iter().map(|(_, resident)| resident).collect(),
        most,
        shown: shown.map_or(0, |shown| shown.bytes),
    })
}

#[expect(clippy::cast_precision_loss, reason = "figures to read")]
fn seconds(from: u64, to: u64) -> f64 {
    to.saturating_sub(from) as f64 / 1e9
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

struct Watched {
    samples: Samples,
    end: u64,
    shown: Option<Shown>,
}

fn as_a_child(subject: &Subject, place: &mut Place, job: &Job) -> io::Result<Watched> {
    let mut child = subject.command(place, job.record)?.spawn()?;
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
    Ok(Watched { samples: samples.join().unwrap_or_default(), end, shown: None })
}

fn on_a_terminal(subject: &Subject, place: &mut Place, job: &Job) -> io::Result<Watched> {
    let terminal = Terminal::start(subject.on_a_terminal(place, job.record)?)?;
    let samples = sample(terminal.pid);
    let (status, shown) = terminal.wait()?;
    let end = now();
    if !status.success() {
        return Err(io::Error::other(format!("{}: {status:?}", subject.name())));
    }
    Ok(Watched { samples: samples.join().unwrap_or_default(), end, shown: Some(shown) })
}

fn with_a_person(place: &mut Place, job: &Job) -> io::Result<Watched> {
    let command = Subject::CccTerminal.on_a_terminal(place, job.record)?;
    let mut terminal = Terminal::start(command)?;
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
    let shown = terminal.end()?;
    Ok(Watched { samples: samples.join().unwrap_or_default(), end, shown: Some(shown) })
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
