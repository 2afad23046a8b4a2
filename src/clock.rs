//! The session's clock. It stands still while ccc is stopped (Ctrl-Z, SIGSTOP): that time does not
//! count against a review.
//!
//! A process is not told when it is stopped, only, by SIGCONT, when it continues. So the clock then
//! continues from where it was last read, which is a little before the stop.

use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use signal_hook::consts::SIGCONT;

use crate::event::Now;

/// ccc was continued, and no clock has been read since. The signal handler itself sets it, so that
/// the first thread to run after a stop sees it.
static CONTINUED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// From now on clocks notice when ccc was stopped.
pub fn watch_for_stops() -> io::Result<()> {
    signal_hook::flag::register(SIGCONT, Arc::clone(&CONTINUED)).map(drop)
}

/// A handle to a clock; its clones share that clock.
#[derive(Debug, Clone)]
pub struct Clock(Rc<Ticking>);

#[derive(Debug)]
struct Ticking {
    began: Instant,
    still: Cell<Duration>,
    last: Cell<Duration>,
    continued: Arc<AtomicBool>,
}

impl Clock {
    /// Starts at zero.
    pub fn start() -> Self {
        Self::noticing(Arc::clone(&CONTINUED))
    }

    fn noticing(continued: Arc<AtomicBool>) -> Self {
        Self(Rc::new(Ticking {
            began: Instant::now(),
            still: Cell::default(),
            last: Cell::default(),
            continued,
        }))
    }

    /// Rounded down to microseconds, as in recordings, because a replay must give the machine the
    /// same times.
    pub fn now(&self) -> Now {
        let running = &*self.0;
        let elapsed = running.began.elapsed().saturating_sub(running.still.get());
        if running.continued.swap(false, Ordering::SeqCst) {
            let stopped = elapsed.saturating_sub(running.last.get());
            running.still.set(running.still.get() + stopped);
        } else {
            running.last.set(elapsed);
        }
        let now = running.last.get();
        Duration::new(now.as_secs(), now.subsec_micros() * 1000)
    }
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use super::*;

    #[test]
    fn time_while_stopped_does_not_count() {
        let continued = Arc::new(AtomicBool::new(false));
        let clock = Clock::noticing(Arc::clone(&continued));
        let same = clock.clone();
        let before = clock.now();
        sleep(Duration::from_millis(60));
        let continues = Instant::now();
        continued.store(true, Ordering::SeqCst);
        assert_eq!(same.now(), before);
        sleep(Duration::from_millis(20));
        let after = clock.now();
        assert!(after >= before + Duration::from_millis(20), "{before:?} {after:?}");
        assert!(after <= before + continues.elapsed(), "{before:?} {after:?}");
    }
}
