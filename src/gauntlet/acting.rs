//! The scripted agent of a gauntlet session on the real loop: it does what its session says, tells
//! its client what to print, and stores the conversation for a judge that is a fork of it.

use std::io::{BufRead as _, BufReader};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

use anyhow::{Context, Result};
use crossbeam_channel::Sender;
use serde_json::Value;

use super::agent;
use super::conversation::StoredConversation;
use super::session::{Act, GauntletSession};
use crate::event::Event;
use crate::fixture::scripted_client::{FromClient, ToClient, write_line};
use crate::fixture::{Received, ScriptStep, ScriptedClient};
use crate::session::Incoming;

pub struct Acting<'a> {
    pub session: &'a GauntletSession,
    pub project: PathBuf,
    pub conversation: StoredConversation,
    /// The model that the client reports. Empty if it is unknown; the judge then uses its own.
    pub model: String,
    pub to_loop: Sender<Incoming>,
    /// How many of the user's messages have arrived.
    pub heard: usize,
}

impl Acting<'_> {
    /// Runs until the agent's client has ended.
    pub fn run(&mut self, listener: &UnixListener) -> Result<()> {
        let (client, _) = listener.accept()?;
        let acted = self.serve(client);
        if acted.is_err() {
            // There is nothing to judge.
            let _ = self.to_loop.send(Incoming::Event(Event::Leave));
        }
        acted
    }

    fn serve(&mut self, socket: UnixStream) -> Result<()> {
        let mut tell = socket.try_clone()?;
        let mut client = ScriptedClient::new("");
        client.model.clone_from(&self.model);
        for line in BufReader::new(socket).lines().map_while(Result::ok) {
            let line = match serde_json::from_str(&line)? {
                FromClient::Started(args) => {
                    let id = args.iter().skip_while(|arg| *arg != "--session-id").nth(1);
                    id.context("a session without an id")?.clone_into(&mut client.session_id);
                    continue;
                }
                FromClient::Line(line) => line,
            };
            let Some(Received::Message { uuid, text }) = Received::parse(&line) else { continue };
            let mut print = |lines: Vec<Value>| {
                for line in lines {
                    // A client that was ended reads nothing more.
                    let _ = write_line(&mut tell, &ToClient::Print(line.to_string()));
                }
            };
            let turns = self.session.turns();
            let turn = turns.get(self.heard).filter(|(said, _)| *said == text);
            let Some((_, acts)) = turn else {
                // This is feedback: the judge has given the verdict that the session is about, so
                // the session can end.
                let _ = self.to_loop.send(Incoming::Event(Event::Leave));
                continue;
            };
            // The user's later messages arrive while the agent is still working.
            print(client.takes(&uuid, &text, self.heard == 0));
            self.turn(&text, acts, &mut client, &mut print)?;
        }
        Ok(())
    }

    fn turn(
        &mut self,
        said: &str,
        acts: &[Act],
        client: &mut ScriptedClient,
        print: &mut dyn FnMut(Vec<Value>),
    ) -> Result<()> {
        self.heard += 1;
        self.conversation.user(said);
        let next = self.session.turns().get(self.heard).map(|(said, _)| (*said).to_owned());
        for act in acts {
            let step = if let Act::Says { says } = act {
                self.conversation.says(says);
                if next.is_none() {
                    self.conversation.write()?;
                    ScriptStep::AgentDone(says.clone())
                } else {
                    ScriptStep::AgentSays(says.clone())
                }
            } else {
                let run = agent::act(act, &self.project)?.context("nothing to do")?;
                self.conversation.runs(&run);
                ScriptStep::AgentRuns(run)
            };
            print(client.prints(&step)?);
        }
        if let Some(next) = next {
            let _ = self.to_loop.send(Incoming::Event(Event::Said(next)));
        }
        Ok(())
    }
}
