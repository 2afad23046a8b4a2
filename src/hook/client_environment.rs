//! The environment that the client was started with, for what the client starts.
//!
//! The client lays the `env` of every settings file over its own environment and hands the result on
//! to its hooks, so that a file in the project, which the agent can write, could name another
//! `PATH`, another client or another limit to the hook. The kernel still knows what the client was
//! started with.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStringExt;

use crate::config::clients::Variables;

/// The shells between the client and its hook.
const MOST_BETWEEN: usize = 6;

/// `None` where the system does not tell, or the client was not started by ccc.
pub fn of_the_client() -> Option<Variables> {
    let mut pid = parent_of("self")?;
    for _ in 0..MOST_BETWEEN {
        let variables = read(&whole(&format!("/proc/{pid}/environ")).ok()?);
        if is_clients(&variables) {
            return Some(variables);
        }
        pid = parent_of(&pid)?;
    }
    None
}

/// Makes the client's environment ours, but for what only its hooks are told: which session it is and
/// where it began. What ccc wrote into the settings of this launch stays too: those win over the
/// project's, and a session in the background runs in the environment of another launch.
pub fn take_on(launch: Option<&str>) {
    // Settings can give a variable another value, but cannot take it away: without this one, no ccc
    // started the client.
    if launch.is_none() && std::env::var_os(STATE_DIR).is_none() {
        return;
    }
    let Some(clients) = of_the_client() else { return };
    let named = std::env::var_os(LAUNCH).filter(|named| !named.is_empty());
    let from_settings = named.is_some_and(|named| launch.is_none_or(|launch| named == launch));
    let told = |name: &OsStr| {
        [PROJECT, SESSION].iter().any(|told| name == OsStr::new(told))
            || (from_settings && name.as_encoded_bytes().starts_with(b"CCC_"))
    };
    #[expect(unsafe_code, reason = "first thing in the process, when it has no other thread yet")]
    for (name, value) in std::env::vars_os() {
        if told(&name) || clients.contains(&(name.clone(), value)) {
            continue;
        }
        unsafe { std::env::remove_var(name) };
    }
    for (name, value) in clients {
        if !told(&name) && std::env::var_os(&name).as_ref() != Some(&value) {
            #[expect(
                unsafe_code,
                reason = "first thing in the process, when it has no other thread yet"
            )]
            unsafe {
                std::env::set_var(name, value);
            }
        }
    }
}

pub const LAUNCH: &str = "CCC_LAUNCH";
const STATE_DIR: &str = "CCC_STATE_DIR";
const PROJECT: &str = "CLAUDE_PROJECT_DIR";
const SESSION: &str = "CLAUDE_CODE_SESSION_ID";

/// What the client starts is told that it runs inside the client; the client itself is not.
fn is_clients(variables: &Variables) -> bool {
    let has = |name: &str| variables.iter().any(|(known, _)| known == OsStr::new(name));
    has(STATE_DIR) && !has("CLAUDECODE")
}

/// A file of the kernel's tells no size, and is otherwise asked for in many small pieces.
fn whole(path: &str) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(16 << 10);
    std::fs::File::open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The fourth word; the second is a name in brackets that may hold anything.
fn parent_of(pid: &str) -> Option<String> {
    let stat = whole(&format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1).map(str::to_owned)
}

fn read(bytes: &[u8]) -> Variables {
    let variables = bytes.split(|byte| *byte == 0).filter_map(|variable| {
        let at = variable.iter().position(|byte| *byte == b'=').filter(|at| *at > 0)?;
        let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        Some((text(&variable[..at]), text(&variable[at + 1..])))
    });
    variables.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_is_read() {
        let read = read(b"A=1\0B=x=y\0\0=odd\0EMPTY=\0");
        let pairs = read.iter().map(|(a, b)| format!("{}>{}", a.display(), b.display()));
        let pairs: Vec<_> = pairs.collect();
        assert_eq!(pairs.join(" "), "A>1 B>x=y EMPTY>");
    }

    #[test]
    fn only_the_client_itself_counts() {
        assert!(is_clients(&read(b"CCC_STATE_DIR=/p\0PATH=/bin\0")));
        assert!(!is_clients(&read(b"CCC_STATE_DIR=/p\0CLAUDECODE=1\0")));
        assert!(!is_clients(&read(b"PATH=/bin\0")));
    }
}
