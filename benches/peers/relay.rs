//! The relay: what a program draws, through ccc onto the person's terminal and into a recording, beside
//! `script`, which writes the same bytes without their times and hands them to the system at once (`-f`), as
//! ccc does within 20 ms.

use std::io;

use super::options::Options;
use super::subject::Subject;
use super::table::Table;
use super::whole_path::{self, Job, Run, median, mega};

pub fn print(options: &Options, subjects: &[Subject]) -> io::Result<()> {
    let mut subjects: Vec<Subject> =
        subjects.iter().filter(|subject| **subject == Subject::Script).cloned().collect();
    subjects.insert(0, Subject::Native);
    let mut runs: Vec<Vec<Run>> = subjects.iter().map(|_| Vec::new()).collect();
    let job = Job { watched: true, ..Job::mixed(options.bytes) };
    for round in 0..options.pairs {
        let mut order: Vec<_> = subjects.iter().zip(&mut runs).collect();
        // Each goes first as often as the other, because a file may still be on its way to the disk.
        if round % 2 == 1 {
            order.reverse();
        }
        for (subject, runs) in order {
            runs.push(whole_path::run(subject, &job)?);
        }
    }
    let mut table = Table::new(&[
        "relay",
        "MB/s",
        "× script",
        "in all rounds",
        "CPU s/GB",
        "× script",
        "target",
    ]);
    for (subject, own) in subjects.iter().zip(&runs) {
        // Round by round: what disturbs the machine lasts longer than a run.
        let beside = |of: fn(&Run) -> f64| {
            let script = runs.get(1).into_iter().flatten();
            let mut ratios: Vec<f64> =
                own.iter().zip(script).map(|(run, script)| of(run) / of(script)).collect();
            ratios.sort_by(f64::total_cmp);
            ratios
        };
        let (speeds, costs) = (beside(Run::mb_per_second), beside(Run::cpu_per_gb));
        let range = |ratios: &[f64]| {
            let ends = ratios.first().zip(ratios.last());
            ends.map_or("–".into(), |(least, most)| format!("{least:.2} to {most:.2}"))
        };
        table.row(&[
            subject.name(),
            format!("{:.1}", median(own.iter().map(Run::mb_per_second).collect())),
            format!("{:.2}", median(speeds.clone())),
            range(&speeds),
            format!("{:.2}", median(own.iter().map(Run::cpu_per_gb).collect())),
            format!("{:.2}", median(costs)),
            if subject.is_ours() { "≥ 0.95".into() } else { String::new() },
        ]);
    }
    table.print();
    println!(
        "  {:.0} MB each, median of {}; on a terminal that is read, and recorded\n",
        mega(options.bytes),
        options.pairs
    );
    Ok(())
}
