//! The prompt of a session without a person: an argument, standard input, or both.

use std::io::{IsTerminal, Read};

use anyhow::{Context, Result};

use crate::process::child::is_readable;

/// If the command line has a prompt, standard input only adds to it. The client, too, waits this long for it.
const PATIENCE_MS: u16 = 3000;

pub fn resolve(argument: Option<String>) -> Result<Option<String>> {
    let mut stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Ok(argument);
    }
    if argument.is_some() && !is_readable(&stdin, PATIENCE_MS) {
        return Ok(argument);
    }
    let mut bytes = Vec::new();
    stdin.read_to_end(&mut bytes).context("cannot read the prompt from standard input")?;
    let piped = String::from_utf8(bytes).context("the prompt on standard input is not UTF-8")?;
    let parts: Vec<_> =
        argument.into_iter().chain([piped]).filter(|part| !part.trim().is_empty()).collect();
    Ok((!parts.is_empty()).then(|| parts.join("\n\n").trim_end().to_owned()))
}
