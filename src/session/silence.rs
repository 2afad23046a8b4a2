//! Tells the person, less and less often, when a client has printed nothing for long. It may be
//! busy with something long, or wait for something that never comes; from outside the two look the
//! same.

use std::time::Duration;

use super::Session;
use crate::event::{Notice, Now};

/// No tool of the client stays silent for longer, unless it was asked to.
const LONG: Duration = Duration::from_secs(5 * 60);

#[derive(Debug, Default)]
pub struct Silence {
    /// Since when the client has been silent, while it is its turn.
    since: Option<Now>,
    told: u32,
}

impl Silence {
    /// The client printed something, or it is not its turn.
    pub fn broken(&mut self) {
        *self = Self::default();
    }

    /// It is the client's turn.
    pub fn begin(&mut self, now: Now) {
        self.since.get_or_insert(now);
    }

    /// When the person should be told next.
    pub fn due(&self) -> Option<Now> {
        self.since.map(|since| since + LONG * 2u32.saturating_pow(self.told))
    }

    pub fn notice(&mut self, now: Now) -> Option<Notice> {
        let since = self.since.filter(|_| self.due().is_some_and(|due| due <= now))?;
        self.told += 1;
        Some(Notice::Silent { seconds: now.saturating_sub(since).as_secs() })
    }
}

impl Session<'_> {
    /// While a question is open, the person may take as long as they like.
    pub(super) fn notice_silence(&mut self) {
        let now = self.now();
        if !self.machine.is_busy() {
            return self.silence.broken();
        }
        self.silence.begin(now);
        if let Some(notice) = self.silence.notice(now) {
            if self.machine.status().questions > 0 {
                self.silence.broken();
            } else {
                self.notice(&notice);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_silence_is_told_less_and_less_often() {
        let minute = |minutes: u64| Duration::from_secs(minutes * 60);
        let mut silence = Silence::default();
        let mut told = Vec::new();
        for now in 0..100 {
            silence.begin(minute(now));
            told.extend(silence.notice(minute(now)).map(|notice| (now, notice)));
        }
        let at = |minutes: u64| (minutes, Notice::Silent { seconds: minutes * 60 });
        assert_eq!(told, [5, 10, 20, 40, 80].map(at));
        silence.broken();
        assert_eq!((silence.due(), silence.notice(minute(200))), (None, None));
        silence.begin(minute(200));
        assert_eq!(silence.due(), Some(minute(205)));
    }
}
