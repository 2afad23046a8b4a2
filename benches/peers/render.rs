//! How fast a text is shown while it is being written: partial messages as fast as they are taken.
//! Everybody is on a terminal that is read; `script` shows the lines as they are.

use std::io;

use super::options::Options;
use super::prose::ORDINARY;
use super::subject::Subject;
use super::table::Table;
use super::whole_path::{self, Job, Run, Stream, median, mega};

/// Bytes of text in one message that does not end for long.
const LONG_MESSAGE: u64 = 256 << 10;

pub fn print(options: &Options, subjects: &[Subject]) -> io::Result<()> {
    let has = |subject: &Subject| subjects.contains(subject);
    let wanted = [Subject::Ccc("text"), Subject::Script, Subject::ReadOnly];
    let mut rows = vec![(Subject::CccTerminal, ORDINARY), (Subject::CccTerminal, LONG_MESSAGE)];
    rows.extend(wanted.into_iter().filter(has).map(|subject| (subject, ORDINARY)));
    let mut runs: Vec<Vec<Run>> = rows.iter().map(|_| Vec::new()).collect();
    for round in 0..=options.rounds {
        let mut order: Vec<_> = (0..rows.len()).collect();
        order.rotate_left(round % rows.len());
        for at in order {
            let (subject, message) = &rows[at];
            let stream = Stream::Prose { message: *message };
            // The first round is for warming up.
            let bytes = if round == 0 { 1 << 20 } else { options.render_bytes };
            let run =
                whole_path::run(subject, &Job { stream, bytes, record: true, watched: true })?;
            if round > 0 {
                runs[at].push(run);
            }
        }
    }
    let script = rows.iter().position(|(subject, _)| *subject == Subject::Script);
    let of = |runs: &[Run], figure: fn(&Run) -> f64| median(runs.iter().map(figure).collect());
    let speed = |run: &Run| mega(run.bytes) / run.written_seconds;
    let beside = script.map(|at| of(&runs[at], speed));
    let mut table = Table::new(&[
        "partial messages",
        "MB/s taken",
        "× script",
        "until shown",
        "CPU s",
        "MB on screen",
        "peak MB",
        "target",
    ]);
    for ((subject, message), runs) in rows.iter().zip(&runs) {
        let taken = of(runs, speed);
        let name = match *message {
            LONG_MESSAGE => format!("{}, {} KB in one", subject.name(), message >> 10),
            _ => subject.name(),
        };
        table.row(&[
            name,
            format!("{taken:.1}"),
            beside.map_or("–".into(), |script| format!("{:.2}", taken / script)),
            format!("{:.1}", of(runs, Run::mb_per_second)),
            format!("{:.2}", of(runs, |run| run.cpu_seconds)),
            format!("{:.2}", of(runs, |run| mega(run.shown))),
            format!("{:.1}", of(runs, |run| mega(run.most * 1024))),
            if *subject == Subject::CccTerminal { "≥ 20".into() } else { String::new() },
        ]);
    }
    table.print();
    println!(
        "  {:.0} MB each in messages of {} KB of Markdown, median of {}; taken: by the agent's own \
         clock; until shown: until the reader is through; CPU without the agent's\n",
        mega(options.render_bytes),
        ORDINARY >> 10,
        options.rounds
    );
    Ok(())
}
