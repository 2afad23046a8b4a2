//! `ccc init`: a SUPERVISOR.md to start from.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::place::Place;
use crate::{files, instructions};

pub fn run(global: bool) -> Result<i32> {
    let place = Place::find()?;
    let dir = if global { &place.config_dir } else { &place.project };
    write(&dir.join(instructions::FILE))?;
    Ok(0)
}

pub fn write(path: &Path) -> Result<()> {
    match files::create_new(path, instructions::DEFAULT.as_bytes(), 0o644) {
        Ok(()) => {
            println!("Wrote {}. Edit it to say what counts as done here.", path.display());
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("{} is there already; it was left as it is", path.display())
        }
        Err(error) => Err(error).with_context(|| format!("cannot write {}", path.display())),
    }
}
