//! The relay: what a program draws, through ccc onto the person's terminal and into a recording, beside
//! `script`, which does the same.

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
    for _ in 0..options.rounds {
        for (subject, runs) in subjects.iter().zip(&mut runs) {
            runs.push(whole_path::run(subject, &job)?);
        }
    }
    let speed = |runs: &[Run]| median(runs.iter().map(Run::mb_per_second).collect());
    let cost = |runs: &[Run]| median(runs.iter().map(Run::cpu_per_gb).collect());
    let script = runs.get(1).map(|runs| speed(runs));
    let mut table = Table::new(&["relay", "MB/s", "× script", "CPU s/GB", "target"]);
    for (subject, runs) in subjects.iter().zip(&runs) {
        let speed = speed(runs);
        table.row(&[
            subject.name(),
            format!("{speed:.1}"),
            script.map_or("–".into(), |script| format!("{:.2}", speed / script)),
            format!("{:.2}", cost(runs)),
            if subject.is_ours() { "≥ 0.95".into() } else { String::new() },
        ]);
    }
    table.print();
    println!(
        "  {:.0} MB each, median of {}; on a terminal that is read, and recorded\n",
        mega(options.bytes),
        options.rounds
    );
    Ok(())
}
