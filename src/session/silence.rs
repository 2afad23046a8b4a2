//! A client that says nothing for long. It may be at work on something long, or wait for what will
//! never come; from outside nobody can tell. So it is said, and said again less and less often.

use std::time::Duration;

use super::Session;
use crate::event::{Notice, Now};

/// No tool of the client runs longer without a word, unless it was asked to.
const LONG: Duration = Duration::from_secs(5 * 60);

#[derive(Debug, Default)]
pub struct Silence {
    /// Since when, while the client is the one to say something.
    since: Option<Now>,
    told: u32,
}

impl Silence {
    /// The client said something, or it is not its turn.
    pub fn broken(&mut self) {
        *self = Self::default();
    }

    /// It is the client's turn.
    pub fn goes_on(&mut self, now: Now) {
        self.since.get_or_insert(now);
    }

    /// When there is something to tell.
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
    /// A person who is asked something may take as long as they like.
    pub(super) fn notice_silence(&mut self) {
        let now = self.now();
        if !self.machine.is_busy() {
            return self.silence.broken();
        }
        self.silence.goes_on(now);
        if let Some(notice) = self.silence.notice(now) {
            if self.machine.status().questions > 0 {
                self.silence.broken();
            } else {
                self.surface.notice(&notice);
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
            silence.goes_on(minute(now));
            told.extend(silence.notice(minute(now)).map(|notice| (now, notice)));
        }
        let at = |minutes: u64| (minutes, Notice::Silent { seconds: minutes * 60 });
        assert_eq!(told, [5, 10, 20, 40, 80].map(at));
        silence.broken();
        assert_eq!((silence.due(), silence.notice(minute(200))), (None, None));
        silence.goes_on(minute(200));
        assert_eq!(silence.due(), Some(minute(205)));
    }
}
