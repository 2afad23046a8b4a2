//! Carries what a client draws from the thread that shows it to the recording. That thread only
//! copies: it waits only if the disk has fallen far behind, and it wakes the loop once for many
//! pieces.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Pieces that arrive within this time become one event of the recording.
const MOMENT: Duration = Duration::from_millis(1);
/// Longest event; a longer one would have to be held in memory as a whole.
const LONGEST_EVENT: usize = 64 << 10;
/// With this many bytes waiting, the loop is woken at once. Many, because whatever the loop computes
/// in a flood is taken from the program that draws; they still fit into a processor's cache.
const MUCH: usize = 512 << 10;
/// With this many bytes waiting, the drawing thread itself has to wait.
const LIMIT: usize = 2 * MUCH;

/// A handle; all clones share the same queue.
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
    /// Recording is off: discard everything.
    off: bool,
}

/// The bytes, and for each piece where it begins and when it was drawn.
#[derive(Default)]
pub(super) struct Pieces {
    bytes: Vec<u8>,
    begins: Vec<(usize, Instant)>,
}

/// How urgently the loop should take what waits.
#[derive(Debug, PartialEq, Eq)]
pub enum Backlog {
    /// The first bytes are waiting; taking them can wait a little.
    Started,
    /// Much is waiting; it should be taken now.
    Large,
}

impl Drawn {
    pub fn add(&self, bytes: &[u8], now: Instant) -> Option<Backlog> {
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
            before + bytes.len() - at <= LONGEST_EVENT
                && now.saturating_duration_since(*when) < MOMENT
        });
        if !goes_on {
            begins.push((before, now));
        }
        all.extend_from_slice(bytes);
        match before {
            0 => Some(Backlog::Started),
            before if before < MUCH && all.len() >= MUCH => Some(Backlog::Large),
            _ => None,
        }
    }

    /// Swaps everything that waits into `done`, which is cleared first so that its memory is
    /// reused.
    pub(super) fn take(&self, done: &mut Pieces) {
        done.bytes.clear();
        done.begins.clear();
        std::mem::swap(&mut self.lock().pieces, done);
        self.0.room.notify_one();
    }

    /// Stops recording: discards what waits, and lets a waiting thread continue.
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

    /// Each piece with the moment at which it was drawn.
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
    fn pieces_drawn_together_are_one_event_and_wake_the_loop_once() {
        let (drawn, start) = (Drawn::default(), Instant::now());
        assert_eq!(drawn.add(b"a", start), Some(Backlog::Started));
        assert_eq!(drawn.add(b"b", start + MOMENT / 2), None);
        assert_eq!(drawn.add(b"c", start + MOMENT), None);
        assert_eq!(taken(&drawn), [b"ab".to_vec(), b"c".to_vec()]);
        assert_eq!(drawn.add(b"d", start + MOMENT), Some(Backlog::Started));
        assert_eq!(taken(&drawn), [b"d".to_vec()]);
        assert!(taken(&drawn).is_empty());
    }

    #[test]
    fn a_flood_wakes_the_loop_before_the_drawing_thread_has_to_wait() {
        let (drawn, start) = (Drawn::default(), Instant::now());
        let piece = vec![b'x'; 4 << 10];
        let woken: Vec<_> =
            (0..LIMIT / piece.len()).filter_map(|_| drawn.add(&piece, start)).collect();
        assert_eq!(woken, [Backlog::Started, Backlog::Large]);
        let events = taken(&drawn);
        assert!(events.iter().all(|event| event.len() <= LONGEST_EVENT));
        assert_eq!(events.concat().len(), LIMIT);
    }

    #[test]
    fn a_waiting_thread_continues_once_there_is_room_or_recording_stops() {
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
