//! The plainest readers there can be: one that reads a PTY and forgets it, and one that goes through
//! ccc's turns with the same processes and nothing of ccc's own.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use portable_pty::CommandBuilder;

use super::fake::number;
use super::place::{CCC, ROLE, TURNS};
use super::terminal;

pub fn read_only() -> io::Result<()> {
    // It inherits the whole environment, which is a cleared one already.
    let mut command = CommandBuilder::new(std::env::current_exe()?);
    command.env(ROLE, "emitter");
    command.cwd(std::env::current_dir()?);
    let (master, mut child) = terminal::open(command)?;
    let mut reader = master.try_clone_reader().map_err(io::Error::other)?;
    let mut buffer = vec![0; 64 << 10];
    // The end is 0 or EIO.
    while reader.read(&mut buffer).is_ok_and(|size| size > 0) {}
    child.wait().map(drop)
}

pub fn turns() -> io::Result<()> {
    let me = std::env::current_exe()?;
    let mut command = CommandBuilder::new(CCC);
    command.args(["agent-shim", "--"]);
    command.arg(&me);
    command.env(ROLE, "client");
    command.cwd(std::env::current_dir()?);
    let (master, mut agent) = terminal::open(command)?;
    let mut to_agent = master.take_writer().map_err(io::Error::other)?;
    let mut from_agent = BufReader::new(master.try_clone_reader().map_err(io::Error::other)?);
    for _ in 0..number(TURNS) {
        to_agent.write_all(b"{\"type\":\"user\",\"uuid\":\"u\",\"message\":{}}\n")?;
        wait_for_result(&mut from_agent)?;
        let mut review = Command::new(CCC)
            .args(["agent-shim", "--"])
            .arg(&me)
            .arg("--fork-session")
            .env(ROLE, "client")
            // The shim ends its whole group when its input ends.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(mut input), Some(output)) = (review.stdin.take(), review.stdout.take()) else {
            return Err(io::Error::other("the review has no pipes"));
        };
        input.write_all(b"judge\n")?;
        wait_for_result(&mut BufReader::new(output))?;
        // Reaped behind the measured path, as ccc does it.
        std::thread::spawn(move || {
            drop(input);
            review.wait()
        });
    }
    to_agent.write_all(&[4])?;
    agent.wait().map(drop)
}

fn wait_for_result(from: &mut impl BufRead) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if from.read_until(b'\n', &mut line)? == 0 {
            return Err(io::Error::other("the client ended"));
        }
        if memchr::memmem::find(&line, b"\"type\":\"result\"").is_some() {
            return Ok(());
        }
    }
}
