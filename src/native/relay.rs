//! Passes every byte between the person's terminal and the client's, unchanged, in both directions. Two
//! threads do only this, so that nothing ccc is busy with delays a key.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::threads::named;

/// A read from a PTY returns at most 4 KB.
const BUFFER: usize = 64 << 10;
/// How long `settle` waits for a terminal that takes nothing, and how often it looks.
const PATIENCE: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(10);

/// The way of the client's output to the person.
pub struct Screen {
    from: File,
    writing: Arc<AtomicBool>,
}

/// Passes the person's keys to the client. `on_keys` gets them first: what the client reports because of
/// a key must not overtake the key, or a message that was typed would not count as the person's.
pub fn keys(
    mut from: File,
    mut to: File,
    on_keys: impl Fn(io::Result<Vec<u8>>) -> bool + Send + 'static,
) -> io::Result<()> {
    named("keys", move || {
        let mut buffer = vec![0; BUFFER];
        loop {
            let keys = match from.read(&mut buffer) {
                Ok(0) => Err(io::Error::from(ErrorKind::UnexpectedEof)),
                Ok(size) => Ok(&buffer[..size]),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let _ = wait(&from, PollFlags::POLLIN);
                    continue;
                }
                Err(error) => Err(error),
            };
            let bytes = keys.as_ref().copied().ok();
            let goes_on = on_keys(keys.map(<[u8]>::to_vec));
            let Some(bytes) = bytes.filter(|_| goes_on) else { return };
            // An exited client is noticed by the thread that waits for it.
            let _ = write_all(&mut to, bytes);
        }
    })
}

/// Passes the client's output to the person. `on_output` gets it after it was written; `None` marks the end.
pub fn screen(
    mut from: File,
    mut to: File,
    on_output: impl Fn(Option<io::Result<&[u8]>>) -> bool + Send + 'static,
) -> io::Result<Screen> {
    let writing = Arc::new(AtomicBool::new(false));
    let screen = Screen { from: from.try_clone()?, writing: Arc::clone(&writing) };
    named("screen", move || {
        let mut buffer = vec![0; BUFFER];
        loop {
            match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(size) => {
                    writing.store(true, Ordering::SeqCst);
                    let shown = write_all(&mut to, &buffer[..size]);
                    let goes_on = on_output(Some(shown.map(|()| &buffer[..size])));
                    writing.store(false, Ordering::SeqCst);
                    if !goes_on {
                        return;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // A PTY whose other side is closed returns EIO, which means the same as 0.
                Err(_) => break,
            }
        }
        on_output(None);
    })?;
    Ok(screen)
}

impl Screen {
    /// Waits until everything that a stopped client has drawn is on the person's terminal. The last of it
    /// switches off what the shell cannot handle, such as reports of the mouse.
    pub fn settle(&self) {
        let deadline = Instant::now() + PATIENCE;
        let mut quiet = 0;
        // Looks twice, because the thread may be about to write what it has just read.
        while quiet < 2 && Instant::now() < deadline {
            let mut fds = [PollFd::new(self.from.as_fd(), PollFlags::POLLIN)];
            let waits = poll(&mut fds, PollTimeout::ZERO).is_ok()
                && fds[0].revents().is_some_and(|events| events.contains(PollFlags::POLLIN));
            quiet = if waits || self.writing.load(Ordering::SeqCst) { 0 } else { quiet + 1 };
            sleep(LOOK);
        }
    }
}

fn write_all(to: &mut File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(size) => bytes = &bytes[size..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // Another program may have made this terminal non-blocking for everyone.
            Err(error) if error.kind() == ErrorKind::WouldBlock => wait(to, PollFlags::POLLOUT)?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn wait(file: &File, what: PollFlags) -> io::Result<()> {
    let mut fds = [PollFd::new(file.as_fd(), what)];
    poll(&mut fds, PollTimeout::NONE)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc::channel;

    use nix::pty::{OpenptyResult, openpty};
    use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};
    use nix::unistd::pipe;

    use super::*;
    use crate::process::child::is_readable;

    #[test]
    fn a_key_is_known_before_the_client_can_react_to_it() {
        let pair = || pipe().map(|(from, to)| (File::from(from), File::from(to))).unwrap();
        let (typed, mut keyboard) = pair();
        let (mut client, to_client) = pair();
        let (known, was_known) = channel();
        let seen = client.try_clone().unwrap();
        keys(typed, to_client, move |keys| {
            known.send((keys.ok(), is_readable(&seen, PollTimeout::ZERO))).is_ok()
        })
        .unwrap();
        keyboard.write_all(b"do it\r").unwrap();
        assert_eq!(was_known.recv().unwrap(), (Some(b"do it\r".to_vec()), false));
        let mut sent = [0; 6];
        client.read_exact(&mut sent).unwrap();
        assert_eq!(&sent, b"do it\r");
    }

    fn raw_pty() -> OpenptyResult {
        let pty = openpty(None, None).unwrap();
        let mut modes = tcgetattr(&pty.slave).unwrap();
        cfmakeraw(&mut modes);
        tcsetattr(&pty.slave, SetArg::TCSANOW, &modes).unwrap();
        pty
    }

    #[test]
    fn what_a_stopped_client_drew_is_shown_before_its_screen_is_settled() {
        // More than one PTY holds, and less than two.
        const DRAWN: usize = 18 << 10;
        let (clients, persons) = (raw_pty(), raw_pty());
        let shown = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&shown);
        let screen = screen(clients.master.into(), persons.slave.into(), move |piece| {
            count.fetch_add(piece.map_or(0, |piece| piece.unwrap().len()), Ordering::SeqCst);
            true
        });
        File::from(clients.slave).write_all(&vec![b'x'; DRAWN]).unwrap();
        assert!(shown.load(Ordering::SeqCst) < DRAWN);
        let mut terminal = File::from(persons.master);
        let reader = std::thread::spawn(move || terminal.read_exact(&mut vec![0; DRAWN]));
        screen.unwrap().settle();
        assert_eq!(shown.load(Ordering::SeqCst), DRAWN);
        reader.join().unwrap().unwrap();
    }
}
