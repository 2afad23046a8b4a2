//! A list on the terminal to choose from with the arrow keys or by searching, before a session begins.

use std::io::Write;

use anyhow::{Result, bail};
use crossterm::event::{Event, KeyEventKind, read};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode, size};

use crate::console;
use crate::surface::{Look, Picked, Picker};

/// Restores the terminal when dropped, whatever happens.
struct Raw;

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = disable_raw_mode();
    }
}

pub fn pick(mut picker: Picker, look: Look) -> Result<usize> {
    enable_raw_mode()?;
    let _raw = Raw;
    let mut drawn = 0;
    loop {
        let (columns, rows) = size().unwrap_or((80, 24));
        let mut out = cleared(drawn);
        let lines = picker.rows((usize::from(columns), usize::from(rows)), look.glyphs);
        for line in &lines {
            line.write(look.colour, &mut out);
            out.extend(b"\r\n");
        }
        drawn = lines.len();
        show(&out)?;
        let Event::Key(key) = read()? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        match picker.key(key) {
            Picked::Nothing => {}
            Picked::Entry(at) => {
                show(&cleared(drawn))?;
                return Ok(at);
            }
            Picked::Cancelled => {
                show(&cleared(drawn))?;
                bail!("cancelled; nothing was started");
            }
        }
    }
}

fn cleared(rows: usize) -> Vec<u8> {
    if rows == 0 { Vec::new() } else { format!("\x1b[{rows}A\r\x1b[J").into_bytes() }
}

fn show(bytes: &[u8]) -> Result<()> {
    let mut out = console::stdout();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}
