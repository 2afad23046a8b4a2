//! Tells a person who is looking elsewhere: the window's title shows the session's state, and after
//! a long run a bell or a desktop notification says that it waits for them.

use std::path::Path;
use std::time::Duration;

use crate::client::stream::strip_escapes;
use crate::config::Notify;
use crate::console;
use crate::event::{Now, Phase};
use crate::machine::Status;
use crate::surface::notices::round_of;

/// A person who typed this recently is present.
const AWAY: Duration = Duration::from_secs(20);

/// Saves the window's title, and restores it; terminals that do not support this ignore it.
pub const KEEP_TITLE: &str = "\x1b[22;2t";
pub const OLD_TITLE: &str = "\x1b[23;2t";

/// How a person is notified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NotifyMethod {
    #[default]
    Off,
    Bell,
    /// A desktop notification as iTerm, WezTerm, kitty, Ghostty and Windows Terminal understand it,
    /// and the bell.
    Osc9,
    /// A desktop notification for urxvt and foot.
    Osc777,
}

#[derive(Debug, Default)]
pub struct Attention {
    call: NotifyMethod,
    /// The project's name for the window's title; `None` leaves the title alone.
    name: Option<String>,
    shown: String,
    /// Since when the person has been waiting, with no question open.
    busy: Option<Now>,
    typed: Now,
}

impl Attention {
    pub fn chosen(wanted: Notify, project: &Path, set: impl Fn(&str) -> Option<String>) -> Self {
        let call = chosen(wanted, &set);
        // The Linux console would print a title as text.
        let titles = wanted != Notify::Off && set("TERM").is_some_and(|term| term != "linux");
        let name = project.file_name().unwrap_or(project.as_os_str()).to_string_lossy();
        Self::new(call, titles.then(|| name.into_owned()))
    }

    pub fn new(call: NotifyMethod, name: Option<String>) -> Self {
        Self { call, name, ..Self::default() }
    }

    pub fn has_title(&self) -> bool {
        self.name.is_some()
    }

    /// The person pressed a key.
    pub fn typed(&mut self, now: Now) {
        self.typed = now;
    }

    /// Forgets the title after another program had the window.
    pub fn forget(&mut self) {
        self.shown.clear();
    }

    /// The escape sequences to send now.
    pub fn escapes(&mut self, status: &Status, question: Option<&str>, now: Now) -> String {
        let title = self.title(status, question.is_some());
        title + &self.call(status, question, now)
    }

    fn title(&mut self, status: &Status, asked: bool) -> String {
        let Some(name) = &self.name else { return String::new() };
        let state = match (status.phase, round_of(status.phase, status.round, status.max)) {
            (Phase::Ended, _) => return String::new(),
            _ if asked => "question".to_owned(),
            (Phase::Waiting, _) => "ready".to_owned(),
            (Phase::Working, Some(round)) if status.supervising => {
                format!("working {round}/{}", status.max)
            }
            (Phase::Working, _) => "working".to_owned(),
            (Phase::Reviewing, _) => format!("reviewing {}/{}", status.round, status.max),
        };
        let title = plain(&format!("ccc: {state} - {name}"));
        if title == self.shown {
            return String::new();
        }
        self.shown.clone_from(&title);
        format!("\x1b]2;{title}\x07")
    }

    fn call(&mut self, status: &Status, question: Option<&str>, now: Now) -> String {
        let busy = matches!(status.phase, Phase::Working | Phase::Reviewing) && question.is_none();
        if busy {
            self.busy.get_or_insert(now);
            return String::new();
        }
        let Some(since) = self.busy.take() else { return String::new() };
        if now.saturating_sub(since.max(self.typed)) < AWAY || status.phase == Phase::Ended {
            return String::new();
        }
        let text = match question {
            Some(tool) => plain(&format!("The agent wants to use {tool}")),
            None => "ccc is waiting for you".to_owned(),
        };
        match self.call {
            NotifyMethod::Off => String::new(),
            NotifyMethod::Bell => "\x07".to_owned(),
            NotifyMethod::Osc9 => format!("\x07\x1b]9;{text}\x07"),
            NotifyMethod::Osc777 => format!("\x07\x1b]777;notify;ccc;{text}\x07"),
        }
    }
}

