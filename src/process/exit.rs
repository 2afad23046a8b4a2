//! How a child ended, in words.

use nix::sys::signal::Signal;
use nix::sys::wait::WaitStatus;

use crate::event::{Gone, Outcome};

/// The shim exits with this plus the number of the signal that ended its client, as shells do.
pub const BY_SIGNAL: i32 = 128;

/// ccc's own exit code after a signal.
pub fn ended_by(signal: i32) -> i32 {
    Outcome::Signal(signal).exit_code()
}

pub fn signal_name(signal: i32) -> String {
    Signal::try_from(signal).map_or_else(|_| format!("signal {signal}"), |name| name.to_string())
}

/// How a client behind its shim ended. The shim reports a signal as an exit code, but not every
/// code over 128 is a signal: programs also exit with -1, which is 255.
pub fn gone(code: Option<i32>, signal: Option<i32>) -> Gone {
    let from_shim = code.and_then(signal_in);
    let how = match (signal.map(Signal::try_from), from_shim, code) {
        (Some(Ok(signal)), ..) | (None, Some(signal), _) => format!("was ended by {signal}"),
        (Some(Err(_)), ..) => "was ended by a signal".to_owned(),
        (None, None, Some(code)) => format!("exited with code {code}"),
        (None, None, None) => "ended".to_owned(),
    };
    Gone { how, code, last_words: String::new() }
}

/// The signal that an exit code stands for.
fn signal_in(code: i32) -> Option<Signal> {
    Signal::try_from(code - BY_SIGNAL).ok()
}

/// Whether the client exited by itself. Some clients catch SIGTERM and exit with its code, but leave
/// their tools behind as if it had killed them.
pub fn is_by_itself(status: Option<WaitStatus>) -> bool {
    matches!(status, Some(WaitStatus::Exited(_, code)) if signal_in(code).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_over_128_is_a_signal_only_if_that_signal_exists() {
        for (code, signal, how) in [
            (Some(0), None, "exited with code 0"),
            (Some(7), None, "exited with code 7"),
            (Some(128), None, "exited with code 128"),
            (Some(137), None, "was ended by SIGKILL"),
            (Some(143), None, "was ended by SIGTERM"),
            (Some(200), None, "exited with code 200"),
            (Some(255), None, "exited with code 255"),
            (None, Some(9), "was ended by SIGKILL"),
            (None, None, "ended"),
        ] {
            assert_eq!(gone(code, signal).how, how, "{code:?} {signal:?}");
        }
    }
}
