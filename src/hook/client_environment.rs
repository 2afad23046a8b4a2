//! The environment that the client was started with, for the processes that the client starts.
//!
//! The client lays the `env` of every settings file over its own environment and hands the result on
//! to its hooks, so that a file in the project, which the agent can write, could name another
//! `PATH`, another client or another limit to the hook. The kernel still knows what the client was
//! started with.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStringExt;

use crate::config::clients::Variables;
use crate::files;

/// At most this many shells stand between the client and its hook.
const MOST_BETWEEN: usize = 6;

/// `None` if the system does not tell, or if ccc did not start the client.
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

/// Replaces our environment by the client's, except for what only its hooks are told: the session and
/// its project directory. The variables that ccc wrote into the settings of this launch stay too, since
/// those settings win over the project's. Returns the names of the variables that the launch was given
/// to reach the model and that are missing here.
pub fn take_on(launch: Option<&str>) -> Vec<String> {
    // Settings can change a variable but not remove it: if this one is absent, ccc did not start the client.
    if launch.is_none() && std::env::var_os(STATE_DIR).is_none() {
        return Vec::new();
    }
    let Some(clients) = of_the_client() else { return Vec::new() };
    let named = std::env::var_os(LAUNCH).filter(|named| !named.is_empty());
    let from_settings = named.is_some_and(|named| launch.is_none_or(|launch| named == launch));
    let own: Variables = std::env::vars_os().collect();
    let given = std::env::var(GIVEN).ok().filter(|_| from_settings);
    let given = Given::read(given.as_deref().unwrap_or_default());
    let settled = settled(&own, &clients, from_settings, &given);
    #[expect(unsafe_code, reason = "first thing in the process, when it has no other thread yet")]
    unsafe {
        for (name, _) in &own {
            if !settled.iter().any(|(kept, _)| kept == name) {
                std::env::remove_var(name);
            }
        }
        for (name, value) in &settled {
            std::env::set_var(name, value);
        }
    }
    given.missing(&settled)
}

fn settled(own: &Variables, clients: &Variables, from_settings: bool, given: &Given) -> Variables {
    let told = |name: &OsStr| {
        [PROJECT, SESSION].iter().any(|told| name == OsStr::new(told))
            || (from_settings && name.as_encoded_bytes().starts_with(b"CCC_"))
    };
    let kept = own.iter().filter(|(name, value)| told(name) || given.holds(name, value));
    let mut settled: Variables = kept.cloned().collect();
    for (name, value) in clients {
        if !told(name) && !settled.iter().any(|(known, _)| known == name) {
            settled.push((name.clone(), value.clone()));
        }
    }
    settled
}

/// The variables that a launch was given to reach the model: their names, and digests of their values.
/// A background session runs in a process that another launch may have started, and the client hands it
/// the variables of the session's own launch; each counts only if its digest shows that it is unchanged.
#[derive(Debug, Default)]
struct Given(Vec<(String, String)>);

impl Given {
    fn read(text: &str) -> Self {
        let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
        Self(pairs.map(|(name, digest)| (name.to_owned(), digest.to_owned())).collect())
    }

    fn holds(&self, name: &OsStr, value: &OsStr) -> bool {
        let known = self.0.iter().find(|(known, _)| name == OsStr::new(known));
        known.is_some_and(|(known, digest)| *digest == digest_of(known, value))
    }

    /// The variables without which the judge would ask another endpoint, or none.
    fn missing(&self, settled: &Variables) -> Vec<String> {
        let is_there = |wanted: &str| {
            settled
                .iter()
                .any(|(name, value)| name == OsStr::new(wanted) && self.holds(name, value))
        };
        let names = self.0.iter().map(|(name, _)| name);
        names.filter(|name| name.starts_with("ANTHROPIC_") && !is_there(name)).cloned().collect()
    }
}

/// The names and digests as text for the settings of a launch, which must not contain keys.
pub fn given(variables: &Variables) -> String {
    let names = |name: &str| {
        ["ANTHROPIC_", "AWS_", "GOOGLE_", "CLAUDE_CODE_USE_", "CLAUDE_CODE_OAUTH_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
            || name.to_ascii_lowercase().ends_with("_proxy")
    };
    let given = variables.iter().filter_map(|(name, value)| {
        let name = name.to_str().filter(|name| names(name) && !value.is_empty())?;
        Some(format!("{name}={}", digest_of(name, value)))
    });
    given.collect::<Vec<_>>().join(",")
}

/// The digest covers the name too, so that two variables with equal values do not show it.
fn digest_of(name: &str, value: &OsStr) -> String {
    files::hex_digest(&[name.as_bytes(), b"=", value.as_encoded_bytes()].concat())
}

pub const GIVEN: &str = "CCC_GIVEN";
pub const LAUNCH: &str = "CCC_LAUNCH";
const STATE_DIR: &str = "CCC_STATE_DIR";
const PROJECT: &str = "CLAUDE_PROJECT_DIR";
const SESSION: &str = "CLAUDE_CODE_SESSION_ID";

/// The client tells the processes it starts that they run inside it; it does not have that variable itself.
fn is_clients(variables: &Variables) -> bool {
    let has = |name: &str| variables.iter().any(|(known, _)| known == OsStr::new(name));
    has(STATE_DIR) && !has("CLAUDECODE")
}

/// Reads a file in one go: files in `/proc` report no size and would otherwise be read in many small pieces.
fn whole(path: &str) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(16 << 10);
    std::fs::File::open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The fourth field of `stat`; the second is a name in parentheses that may contain anything.
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

    #[test]
    fn in_the_background_what_the_launch_was_given_counts_and_nothing_that_was_planted() {
        let variables = |text: &str| read(text.replace(' ', "\0").as_bytes());
        let given = given(&variables("ANTHROPIC_BASE_URL=here ANTHROPIC_API_KEY=k PATH=/bin"));
        assert!(!given.contains("here") && given.matches(',').count() == 1, "{given}");
        let given = Given::read(&given);
        // The environment of the process, which another launch started.
        let clients = variables("PATH=/bin CCC_STATE_DIR=/other ANTHROPIC_BASE_URL=there");
        let hooks = "CCC_STATE_DIR=/p ANTHROPIC_API_KEY=k LD_PRELOAD=/planted";
        for (url, settles, missing) in [("here", "here", 0), ("planted", "there", 1)] {
            let own = variables(&format!("{hooks} ANTHROPIC_BASE_URL={url}"));
            let mut settled = settled(&own, &clients, true, &given);
            settled.sort();
            let expected = variables(&format!(
                "ANTHROPIC_API_KEY=k ANTHROPIC_BASE_URL={settles} CCC_STATE_DIR=/p PATH=/bin"
            ));
            assert_eq!(settled, expected);
            assert_eq!(given.missing(&settled).len(), missing, "{url}");
        }
    }
}
