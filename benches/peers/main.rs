//! `cargo bench --bench peers`: ccc beside the programs it can be compared with, in one run, as a
//! table. It measures and prints; it never fails because something was slow.
//!
//! The program plays all the others too: see `fake.rs`.

#[path = "../../tests/support/asciinema.rs"]
mod asciinema;
mod bare;
mod echo;
mod fake;
mod hour;
mod idle;
mod lines;
mod measure;
mod options;
mod place;
mod prose;
mod recording;
mod relay;
mod render;
mod stamps;
mod subject;
mod table;
mod terminal;
mod turn;
mod whole_path;

use std::io;
use std::process::ExitCode;

use options::{HELP, Options};
use subject::Subject;
use table::Table;
use whole_path::{Job, Run, median, mega};

fn main() -> ExitCode {
    let outcome = fake::play().unwrap_or_else(|| {
        let options = match Options::parse(std::env::args().skip(1)) {
            Ok(options) => options,
            Err(error) => {
                println!("{error}\n\n{HELP}");
                return if error.is_empty() { Ok(()) } else { Err(io::Error::other(error)) };
            }
        };
        measure_all(&options)
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("broken: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure_all(options: &Options) -> io::Result<()> {
    let subjects = header(options);
    if options.wants("throughput") {
        throughput(options, &subjects)?;
    }
    if options.wants("memory") {
        memory(options, &subjects)?;
    }
    if options.wants("turn") {
        turn::print(options)?;
    }
    if options.wants("idle") {
        idle::print(options, &subjects)?;
    }
    if options.wants("echo") {
        echo::print(options, &subjects)?;
    }
    if options.wants("relay") {
        relay::print(options, &subjects)?;
    }
    if options.wants("render") {
        render::print(options, &subjects)?;
    }
    if options.wants("recording") {
        recording::print(options)?;
    }
    if options.wants("recording") || options.wants("hour") {
        hour::print(options)?;
    }
    Ok(())
}

fn header(options: &Options) -> Vec<Subject> {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("\nccc {} beside its peers, on {cores} cores", env!("CARGO_PKG_VERSION"));
    println!("  stream: lines of 300 B to 5 MB, each size with the same share of the bytes");
    let mut subjects =
        vec![Subject::CccTerminal, Subject::Ccc("text"), Subject::Ccc("stream-json")];
    match subject::script() {
        Ok(version) => {
            println!("  {version}");
            subjects.push(Subject::Script);
        }
        Err(reason) => println!("  script: not available: {reason}"),
    }
    match asciinema::asciinema(options.install) {
        Ok((program, version)) => {
            println!("  {version}");
            subjects.push(Subject::Asciinema(program));
        }
        Err(reason) => println!("  asciinema 3: not available: {reason}"),
    }
    subjects.push(Subject::ReadOnly);
    println!();
    subjects
}

fn throughput(options: &Options, subjects: &[Subject]) -> io::Result<()> {
    let mut runs: Vec<Vec<Run>> = subjects.iter().map(|_| Vec::new()).collect();
    // In turns, so that a busy moment of the machine does not hit one subject alone.
    for _ in 0..options.rounds {
        for (subject, runs) in subjects.iter().zip(&mut runs) {
            runs.push(whole_path::run(subject, &Job::mixed(options.bytes))?);
        }
    }
    let speed = |runs: &[Run]| median(runs.iter().map(Run::mb_per_second).collect());
    let cost = |runs: &[Run]| median(runs.iter().map(Run::cpu_per_gb).collect());
    let script = subjects.iter().position(|subject| *subject == Subject::Script);
    let beside = script.map(|at| (speed(&runs[at]), cost(&runs[at])));
    let mut table =
        Table::new(&["whole path", "MB/s", "× script", "CPU s/GB", "× script", "target"]);
    for (subject, runs) in subjects.iter().zip(&runs) {
        let (speed, cost) = (speed(runs), cost(runs));
        let ratio =
            |of: f64, to: Option<f64>| to.map_or("–".into(), |to| format!("{:.2}", of / to));
        table.row(&[
            subject.name(),
            format!("{speed:.1}"),
            ratio(speed, beside.map(|beside| beside.0)),
            format!("{cost:.2}"),
            ratio(cost, beside.map(|beside| beside.1)),
            if subject.is_ccc() { "≥ 0.8, ≤ 1.8".into() } else { String::new() },
        ]);
    }
    table.print();
    println!(
        "  {:.0} MB each, median of {}; recording and screen are files, or a terminal that is read; asciinema has no screen (headless)\n",
        mega(options.bytes),
        options.rounds
    );
    Ok(())
}

fn memory(options: &Options, subjects: &[Subject]) -> io::Result<()> {
    let mut table = Table::new(&[
        "resident memory, MB",
        "start",
        "1/4",
        "half",
        "3/4",
        "end",
        "peak",
        "target",
    ]);
    for subject in subjects {
        let run = whole_path::run(subject, &Job::mixed(options.memory_bytes))?;
        let mb = |kilobytes: u64| format!("{:.1}", mega(kilobytes * 1024));
        let last = run.resident.len().saturating_sub(1);
        let mut cells = vec![subject.name()];
        for quarter in 0..=4 {
            let sample = run.resident.get(last * quarter / 4);
            cells.push(sample.map_or("–".into(), |kilobytes| mb(*kilobytes)));
        }
        cells.push(if run.most == 0 { "–".into() } else { mb(run.most) });
        cells.push(if subject.is_ccc() { "< 30, flat".into() } else { String::new() });
        table.row(&cells);
    }
    table.print();
    println!("  over {:.0} MB; the reader's own process\n", mega(options.memory_bytes));
    Ok(())
}
