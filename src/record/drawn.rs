//! What a client draws, on its way from the thread that shows it to the recording. That thread only
//! copies it: it waits for nobody but a disk that has fallen far behind, and wakes the loop once for
//! many pieces.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Pieces that come within this time are one event of the recording.
const MOMENT: Duration = Duration::from_millis(1);
/// A longer event would have to wait in memory as a whole.
const LONGEST: usize = 64 << 10;
/// So much is worth waking the loop for at once.
const MUCH: usize = 256 << 10;
/// So much waits at most.
const LIMIT: usize = 4 * MUCH;

/// A handle; all clones are the same.
#[derive(Clone, Default)]
pub struct Drawn(Arc<Shared>);

#[derive(Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    room: Condvar,
}

#[derive(Default)]
struct Waiting {
    pieces: Pieces,
    /// Nobody records it.
    off: bool,
}

/// Bytes, and where in them something new begins, and when that was drawn.
#[derive(Default)]
pub(super) struct Pieces {
    bytes: Vec<u8>,
    begins: Vec<(usize, Instant)>,
}

/// What the loop has to know.
#[derive(Debug, PartialEq, Eq)]
pub enum Waits {
    /// Something waits, where nothing did. There is time.
    Something,
    /// There is no time.
    Much,
}

impl Drawn {
    pub fn add(&self, bytes: &[u8], now: Instant) -> Option<Waits> {
        let mut waiting = self.lock();
        if waiting.off || bytes.is_empty() {
            return None;
        }
        while waiting.pieces.bytes.len() >= LIMIT && !waiting.off {
            waiting = self.0.room.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        let Pieces { bytes: all, begins } = &mut waiting.pieces;
        let before = all.len();
        let goes_on = begins.last().is_some_and(|(at, when)| {
            before + bytes.len() - at <= LONGEST && now.saturating_duration_since(*when) < MOMENT
        });
        if !goes_on {
            begins.push((before, now));
        }
        all.extend_from_slice(bytes);
        match before {
            0 => Some(Waits::Something),
            before if before < MUCH && all.len() >= MUCH => Some(Waits::Much),
            _ => None,
        }
    }

    /// Everything that waits, in exchange for what was taken before and is done with.
    pub(super) fn take(&self, done: &mut Pieces) {
        done.bytes.clear();
        done.begins.clear();
        std::mem::swap(&mut self.lock().pieces, done);
        self.0.room.notify_one();
    }

    /// Nobody takes anything any more.
    pub(super) fn switch_off(&self) {
        *self.lock() = Waiting { off: true, ..Waiting::default() };
        self.0.room.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pieces {
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// When each was drawn, and what.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Instant, &[u8])> {
        let ends = self.begins.iter().skip(1).map(|(at, _)| *at).chain([self.bytes.len()]);
        self.begins.iter().zip(ends).map(|((at, when), end)| (*when, &self.bytes[*at..end]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(drawn: &Drawn) -> Vec<Vec<u8>> {
        let mut pieces = Pieces::default();
        drawn.take(&mut pieces);
        pieces.iter().map(|(_, bytes)| bytes.to_vec()).collect()
    }

    #[test]
    fn what_is_drawn_at_once_is_one_event_and_the_loop_is_woken_once() {
        let (drawn, start) = (Drawn::default(), Instant::now());
        assert_eq!(drawn.add(b"a", start), Some(Waits::Something));
        assert_eq!(drawn.add(b"b", start + MOMENT / 2), None);
        assert_eq!(drawn.add(b"c", start + MOMENT), None);
        assert_eq!(taken(&drawn), [b"ab".to_vec(), b"c".to_vec()]);
        assert_eq!(drawn.add(b"d", start + MOMENT), Some(Waits::Something));
        assert_eq!(taken(&drawn), [b"d".to_vec()]);
        assert!(taken(&drawn).is_empty());
    }

    #[test]
    fn a_flood_wakes_the_loop_before_it_has_to_wait() {
        let (drawn, start) = (Drawn::default(), Instant::now());
        let piece = vec![b'x'; 4 << 10];
        let woken: Vec<_> =
            (0..LIMIT / piece.len()).filter_map(|_| drawn.add(&piece, start)).collect();
        assert_eq!(woken, [Waits::Something, Waits::Much]);
        let events = taken(&drawn);
        assert!(events.iter().all(|event| event.len() <= LONGEST));
        assert_eq!(events.concat().len(), LIMIT);
    }

    #[test]
    fn who_has_to_wait_goes_on_when_there_is_room_or_nobody_records() {
        for free in [|drawn: &Drawn| drawn.take(&mut Pieces::default()), Drawn::switch_off] {
            let (drawn, start) = (Drawn::default(), Instant::now());
            drawn.add(&vec![b'x'; LIMIT], start);
            let other = drawn.clone();
            let waiter = std::thread::spawn(move || other.add(b"y", start));
            free(&drawn);
            waiter.join().unwrap();
        }
    }
}
