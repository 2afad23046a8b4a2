//! The two terminals: the client's is set up like the person's, and everything between them is
//! relayed and recorded.

use std::io;
use std::rc::Rc;
use std::time::Instant;

use nix::pty::Winsize;

use super::{GATHER, HEARD_WITHIN, ScreenNews, Session};
use crate::event::{Event, Gone, Outcome};
use crate::native::{relay, transcript};
use crate::process::screen::{ScreenClient, ScreenEvent};
use crate::process::signals;
use crate::record::Backlog;
use crate::session::child_state::ChildState;
use crate::session::{AgentProcess, Incoming};

const DEFAULT_SIZE: Winsize = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };

impl Session<'_> {
    pub(in crate::session) fn start_screen(&mut self) {
        if let Err(error) = self.try_start_screen() {
            self.events.push_back(Event::AgentGone(Gone::unstarted(&error)));
        }
    }

    fn try_start_screen(&mut self) -> anyhow::Result<()> {
        let launch = self.launch(self.setup.claude_args.clone(), self.setup.agent_env.clone());
        let Some(native) = &mut self.native else { return Ok(()) };
        let terminal = Rc::clone(&native.setup.terminal);
        let size = terminal.size().unwrap_or(DEFAULT_SIZE);
        let events = self.to_control.clone();
        let news = self.to_control.clone();
        native.transcript =
            Some(transcript::follow(move |read| news.send(Incoming::Transcript(read)).is_ok())?);
        let client = ScreenClient::start(&launch, &terminal, size, move |event| {
            events.send(Incoming::Screen(event)).is_ok()
        })?;
        let resized = self.to_control.clone();
        signals::on_resize(move || resized.send(Incoming::Resized).is_ok())?;
        terminal.take()?;
        let keys = self.to_control.clone();
        relay::keys(terminal.device().try_clone()?, client.terminal()?, move |typed| {
            keys.send(Incoming::Relayed(typed)).is_ok()
        })?;
        let news = self.to_screen.clone();
        let drawn = self.setup.recorder.as_ref().map(|recorder| recorder.cast().drawn());
        let screen =
            relay::screen(client.terminal()?, terminal.device().try_clone()?, move |piece| {
                let screen_news = match (piece, &drawn) {
                    (Some(Ok(bytes)), Some(drawn)) => {
                        drawn.add(bytes, Instant::now()).map(ScreenNews::Drawn)
                    }
                    (Some(Ok(_)), None) => None,
                    (Some(Err(error)), _) => Some(ScreenNews::Failed(error)),
                    (None, _) => Some(ScreenNews::Ended),
                };
                screen_news.is_none_or(|screen_news| news.send(screen_news).is_ok())
            })?;
        native.screen = Some(screen);
        if let Some((short, whole)) = native.setup.beforehand.take() {
            native.told.push(whole);
            self.surface.told(Err(short));
        }
        let group = client.group();
        self.agent = Some(ChildState::new(AgentProcess::Screen(client), group));
        Ok(())
    }

    pub(super) fn screen_client(&self) -> Option<&ScreenClient> {
        match self.agent.as_ref().map(|agent| &agent.handle) {
            Some(AgentProcess::Screen(client)) => Some(client),
            _ => None,
        }
    }

    pub(in crate::session) fn screen_news(&mut self, screen_news: ScreenNews) {
        match screen_news {
            ScreenNews::Drawn(Backlog::Started) => {
                let until = self.now() + GATHER;
                self.gathering.get_or_insert(until);
            }
            ScreenNews::Drawn(Backlog::Large) => self.gathering = None,
            ScreenNews::Failed(error) => {
                if self.outcome.is_none() {
                    self.lost(&error, Outcome::Unwritten(error.to_string()));
                }
            }
            ScreenNews::Ended => {
                if let Some(agent) = &mut self.agent {
                    agent.output_ended = true;
                }
            }
        }
    }

    pub(in crate::session) fn relayed(&mut self, keys: io::Result<Vec<u8>>) {
        let bytes = match keys {
            Ok(bytes) => bytes,
            Err(error) => {
                let outcome = Outcome::Failed(format!("the keys cannot be read: {error}"));
                return self.lost(&error, outcome);
            }
        };
        let now = self.now();
        let Some(native) = &mut self.native else { return };
        native.keys.typed(&bytes);
        if native.due.is_none()
            && native.session.is_empty()
            && native.due_messages().next().is_some()
        {
            native.due = Some(now + HEARD_WITHIN);
        }
        if let Some(recorder) = &mut self.setup.recorder {
            native.typed.extend_from_slice(&bytes);
            let whole = crate::record::whole_characters(&native.typed);
            let rest = native.typed.split_off(whole);
            recorder.typed(&String::from_utf8_lossy(&native.typed));
            native.typed = rest;
        }
    }

    pub(in crate::session) fn screen_resized(&mut self) {
        let size = self.native.as_ref().and_then(|native| native.setup.terminal.size());
        let (Some(size), Some(client)) = (size, self.screen_client()) else { return };
        client.resize(&size);
        if let Some(recorder) = &mut self.setup.recorder {
            recorder.input(&crossterm::event::Event::Resize(size.ws_col, size.ws_row));
        }
    }

    pub(in crate::session) fn screen_event(&mut self, event: ScreenEvent) {
        match event {
            // The shell has the terminal until ccc is continued; then the client continues too.
            ScreenEvent::Stopped => {
                let screen = self.native.as_ref().and_then(|native| native.screen.as_ref());
                screen.inspect(|screen| screen.settle());
                self.suspend();
                self.screen_resized();
                if let Some(client) = self.screen_client() {
                    client.resume();
                }
            }
            ScreenEvent::Exited(gone) => {
                let now = self.now();
                if let Some(agent) = &mut self.agent {
                    agent.exited(gone, now);
                }
            }
        }
    }
}
