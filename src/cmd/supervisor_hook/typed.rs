//! Notices what the person types while a review runs: the client queues the message and notes that in
//! the transcript. The message goes first, so the review is dropped. Also notices that the client is gone.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded, never};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::console;
use crate::hook::transcript_file::TranscriptFile;
use crate::threads::named;

const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The receiver gets a message as soon as the person has typed something, and then again at each
/// receive, because the checks and the judge wait on it one after the other. The thread ends with the process.
pub fn watch(mut transcript: TranscriptFile) -> Receiver<Instant> {
    let (send, typed) = bounded(1);
    let watch = move || {
        loop {
            transcript.read_on();
            if transcript.transcript().waiting().next().is_some() {
                let typed_at = Instant::now();
                while send.send(typed_at).is_ok() {}
                return;
            }
            if nobody_reads_the_reply() {
                log::warn!("supervisor-hook: claude is gone; the review ends");
                // The shims end the judge and the checks.
                std::process::exit(0);
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    };
    match named("typed", watch) {
        Ok(()) => typed,
        Err(error) => {
            log::warn!("ccc cannot see what is typed during the review: {error}");
            never()
        }
    }
}

/// A client that ends in order ends its hooks; one that was killed leaves them running.
fn nobody_reads_the_reply() -> bool {
    let stdout = console::stdout();
    let mut fds = [PollFd::new(stdout.as_fd(), PollFlags::empty())];
    poll(&mut fds, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
}