/// What `notify` in ccc.json or `CCC_NOTIFY` means on this terminal.
fn chosen(wanted: Notify, set: impl Fn(&str) -> Option<String>) -> NotifyMethod {
    let term = set("TERM").unwrap_or_default();
    let desktop = if ["rxvt", "foot"].iter().any(|name| term.starts_with(name)) {
        NotifyMethod::Osc777
    } else {
        NotifyMethod::Osc9
    };
    // These are known to show a notification; another terminal could print its text instead.
    let program = set("TERM_PROGRAM").unwrap_or_default();
    let known = ["iTerm.app", "WezTerm", "ghostty"].contains(&program.as_str())
        || ["xterm-kitty", "xterm-ghostty", "foot", "rxvt"]
            .iter()
            .any(|name| term.starts_with(name))
        || set("WT_SESSION").is_some();
    // A multiplexer passes on a bell, but not a notification.
    let inside = set("TMUX").is_some() || set("STY").is_some();
    match wanted {
        Notify::Off => NotifyMethod::Off,
        Notify::Desktop => desktop,
        Notify::Auto if known && !inside => desktop,
        Notify::Bell | Notify::Auto => NotifyMethod::Bell,
    }
}

/// Text that can neither end its escape sequence nor begin another field of it.
fn plain(text: &str) -> String {
    strip_escapes(text)
        .chars()
        .filter(|c| !console::controls_terminal(*c) && *c != ';')
        .take(120)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::sample;

    fn at(phase: Phase) -> Status {
        Status { phase, ..sample::status() }
    }

    fn seconds(seconds: u64) -> Now {
        Now::from_secs(seconds)
    }

    #[test]
    fn the_title_follows_the_phase() {
        let mut attention =
            Attention::new(NotifyMethod::Off, Some("pro\x07\u{202e}je\u{9c}ct".into()));
        let mut title = |status: &Status, asked| attention.escapes(status, asked, Now::ZERO);
        assert_eq!(title(&at(Phase::Waiting), None), "\x1b]2;ccc: ready - project\x07");
        assert_eq!(title(&at(Phase::Waiting), None), "");
        assert_eq!(title(&at(Phase::Working), None), "\x1b]2;ccc: working 1/10 - project\x07");
        assert_eq!(title(&at(Phase::Working), Some("Bash")), "\x1b]2;ccc: question - project\x07");
        let unsupervised = Status { supervising: false, ..at(Phase::Working) };
        assert_eq!(title(&unsupervised, None), "\x1b]2;ccc: working - project\x07");
        let mut without = Attention::new(NotifyMethod::Off, None);
        assert_eq!(without.escapes(&at(Phase::Working), None, Now::ZERO), "");
    }

    #[test]
    fn after_a_long_run_the_person_is_notified_once() {
        for (call, wanted) in [
            (NotifyMethod::Bell, "\x07"),
            (NotifyMethod::Osc9, "\x07\x1b]9;ccc is waiting for you\x07"),
            (NotifyMethod::Osc777, "\x07\x1b]777;notify;ccc;ccc is waiting for you\x07"),
            (NotifyMethod::Off, ""),
        ] {
            let mut attention = Attention::new(call, None);
            assert_eq!(attention.escapes(&at(Phase::Working), None, seconds(1)), "");
            assert_eq!(attention.escapes(&at(Phase::Reviewing), None, seconds(20)), "");
            assert_eq!(attention.escapes(&at(Phase::Waiting), None, seconds(30)), wanted);
            assert_eq!(attention.escapes(&at(Phase::Waiting), None, seconds(99)), "");
        }
    }

    #[test]
    fn a_question_notifies_too_unless_the_person_is_present() {
        let mut attention = Attention::new(NotifyMethod::Osc9, None);
        let mut after = |busy: u64, typed: u64, asked: u64| {
            attention.escapes(&at(Phase::Working), None, seconds(busy));
            attention.typed(seconds(typed));
            attention.escapes(&at(Phase::Working), Some("Ba;\x1b[0msh"), seconds(asked))
        };
        assert_eq!(after(0, 0, 60), "\x07\x1b]9;The agent wants to use Bash\x07");
        assert_eq!(after(100, 155, 160), "");
        assert_eq!(after(200, 200, 210), "");
    }

    #[test]
    fn the_terminal_determines_the_method_unless_the_person_does() {
        let with = |wanted: &str, vars: &[(&str, &str)]| {
            let wanted = Notify::named(wanted)?;
            let call = chosen(wanted, |name| {
                vars.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            });
            Some(call)
        };
        let kitty = ("TERM", "xterm-kitty");
        assert_eq!(with("auto", &[kitty]), Some(NotifyMethod::Osc9));
        assert_eq!(with("auto", &[("TERM", "foot")]), Some(NotifyMethod::Osc777));
        assert_eq!(with("auto", &[kitty, ("TMUX", "x")]), Some(NotifyMethod::Bell));
        assert_eq!(with("auto", &[("TERM", "xterm-256color")]), Some(NotifyMethod::Bell));
        assert_eq!(with("desktop", &[("TERM", "xterm-256color")]), Some(NotifyMethod::Osc9));
        assert_eq!(with("bell", &[kitty]), Some(NotifyMethod::Bell));
        assert_eq!(with("off", &[kitty]), Some(NotifyMethod::Off));
        assert_eq!(with("loud", &[kitty]), None);
    }
}
