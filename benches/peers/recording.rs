//! What the recording costs: the same session with it and without, one after the other.

use std::io;

use super::options::Options;
use super::prose::ORDINARY;
use super::subject::Subject;
use super::table::Table;
use super::whole_path::{self, Job, Run, Stream, median, mega};

/// A session with the recording, and one without.
struct Pair {
    with: Run,
    without: Run,
}

impl Pair {
    fn time(&self) -> f64 {
        percent(self.with.seconds / self.without.seconds)
    }

    fn cpu(&self) -> f64 {
        percent(self.with.cpu_seconds / self.without.cpu_seconds)
    }
}

fn percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

pub fn print(options: &Options) -> io::Result<()> {
    let prose = Stream::Prose { message: ORDINARY };
    let rows = [
        ("stream-json, all sizes", Subject::Ccc("stream-json"), Stream::Mixed, options.bytes),
        ("stream-json, partial messages", Subject::Ccc("stream-json"), prose, options.render_bytes),
        ("on a terminal, all sizes", Subject::CccTerminal, Stream::Mixed, options.bytes),
        ("on a terminal, partial messages", Subject::CccTerminal, prose, options.render_bytes),
    ];
    let mut pairs: [Vec<Pair>; 4] = Default::default();
    for round in 0..=options.pairs {
        for ((_, subject, stream, bytes), pairs) in rows.iter().zip(&mut pairs) {
            // The first round is for warming up.
            let bytes = if round == 0 { bytes / 8 } else { *bytes };
            let run = |record| {
                whole_path::run(subject, &Job { stream: *stream, bytes, record, watched: false })
            };
            let pair = if round % 2 == 0 {
                let with = run(true)?;
                Pair { with, without: run(false)? }
            } else {
                let without = run(false)?;
                Pair { with: run(true)?, without }
            };
            if round > 0 {
                pairs.push(pair);
            }
        }
    }
    let mut table = Table::new(&[
        "recording",
        "MB/s with",
        "without",
        "time, best of all",
        "median pair",
        "least",
        "most",
        "CPU, median",
        "pairs",
        "target",
    ]);
    for ((name, ..), pairs) in rows.iter().zip(&pairs) {
        let speed = |run: fn(&Pair) -> &Run| {
            median(pairs.iter().map(|pair| run(pair).mb_per_second()).collect())
        };
        // What disturbs a session only ever makes it slower.
        let best = |run: fn(&Pair) -> &Run| {
            pairs.iter().map(|pair| run(pair).seconds).fold(f64::INFINITY, f64::min)
        };
        let mut times: Vec<_> = pairs.iter().map(Pair::time).collect();
        times.sort_by(f64::total_cmp);
        let show =
            |value: Option<&f64>| value.map_or("–".into(), |value| format!("{value:+.1} %"));
        table.row(&[
            (*name).to_owned(),
            format!("{:.1}", speed(|pair| &pair.with)),
            format!("{:.1}", speed(|pair| &pair.without)),
            show(Some(&percent(best(|pair| &pair.with) / best(|pair| &pair.without)))),
            show(Some(&median(times.clone()))),
            show(times.first()),
            show(times.last()),
            show(Some(&median(pairs.iter().map(Pair::cpu).collect()))),
            pairs.len().to_string(),
            "< +5 %".into(),
        ]);
    }
    table.print();
    println!(
        "  {:.0} MB of all sizes, {:.0} MB of partial messages; each pair one after the other, the \
         first of it by turns\n",
        mega(options.bytes),
        mega(options.render_bytes)
    );
    Ok(())
}
