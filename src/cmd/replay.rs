//! `ccc replay`: scripted sessions, one after the other.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::looks;
use crate::cli::OutputFormat;
use crate::fixture::{Performance, Script, perform};
use crate::session::Control;
use crate::signals;
use crate::surface::{JsonSurface, StreamJsonSurface, Surface, TextSurface};

/// One file ends with the loop's own exit code; of several, all have to go as they say.
pub fn run(files: &[PathBuf], instant: bool, format: OutputFormat) -> Result<i32> {
    let mut code = 0;
    for file in files {
        let performance = play(file, instant, format)?;
        if let Some(failure) = performance.failure {
            eprintln!("ccc: {}: {failure:#}", file.display());
            code = 1;
        } else if files.len() == 1 {
            code = performance.report.exit_code;
        }
    }
    Ok(code)
}

fn play(file: &Path, instant: bool, format: OutputFormat) -> Result<Performance> {
    let script = Script::load(file)?;
    let out = std::io::stdout();
    let mut surface: Box<dyn Surface> = match format {
        OutputFormat::Text => Box::new(TextSurface::new(out, looks::plain())),
        OutputFormat::StreamJson => Box::new(StreamJsonSurface::new(out)),
        OutputFormat::Json => Box::new(JsonSurface::new(out)),
    };
    let ccc = std::env::current_exe().context("ccc cannot find its own executable")?;
    perform(&script, ccc, instant, surface.as_mut(), |to_control| {
        signals::listen(move |signal| to_control.send(Control::Signal(signal)).is_ok())
    })
}
