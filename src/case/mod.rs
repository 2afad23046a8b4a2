//! The glass case: no write by the calling process, or by anything that it starts, stays in the
//! project. The shim enters it before it starts a thread or the client.
//!
//! | kind | how | the project |
//! |---|---|---|
//! | overlay | a separate mount namespace, with an overlay over the project at the same path | can be written; the real files do not change, and what was written vanishes with the last process |
//! | Landlock | the kernel refuses to write outside a few places | cannot be written |
//! | nothing | the machine supports neither | only the rules by name (`review::permission`) protect it |
//!
//! The real files stay writable in all of them for the client's own directory (`~/.claude`),
//! because a renewed login must not be lost, for temporary files, and for devices.

mod covers;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod namespace;
#[cfg(target_os = "linux")]
mod overlay;
#[cfg(target_os = "linux")]
mod signals;
#[cfg(target_os = "linux")]
mod trial;

pub use covers::Covers;

use std::path::PathBuf;

use crate::client::case::{CaseKind, CaseReport};

#[derive(Debug, Default)]
pub struct Entered {
    pub report: CaseReport,
    /// Where temporary files must go, if the usual place is not writable or others can write there
    /// too.
    pub temporary: Option<PathBuf>,
    /// Where tmux looks for its server and creates one. The user's server would run the judge's
    /// commands outside the case.
    pub servers: Option<PathBuf>,
}

/// Enters the best case that this machine supports. The calling process must have only one thread.
#[cfg(target_os = "linux")]
pub fn enter(covers: &Covers) -> Entered {
    let mut entered = enter_best(covers);
    entered.servers = covers.client_dirs.first().cloned();
    if let Err(error) = signals::confine() {
        log::info!("a review can send signals to processes outside it: {error}");
    }
    entered
}

#[cfg(target_os = "linux")]
fn enter_best(covers: &Covers) -> Entered {
    let no_overlay = match overlay::enter(covers) {
        Ok(temporary) => {
            let report = CaseReport { held: CaseKind::Overlay, why: String::new() };
            return Entered { report, temporary, ..Entered::default() };
        }
        Err(error) => error,
    };
    let why = format!("no overlay: {no_overlay:#}");
    match landlock::enter(covers) {
        Ok(temporary) => {
            let report = CaseReport { held: CaseKind::Landlock, why };
            Entered { report, temporary, ..Entered::default() }
        }
        Err(error) => {
            let why = format!("{why}; no Landlock: {error:#}");
            let report = CaseReport { held: CaseKind::Nothing, why };
            Entered { report, ..Entered::default() }
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub fn enter(_covers: &Covers) -> Entered {
    let why = "overlays and Landlock exist only on Linux".to_owned();
    let report = CaseReport { held: CaseKind::Nothing, why };
    Entered { report, ..Entered::default() }
}
