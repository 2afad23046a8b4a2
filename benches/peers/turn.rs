//! ccc's own share of a turn: from the agent's `result` to the review's process, and from the
//! verdict to the feedback in the agent's hands. The peer starts the same processes (shim and
//! client) from a bare loop; what ccc takes longer is ccc's own.

use std::io;

use super::measure::at;
use super::options::Options;
use super::place::{CCC, Place, ROLE, TURNS};
use super::stamps;
use super::subject::argv;
use super::table::Table;

const SESSIONS: u64 = 5;

/// Nanoseconds, sorted: result → review, verdict → feedback.
#[derive(Default)]
struct Spans {
    review: Vec<u64>,
    feedback: Vec<u64>,
}

impl Spans {
    fn add(&mut self, more: Self) {
        self.review.extend(more.review);
        self.feedback.extend(more.feedback);
        self.review.sort_unstable();
        self.feedback.sort_unstable();
    }
}

pub fn print(options: &Options) -> io::Result<()> {
    let (mut ccc, mut bare) = (Spans::default(), Spans::default());
    // In turns, so that a busy moment of the machine does not hit one of them alone.
    for _ in 0..SESSIONS {
        ccc.add(turns(options.turns.div_ceil(SESSIONS), true)?);
        bare.add(turns(options.turns.div_ceil(SESSIONS), false)?);
    }
    let mut table = Table::new(&[
        "a turn, in ms",
        "p50",
        "p99",
        "bare loop p50",
        "p99",
        "ccc's share p50",
        "p99",
        "target",
    ]);
    for (name, ccc, bare) in [
        ("result → review's process runs", &ccc.review, &bare.review),
        ("verdict → feedback read by agent", &ccc.feedback, &bare.feedback),
    ] {
        let [c50, c99] = [at(ccc, 50), at(ccc, 99)];
        let [b50, b99] = [at(bare, 50), at(bare, 99)];
        let ms = |value: f64| format!("{value:.2}");
        table.row(&[
            name.into(),
            ms(c50),
            ms(c99),
            ms(b50),
            ms(b99),
            ms(c50 - b50),
            ms(c99 - b50),
            "share < 5".into(),
        ]);
    }
    table.print();
    println!(
        "  {} turns each, in {SESSIONS} sessions; ccc's share: its column less the bare loop's p50\n",
        options.turns
    );
    Ok(())
}

fn turns(count: u64, with_ccc: bool) -> io::Result<Spans> {
    let mut place = Place::new("turns")?;
    place.set(TURNS, count);
    let mut command = if with_ccc {
        let limit = count.to_string();
        let args = ["--supervisor", "--output-format", "text", "--max-iterations", &limit];
        place.command(&argv(CCC, &[&args[..], &["-p", "go"]].concat()))?
    } else {
        place.set(ROLE, "bare loop");
        place.command(&[std::env::current_exe()?.into()])?
    };
    let status = command.status()?;
    if !status.success() {
        return Err(io::Error::other(format!("turns: {status}: {}", place.errors())));
    }
    let stamps = |role, name| stamps::all(place.path(), role, name);
    let spans = Spans {
        review: spans(&stamps("agent", "result"), &stamps("supervisor", "started")),
        // The first message is the prompt, not feedback.
        feedback: spans(
            &stamps("supervisor", "verdict"),
            stamps("agent", "read").get(1..).unwrap_or_default(),
        ),
    };
    if spans.review.len() as u64 != count {
        return Err(io::Error::other(format!("{} of {count} turns", spans.review.len())));
    }
    Ok(spans)
}

fn spans(from: &[u64], to: &[u64]) -> Vec<u64> {
    from.iter().zip(to).map(|(from, to)| to.saturating_sub(*from)).collect()
}
