//! The program behind the peers' terminals: it gives back every key. In a flood it prints as fast
//! as it can beside that, and keeps what was typed on the last row, as a program with an input line
//! does: anywhere else it would be gone before a multiplexer draws again.

use std::io::{self, Read, Write};
use std::thread;

use super::{CLEAR, COLUMNS};
use crate::fake::{Count, dir, make_raw, output};
use crate::measure::now;
use crate::place::PART;
use crate::prose::Prose;
use crate::stamps;

pub fn play() -> io::Result<()> {
    make_raw(io::stdin())?;
    let flood = std::env::var(PART).as_deref() == Ok("flood");
    let rows = crossterm::terminal::size()?.1;
    let mut out = output()?;
    if flood {
        // All but the last row scroll.
        write!(out, "\x1b[2J\x1b[1;{}r\x1b[1;1H", rows - 1)?;
        thread::spawn(print_for_ever);
    }
    stamps::add(&dir(), "agent", &[("ready", now())])?;
    let mut keys = io::stdin().lock();
    let mut buffer = [0; 256];
    let mut column = 1;
    loop {
        let Ok(size @ 1..) = keys.read(&mut buffer) else { return Ok(()) };
        let mut key = &buffer[..size];
        // One write each: the kernel does not mix those of two threads.
        let mut echo = Vec::new();
        // Behind a slow route the next letter may come together with it.
        if let Some(at) = memchr::memchr(CLEAR, key) {
            key = &key[at + 1..];
            column = 1;
            if flood {
                write!(echo, "\x1b7\x1b[{rows};1H\x1b[K\x1b8")?;
            } else {
                echo.extend_from_slice(b"\r\x1b[K");
            }
        }
        if flood && !key.is_empty() {
            write!(echo, "\x1b7\x1b[{rows};{column}H")?;
            echo.extend_from_slice(key);
            echo.extend_from_slice(b"\x1b8");
            column += COLUMNS;
        } else {
            echo.extend_from_slice(key);
        }
        out.write_all(&echo)?;
    }
}

fn print_for_ever() -> io::Result<()> {
    let lines = Prose::plain_lines();
    let mut out = output()?;
    let mut count = Count::default();
    loop {
        for line in &lines {
            out.write_all(line)?;
            count.add(line.len() as u64);
        }
    }
}
