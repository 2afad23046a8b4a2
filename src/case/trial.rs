//! Tries something in a copy of this process, so that what cannot be undone, such as entering a
//! namespace, is only done if it works.

use std::io::{Read, Write};

use anyhow::{Context, Result, bail};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork};

/// The calling process must have only one thread.
pub fn try_in_child(attempt: impl FnOnce() -> Result<()>) -> Result<()> {
    let (mut reason, mut into) = std::io::pipe()?;
    // SAFETY: the process has one thread, so the child may do whatever this one may.
    #[expect(unsafe_code, reason = "only a whole process can be discarded")]
    match unsafe { fork() }.context("no process to try it in")? {
        ForkResult::Child => {
            drop(reason);
            let tried = attempt();
            let text = tried.as_ref().map_or_else(|error| format!("{error:#}"), |()| String::new());
            let _ = into.write_all(text.as_bytes());
            std::process::exit(i32::from(tried.is_err()))
        }
        ForkResult::Parent { child } => {
            drop(into);
            let mut text = String::new();
            let _ = reason.read_to_string(&mut text);
            match waitpid(child, None)? {
                WaitStatus::Exited(_, 0) => Ok(()),
                _ if text.is_empty() => bail!("the attempt ended without a reason"),
                _ => bail!("{text}"),
            }
        }
    }
}
