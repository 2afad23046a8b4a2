//! `ccc replay`: scripted and recorded sessions, to look at or to check.

mod check;
mod junit;
mod show;
mod stop;
pub mod targets;

use std::path::Path;

use anyhow::{Context, Result};

use super::looks;
use crate::cli::OutputFormat;
use crate::cli::replay::ReplayArgs;
use crate::fixture::{Pace, Performance, Script, perform};
use crate::surface::{JsonSurface, StreamJsonSurface, Surface, TextSurface};
use stop::Stop;
use targets::Target;

/// A single fixture ends with the loop's own exit code; of several, all have to go as they say.
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
                let performance = play(file, pace, surface.as_mut(), &stop)?;
                if let Some(failure) = performance.failure.filter(|_| stop.seen().is_none()) {
                    eprintln!("ccc: {}: {failure:#}", file.display());
                    code = 1;
                } else if targets.len() == 1 {
                    code = performance.report.exit_code;
                }
            }
            Target::Recording { name, dir } => {
                let show = show::Show {
                    pace,
                    idle_limit: std::time::Duration::from_secs_f64(args.idle_limit),
                    stop: &stop,
                };
                let shown = show.recording(dir, || surface(args.output_format))?;
                if let Some(differences) = shown {
                    eprintln!("ccc: {name}: {differences}");
                }
            }
        }
        if let Some(signal) = stop.seen() {
            return Ok(128 + signal);
        }
    }
    Ok(code)
}

fn surface(format: OutputFormat) -> Box<dyn Surface> {
    let out = std::io::stdout();
    match format {
        OutputFormat::Text => Box::new(TextSurface::new(out, looks::plain())),
        OutputFormat::StreamJson => Box::new(StreamJsonSurface::new(out)),
        OutputFormat::Json => Box::new(JsonSurface::new(out)),
    }
}

fn play(file: &Path, pace: Pace, surface: &mut dyn Surface, stop: &Stop) -> Result<Performance> {
    let script = Script::load(file)?;
    perform_script(&script, pace, surface, stop)
}

fn perform_script(
    script: &Script,
    pace: Pace,
    surface: &mut dyn Surface,
    stop: &Stop,
) -> Result<Performance> {
    let ccc = std::env::current_exe().context("ccc cannot find its own executable")?;
    let performance = perform(script, ccc, pace, surface, |to_control| {
        stop.hand_to(Some(to_control));
        Ok(())
    });
    stop.hand_to(None);
    performance
}
