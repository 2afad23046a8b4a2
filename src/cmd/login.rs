//! Finds out whether the client has a key or a login of its own by starting it and asking it. No
//! request goes to the API.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::client::account::{self, Account};
use crate::client::stream::initialize;
use crate::config::clients::{Role, inherited, of_this_process};
use crate::directories::Directories;
use crate::executables;
use crate::process::orphans::Awaited;

/// The answer takes well under a second.
const DEADLINE: Duration = Duration::from_secs(10);
/// How long the client may take to exit by itself.
const LEAVING: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// The limit for the answer, which also lists every slash command.
const MOST: u64 = 8 << 20;

pub const HOW: &str = "log in with `claude /login`, set ANTHROPIC_API_KEY, or add an endpoint \
    with its key with `ccc provider add`";

/// Where the client's credentials come from; `None` if it has none.
pub fn ask(place: &Directories) -> Result<Option<String>> {
    let mut command = Command::new(executables::claude()?);
    command
        .args(["--print", "--verbose", "--input-format", "stream-json"])
        .args(["--output-format", "stream-json", "--no-session-persistence"])
        // A question about the account must not start anything of the project.
        .args(["--strict-mcp-config", "--setting-sources", "user"])
        .args(["--settings", r#"{"disableAllHooks":true}"#])
        .env_clear()
        .envs(inherited(&of_this_process(), false, Role::Agent, &place.state_dir))
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .current_dir(&place.project);
    Ok(answer(command, DEADLINE)?.told())
}

fn answer(mut command: Command, deadline: Duration) -> Result<Account> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let (mut child, _awaited) = Awaited::spawn(&mut command).context("claude does not start")?;
    let (send, received) = channel();
    if let Some(out) = child.stdout.take() {
        thread::spawn(move || {
            let lines = BufReader::new(out.take(MOST)).lines().map_while(Result::ok);
            let _ = send.send(lines.into_iter().find_map(|line| account::read(&line)));
        });
    }
    // The client answers only while its input is open.
    let mut input = child.stdin.take();
    if let Some(input) = &mut input {
        // A client that has already exited is detected below.
        let _ = input.write_all(&initialize("ccc-account"));
    }
    let answer = received.recv_timeout(deadline);
    drop(input);
    end(&mut child);
    match answer {
        Ok(Some(account)) => Ok(account),
        Ok(None) => bail!("claude exited without saying whether it has a key or a login"),
        Err(_) => bail!("claude did not answer within {} s", deadline.as_secs_f32()),
    }
}

/// The client may be writing its own files, so it is killed only if it does not exit by itself.
fn end(child: &mut Child) {
    let until = Instant::now() + LEAVING;
    while Instant::now() < until {
        if matches!(child.try_wait(), Ok(Some(_))) {
            return;
        }
        thread::sleep(LOOK_AGAIN);
    }
    if let Ok(pid) = i32::try_from(child.id()) {
        let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
    }
    let _ = child.wait();
}
