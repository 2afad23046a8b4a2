//! `ccc replay`: shows or checks scripted and recorded sessions.

mod check;
mod junit;
mod show;
pub mod targets;

use std::path::Path;

use anyhow::{Context, Result};

use super::output::end_of_output;
use super::stop::Stop;
use crate::cli::OutputFormat;
use crate::cli::replay::ReplayArgs;
use crate::console;
use crate::fixture::{LoopRun, Pace, Script, run_on_real_loop};
use crate::process::exit::ended_by;
use crate::surface::look;
use crate::surface::{JsonSurface, StreamJsonSurface, Surface, TextSurface};
use targets::Target;

/// A single fixture exits with the loop's own exit code; several must all go as they say.
pub fn run(args: &ReplayArgs) -> Result<i32> {
    let targets = targets::resolve(&args.targets)?;
    let stop = Stop::listen()?;
    if args.check {
        return check::run(&targets, args.junit.as_deref(), &stop);
    }
    let pace = if args.instant { Pace::Instant } else { Pace::Times(args.speed) };
    let mut code = 0;
    for target in &targets {
        match target {
            Target::Fixture(file) => {
                let mut surface = surface(args.output_format);
                let played = play(file, pace, surface.as_mut(), &stop)?;
                if let Some(failure) = played.failure.filter(|_| stop.seen().is_none()) {
                    console::say(format!("ccc: {}: {failure:#}", file.display()));
                    code = 1;
                } else if targets.len() == 1 {
                    code = played.report.exit_code;
                }
            }
            Target::Recording { name, dir } => {
                let show = show::Show {
                    pace,
                    idle_limit: std::time::Duration::from_secs_f64(args.idle_limit),
                    stop: &stop,
                };
                let shown = show.recording(dir, || surface(args.output_format));
                end_of_output(shown.map(|differences| {
                    if let Some(differences) = differences {
                        console::say(format!("ccc: {name}: {differences}"));
                    }
                }))?;
            }
        }
        if let Some(signal) = stop.seen() {
            return Ok(ended_by(signal));
        }
    }
    Ok(code)
}

fn surface(format: OutputFormat) -> Box<dyn Surface> {
    let out = console::stdout();
    match format {
        OutputFormat::Text => Box::new(TextSurface::new(out, look::plain())),
        OutputFormat::StreamJson => Box::new(StreamJsonSurface::new(out, !console::is_terminal())),
        OutputFormat::Json => Box::new(JsonSurface::new(out)),
    }
}

fn play(file: &Path, pace: Pace, surface: &mut dyn Surface, stop: &Stop) -> Result<LoopRun> {
    let script = Script::load(file)?;
    run_script(&script, pace, surface, stop)
}

fn run_script(
    script: &Script,
    pace: Pace,
    surface: &mut dyn Surface,
    stop: &Stop,
) -> Result<LoopRun> {
    let ccc = std::env::current_exe().context("ccc cannot find its own executable")?;
    let played = run_on_real_loop(script, ccc, pace, surface, |to_control| {
        stop.hand_to(Some(to_control));
        Ok(())
    });
    stop.hand_to(None);
    played
}
