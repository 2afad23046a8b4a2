//! A check's process: a shell behind the shim, in its own session and process group. Stopping a
//! check also ends everything that it started. A check that exits by itself may leave processes in
//! their own sessions, such as a build server that keeps caches warm.

use std::ffi::OsString;
use std::io::{ErrorKind, PipeReader, Read, pipe};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use crossbeam_channel::{Receiver, Sender, bounded, select_biased};

use super::Check;
use super::result::CheckResult;
use super::suite::Suite;
use crate::client::case::CaseRequest;
use crate::event::{Gone, Now};
use crate::process::child::{self, END_OF_INPUT, Group};
use crate::process::exit;
use crate::process::orphans::{self, Awaited};
use crate::threads::named;

/// How long output may still arrive after the exit, since a process that left the group can hold
/// the pipe open.
const DRAIN: Duration = Duration::from_secs(1);
const READ: usize = 16 << 10;
/// How often the watcher hears that time has passed.
const TICK: Duration = Duration::from_millis(100);
/// How long to wait for a stopped check to end; the shim kills it long before that.
const END: Duration = Duration::from_secs(5);

/// What happens to a check: any number of `Printed`, then one `Gone`.
#[derive(Debug)]
pub enum CheckHappened {
    Printed(String),
    Gone(Gone),
}

/// When dropped, ends the check and all its descendants.
pub struct CheckProcess {
    input: Sender<Vec<u8>>,
    group: Group,
}

#[derive(Debug, Clone)]
pub struct CheckContext {
    /// ccc itself, for its shim.
    pub ccc: PathBuf,
    pub dir: PathBuf,
    pub env: Vec<(OsString, OsString)>,
}

impl CheckProcess {
    /// `on_event` may block, which holds the check up; it returns false if nobody listens any more.
    pub fn start(
        check: &Check,
        context: &CheckContext,
        on_event: impl Fn(CheckHappened) -> bool + Send + Clone + 'static,
    ) -> anyhow::Result<Self> {
        let (output, into) = pipe()?;
        // Required: a check that asks for the case must not run in the real tree if there is no
        // case.
        let case =
            check.case.then(|| CaseRequest { required: true, covered: vec![context.dir.clone()] });
        let mut head = case.is_some();
        let mut command = Command::new(&context.ccc);
        command
            .arg("agent-shim")
            .args(case.iter().flat_map(CaseRequest::args))
            .args(["--", "/bin/sh", "-c", &check.run])
            .env_clear()
            .envs(context.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&context.dir)
            .stdin(Stdio::piped())
            .stdout(into.try_clone()?)
            .stderr(into);
        let (mut child, awaited) =
            Awaited::spawn(&mut command).context("cannot start the check")?;
        // The command holds our copies of the pipe, so the end of the output cannot come while it
        // exists.
        drop(command);
        let group = Group::of(child.id());
        let stdin = child.stdin.take().context("the check has no input")?;
        let input = child::writer("check input", stdin)?;
        // A check gets no input: if it reads, it sees the end at once.
        let _ = input.send(vec![END_OF_INPUT]);
        let (to_read, read) = bounded::<()>(0);
        let printed = on_event.clone();
        named("check output", move || {
            read_text(output, |text| {
                // The first line is the shim's report about the case.
                let text = match text.split_once('\n') {
                    Some((_, rest)) if std::mem::take(&mut head) => rest.to_owned(),
                    _ => text,
                };
                text.is_empty() || printed(CheckHappened::Printed(text))
            });
            drop(to_read);
        })?;
        named("check exit", move || {
            let status = child.wait();
            drop(awaited);
            let gone = match &status {
                Ok(status) => exit::gone(status.code(), status.signal()),
                Err(error) => Gone { how: error.to_string(), ..Gone::default() },
            };
            group.kill();
            if status.is_ok_and(|status| status.signal().is_some()) {
                // Its shim was killed and can no longer clean up; its orphans are now ours.
                orphans::kill_all();
            }
            let _ = read.recv_timeout(DRAIN);
            on_event(CheckHappened::Gone(gone));
        })?;
        Ok(Self { input, group })
    }
}

impl Drop for CheckProcess {
    fn drop(&mut self) {
        let _ = self.input.send(vec![END_OF_INPUT]);
        self.group.terminate();
    }
}

