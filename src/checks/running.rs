//! A check's process: a shell behind the shim, in a session and process group of its own. A check that is
//! ended takes everything with it that it started; one that ends by itself may leave what went into a
//! session of its own, such as a build server that keeps caches warm.

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
use crate::client::case::Case;
use crate::event::{Gone, Now};
use crate::process::child::{self, END_OF_INPUT, Group};
use crate::process::exit;
use crate::process::orphans::Awaited;
use crate::threads::named;

/// How long output may still come after the exit: something that left the group holds it open.
const DRAIN: Duration = Duration::from_secs(1);
const READ: usize = 16 << 10;
/// How often somebody who watches is told that time passes.
const TICK: Duration = Duration::from_millis(100);
/// How long a check may take to end that was told to: the shim kills it long before that.
const END: Duration = Duration::from_secs(5);

/// What a check does, in this order: it prints, it is gone.
#[derive(Debug)]
pub enum CheckHappened {
    Printed(String),
    Gone(Gone),
}

/// Dropped, it ends with all its descendants.
pub struct CheckProcess {
    input: Sender<Vec<u8>>,
    group: Group,
}

/// Where checks run, and by what.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// ccc itself, for its shim.
    pub ccc: PathBuf,
    pub dir: PathBuf,
    pub env: Vec<(OsString, OsString)>,
}

impl CheckProcess {
    /// `on_event` may hold the check up; false means that nobody listens any more.
    pub fn start(
        check: &Check,
        surroundings: &Surroundings,
        on_event: impl Fn(CheckHappened) -> bool + Send + Clone + 'static,
    ) -> anyhow::Result<Self> {
        let (output, into) = pipe()?;
        // Who wants it in the case does not want it in the tree, if there is no case to be had.
        let case =
            check.case.then(|| Case { required: true, covered: vec![surroundings.dir.clone()] });
        let mut head = case.is_some();
        let mut command = Command::new(&surroundings.ccc);
        command
            .arg("agent-shim")
            .args(case.iter().flat_map(Case::args))
            .args(["--", "/bin/sh", "-c", &check.run])
            .env_clear()
            .envs(surroundings.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&surroundings.dir)
            .stdin(Stdio::piped())
            .stdout(into.try_clone()?)
            .stderr(into);
        let (mut child, awaited) =
            Awaited::spawn(&mut command).context("cannot start the check")?;
        // The command holds our copies of the pipe; while it lives, the end of output cannot come.
        drop(command);
        let group = Group::of(child.id());
        let stdin = child.stdin.take().context("the check has no input")?;
        let input = child::writer("check input", stdin)?;
        // Nobody types for a check: one that reads gets the end at once.
        let _ = input.send(vec![END_OF_INPUT]);
        let (to_read, read) = bounded::<()>(0);
        let printed = on_event.clone();
        named("check output", move || {
            read_text(output, |text| {
                // The shim's report about the case, in a line of its own.
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
            let gone = match status {
                Ok(status) => exit::gone(status.code(), status.signal()),
                Err(error) => Gone { how: error.to_string(), ..Gone::default() },
            };
            group.kill();
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

/// Whole characters, as they come; what is no text is shown as such.
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
            // The end may be half a character, which is at most three bytes.
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

/// What whoever runs checks gets to see.
pub enum Seen<'a> {
    Started(&'a Check),
    Printed(&'a str),
    Ended(&'a CheckResult),
    /// Some time has passed.
    Waiting,
}

/// Runs a suite where nothing else goes on: `ccc check`, the Stop hook. Ends early, with whatever was
/// running, once `stop` says anything; that is the error.
pub fn run_all<S>(
    suite: &mut Suite,
    surroundings: &Surroundings,
    stop: &Receiver<S>,
    mut watch: impl FnMut(&Suite, Now, Seen<'_>),
) -> Result<(), Option<S>> {
    let began = Instant::now();
    while let Some(check) = suite.next(began.elapsed()).cloned() {
        watch(suite, began.elapsed(), Seen::Started(&check));
        let (to_us, events) = bounded(2);
        let started =
            CheckProcess::start(&check, surroundings, move |event| to_us.send(event).is_ok());
        let mut running = match started {
            Ok(running) => Some(running),
            Err(error) => {
                let gone = Gone { how: format!("did not start: {error:#}"), ..Gone::default() };
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
                    // What it still prints is nobody's business; that it is gone is.
                    while let Ok(CheckHappened::Printed(_)) = events.recv_timeout(END) {}
                    return Err(said.ok());
                }
                recv(events) -> event => match event {
                    Ok(CheckHappened::Printed(text)) => {
                        suite.printed(&text);
                        watch(suite, began.elapsed(), Seen::Printed(&text));
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
                default(due) => watch(suite, began.elapsed(), Seen::Waiting),
            }
        }
    }
    Ok(())
}

fn end(suite: &mut Suite, gone: &Gone, now: Now, watch: &mut impl FnMut(&Suite, Now, Seen<'_>)) {
    if let Some(result) = suite.ended(gone, now).cloned() {
        watch(suite, now, Seen::Ended(&result));
    }
}

/// What checks inherit of ours: all but what belongs to a session of the client around us.
pub fn environment(ours: impl Iterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    ours.filter(|(name, _)| !crate::client::launch::belongs_to_a_session(name)).collect()
}

/// The same directory for everybody who runs the checks of a project.
impl Surroundings {
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
    fn characters_are_not_split_and_bytes_that_are_none_do_no_harm() {
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
