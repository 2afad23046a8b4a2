//! Notices what the person types while a review runs: the client queues the message and notes that in
//! the transcript. The message goes first, so the review is dropped. Also notices that the client is gone,
//! killed or with its terminal closed: then nobody waits for the review, and it must not go on at a cost.

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
            std::thread::sleep(LOOK_AGAIN);
            if nobody_reads(console::stdout()) {
                log::warn!("the client is gone, and so is this review");
                // As by the SIGTERM with which a client ends its hooks: the shims end what is below them.
                std::process::exit(0);
            }
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

/// Whether the other end of a pipe or socket is closed.
fn nobody_reads(out: impl AsFd) -> bool {
    let mut out = [PollFd::new(out.as_fd(), PollFlags::empty())];
    let closed = PollFlags::POLLERR | PollFlags::POLLHUP;
    poll(&mut out, PollTimeout::ZERO).is_ok()
        && out[0].revents().is_some_and(|seen| seen.intersects(closed))
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_closed_end_is_noticed_and_a_file_has_none() {
        let (reader, writer) = io::pipe().unwrap();
        assert!(!nobody_reads(&writer));
        drop(reader);
        assert!(nobody_reads(&writer));
        let (one, other) = UnixStream::pair().unwrap();
        assert!(!nobody_reads(&one));
        drop(other);
        assert!(nobody_reads(&one));
        assert!(!nobody_reads(tempfile::tempfile().unwrap()));
    }
}