/// Passes on the output in whole characters, with invalid bytes replaced.
fn read_text(mut from: PipeReader, mut on_text: impl FnMut(String) -> bool) {
    let mut buffer = vec![0; READ];
    let mut kept = 0;
    loop {
        let size = match from.read(&mut buffer[kept..]) {
            Ok(0) => break,
            Ok(size) => kept + size,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let whole = match std::str::from_utf8(&buffer[..size]) {
            // The end may be an incomplete character of at most three bytes.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => size,
        };
        let text = String::from_utf8_lossy(&buffer[..whole]).into_owned();
        buffer.copy_within(whole..size, 0);
        kept = size - whole;
        if !text.is_empty() && !on_text(text) {
            return;
        }
    }
    if kept > 0 {
        on_text(String::from_utf8_lossy(&buffer[..kept]).into_owned());
    }
}

/// The progress of a suite, for whoever runs it.
pub enum CheckProgress<'a> {
    Started(&'a Check),
    Printed(&'a str),
    Ended(&'a CheckResult),
    /// `TICK` has passed without anything else.
    Waiting,
}

/// Runs a suite while nothing else happens, for `ccc check` and the Stop hook. A message on `stop`
/// ends it early, along with the running check, and is returned as the error.
pub fn run_all<S>(
    suite: &mut Suite,
    context: &CheckContext,
    stop: &Receiver<S>,
    mut watch: impl FnMut(&Suite, Now, CheckProgress<'_>),
) -> Result<(), Option<S>> {
    let began = Instant::now();
    while let Some(check) = suite.next(began.elapsed()).cloned() {
        watch(suite, began.elapsed(), CheckProgress::Started(&check));
        let (to_us, events) = bounded(2);
        let started = CheckProcess::start(&check, context, move |event| to_us.send(event).is_ok());
        let mut running = match started {
            Ok(running) => Some(running),
            Err(error) => {
                let gone = Gone::unstarted(&error);
                end(suite, &gone, began.elapsed(), &mut watch);
                continue;
            }
        };
        loop {
            let now = began.elapsed();
            if suite.is_overdue(now) {
                running = None;
            }
            let due = suite.deadline().map_or(TICK, |due| due.saturating_sub(now).min(TICK));
            select_biased! {
                recv(stop) -> said => {
                    drop(running);
                    // Ignores further output, but waits for the check to end.
                    while let Ok(CheckHappened::Printed(_)) = events.recv_timeout(END) {}
                    return Err(said.ok());
                }
                recv(events) -> event => match event {
                    Ok(CheckHappened::Printed(text)) => {
                        suite.printed(&text);
                        watch(suite, began.elapsed(), CheckProgress::Printed(&text));
                    }
                    Ok(CheckHappened::Gone(gone)) => {
                        end(suite, &gone, began.elapsed(), &mut watch);
                        break;
                    }
                    Err(_) => {
                        let gone = Gone { how: "was lost".to_owned(), ..Gone::default() };
                        end(suite, &gone, began.elapsed(), &mut watch);
                        break;
                    }
                },
                default(due) => watch(suite, began.elapsed(), CheckProgress::Waiting),
            }
        }
    }
    Ok(())
}

fn end(
    suite: &mut Suite,
    gone: &Gone,
    now: Now,
    watch: &mut impl FnMut(&Suite, Now, CheckProgress<'_>),
) {
    if let Some(result) = suite.ended(gone, now).cloned() {
        watch(suite, now, CheckProgress::Ended(&result));
    }
}

/// The environment that checks inherit: ours, without variables that belong to a surrounding
/// session of the client.
pub fn environment(ours: impl Iterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    ours.filter(|(name, _)| !crate::client::launch::belongs_to_a_session(name)).collect()
}

impl CheckContext {
    pub fn of(dir: &Path) -> anyhow::Result<Self> {
        Ok(Self {
            ccc: std::env::current_exe().context("ccc cannot find its own executable")?,
            dir: dir.to_owned(),
            env: environment(std::env::vars_os()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::sync::mpsc::channel;

    #[test]
    fn characters_are_not_split_and_invalid_bytes_are_replaced() {
        let (output, mut into) = pipe().unwrap();
        let (sender, receiver) = channel();
        let reader =
            std::thread::spawn(move || read_text(output, |text| sender.send(text).is_ok()));
        for bytes in [&b"a\xc3"[..], b"\xa9b\n", b"\xff\xfe", b"\xe2\x82"] {
            into.write_all(bytes).unwrap();
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(into);
        reader.join().unwrap();
        let text: String = receiver.iter().collect();
        assert_eq!(text, "aéb\n\u{fffd}\u{fffd}\u{fffd}");
    }
}
