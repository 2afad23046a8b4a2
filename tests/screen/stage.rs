//! A session to look at: a room, the client that the test speaks for, and a person at a terminal.

use std::path::Path;
use std::process::Command;

use crate::client::{Client, SCRIPT};
use crate::person::Person;
use crate::picture::Picture;
use crate::room::Room;
use crate::shell::as_a_job;

pub struct Stage {
    // The person first: ccc has to be gone before its directory goes.
    pub person: Person,
    pub room: Room,
}

#[must_use]
pub struct Opening {
    size: (u16, u16),
    env: Vec<(&'static str, String)>,
    reflows: bool,
    job: bool,
}

pub fn opening() -> Opening {
    Opening { size: (80, 24), env: Vec::new(), reflows: false, job: false }
}

/// A room with the client of these tests in it.
pub fn room() -> Room {
    let room = Room::supervised();
    room.client(SCRIPT);
    room
}

impl Opening {
    pub fn size(mut self, columns: u16, rows: u16) -> Self {
        self.size = (columns, rows);
        self
    }

    pub fn env(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.env.push((name, value.into()));
        self
    }

    /// On a terminal that wraps its lines anew when it gets another width.
    pub fn reflowing(mut self) -> Self {
        self.reflows = true;
        self
    }

    /// As the job of a shell, which can stop it and continue it.
    pub fn below_a_shell(mut self) -> Self {
        self.job = true;
        self
    }

    pub fn command(&self, room: &Room, program: &Path, args: &[&str]) -> Command {
        let mut command = room.run_program(program).env("TERM", "xterm-256color").args(args);
        for (name, value) in &self.env {
            command = command.env(name, value);
        }
        command.into_command()
    }

    pub fn start(self) -> Stage {
        let room = room();
        let argv = [env!("CARGO_BIN_EXE_ccc"), "--supervisor"];
        let argv = if self.job { as_a_job(&argv) } else { argv.to_vec() };
        let command = self.command(&room, Path::new(argv[0]), &argv[1..]);
        Stage { person: Person::runs(&command, self.size, self.reflows), room }
    }

    /// Started, with the agent there and nothing said yet.
    #[track_caller]
    pub fn ready(self) -> (Stage, Client) {
        let mut stage = self.start();
        let agent = stage.client("agent-0");
        stage.person.looks_for("the input", |picture| picture.input() == Some(""));
        (stage, agent)
    }

    /// The agent is at work on "zq-task" and has not said a word.
    #[track_caller]
    pub fn working(self) -> (Stage, Client) {
        let (mut stage, mut agent) = self.ready();
        stage.person.sends("zq-task");
        assert_eq!(agent.takes_up(), "zq-task");
        stage.person.looks_for("the phase", is_working);
        (stage, agent)
    }

    /// The agent is done and the supervisor has its instructions.
    #[track_caller]
    pub fn reviewing(self) -> (Stage, Client, Client) {
        let (mut stage, agent) = self.working();
        agent.answers("zq-answer");
        agent.ends_turn();
        let mut supervisor = stage.client("supervisor-0");
        supervisor.takes_up();
        stage.person.looks_for("the phase", is_reviewing);
        (stage, agent, supervisor)
    }
}

impl Stage {
    #[track_caller]
    pub fn client(&self, name: &str) -> Client {
        Client::started(&self.room, name)
    }
}

pub fn is_working(picture: &Picture) -> bool {
    picture.status().iter().any(|row| row.contains("working"))
}

pub fn is_reviewing(picture: &Picture) -> bool {
    picture.status().iter().any(|row| row.contains("reviewing"))
}

pub fn is_ready(picture: &Picture) -> bool {
    picture.status().iter().any(|row| row.contains("ready"))
}
