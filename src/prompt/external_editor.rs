//! Edits a text in the person's own editor: a private file, the editor on ccc's terminal, and a
//! thread that waits for it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};

use anyhow::{Context, Result, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::process::exit;
use crate::process::orphans::Awaited;
use crate::threads;

#[derive(Debug)]
pub struct Editing {
    editor: Pid,
}

/// The editor that the environment names first, or `vi`.
pub fn command(visual: Option<OsString>, editor: Option<OsString>) -> OsString {
    let named = [visual, editor].into_iter().flatten().find(|command| !command.is_empty());
    named.unwrap_or_else(|| "vi".into())
}

/// A pager that starts at the end of the text, where the session is.
pub fn pager(named: Option<OsString>) -> OsString {
    match named.as_deref().and_then(OsStr::to_str).map(str::trim) {
        // `cat` would only scroll by, like the transcript itself.
        None | Some("" | "cat" | "less") => "less -R +G".into(),
        Some(other) => other.into(),
    }
}

/// The result of a program that had the terminal and a file.
pub struct EditorResult {
    name: String,
    ended: Result<ExitStatus>,
    bytes: std::io::Result<Vec<u8>>,
}

impl EditorResult {
    /// The edited text, or the reason why it stays unchanged.
    pub fn text(self) -> Result<String> {
        let (name, status) = (&self.name, self.ended?);
        ensure!(status.success(), "{}", failed(name, status, "your editor in VISUAL or EDITOR"));
        let text = String::from_utf8(self.bytes.context("the text is gone")?);
        ensure!(text.is_ok(), "{name} left text that is not UTF-8");
        Ok(text.unwrap_or_default())
    }

    /// What a command printed until it ended, in whatever way.
    pub fn output(self) -> String {
        String::from_utf8_lossy(&self.bytes.unwrap_or_default()).into_owned()
    }

    /// Why it failed; a program that the person interrupted has not failed.
    pub fn failure(self) -> Option<String> {
        match self.ended {
            Ok(status) if status.success() || status.code().is_none() => None,
            Ok(status) => Some(failed(&self.name, status, "your pager in PAGER")),
            Err(error) => Some(format!("{error:#}")),
        }
    }
}

/// Why a program that was started by a shell failed; `setting`: where the person names it.
fn failed(name: &str, status: ExitStatus, setting: &str) -> String {
    match status.code() {
        Some(127) => format!("{name} was not found; name {setting}"),
        code => format!("{name} {}", exit::gone(code, status.signal()).how),
    }
}

/// Starts `command` (which may have arguments) on `text`.
pub fn start(
    command: &OsStr,
    text: &str,
    on_done: impl FnOnce(EditorResult) + Send + 'static,
) -> Result<Editing> {
    // Created with mode 0600.
    let file = tempfile::Builder::new().prefix("ccc-").suffix(".md").tempfile();
    let mut file = file.context("cannot make a temporary file for the text")?;
    file.write_all(text.as_bytes()).context("cannot make a temporary file for the text")?;
    // A simple command replaces the shell, so that signals reach the editor itself.
    let simple = |c: char| c.is_alphanumeric() || "/._-+ ".contains(c);
    let exec = command.to_str().is_some_and(|command| command.chars().all(simple));
    let mut line = OsString::from(if exec { "exec " } else { "" });
    line.push(command);
    line.push(r#" "$1""#);
    let mut editor = Command::new("/bin/sh");
    editor.arg("-c").arg(line).arg("sh").arg(file.path());
    let (mut editor, awaited) = Awaited::spawn(&mut editor).context("the editor did not start")?;
    let pid = Pid::from_raw(editor.id().cast_signed());
    let name = command.to_string_lossy().into_owned();
    threads::named("editor", move || {
        let ended = editor.wait().context("the editor is lost");
        drop(awaited);
        // Read by its name, because many editors replace the file.
        let bytes = fs::read(file.path());
        drop(file);
        on_done(EditorResult { name, ended, bytes });
    })?;
    Ok(Editing { editor: pid })
}

impl Editing {
    pub fn terminate(&self) {
        self.signal(Signal::SIGTERM);
    }

    pub fn kill(&self) {
        self.signal(Signal::SIGKILL);
    }

    fn signal(&self, signal: Signal) {
        if let Err(error) = kill(self.editor, signal) {
            log::debug!("{signal} to the editor: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    fn edit(command: &str, text: &str) -> Result<String> {
        let (send, done) = channel();
        start(OsStr::new(command), text, move |left| send.send(left.text()).unwrap()).unwrap();
        done.recv().unwrap()
    }

    #[test]
    fn the_edited_text_comes_back() {
        assert_eq!(edit("printf ' more' >>", "text").unwrap(), "text more");
        // Many editors write a new file and rename it to the old name.
        let replaces = "f() { printf new >\"$1.n\" && mv \"$1.n\" \"$1\"; }; f";
        assert_eq!(edit(replaces, "old").unwrap(), "new");
    }

    #[test]
    fn the_file_is_private_and_gone_afterwards() {
        let kept = tempfile::NamedTempFile::new().unwrap();
        let look = format!("f() {{ ls -l \"$1\" >{}; }}; f", kept.path().display());
        edit(&look, "text").unwrap();
        let seen = fs::read_to_string(kept.path()).unwrap();
        let name = seen.trim().split(' ').next_back().unwrap();
        assert!(seen.starts_with("-rw-------") && name.ends_with(".md"), "{seen}");
        assert!(!fs::exists(name).unwrap());
    }

    #[test]
    fn a_failure_says_why() {
        let why = |command| format!("{:#}", edit(command, "text").unwrap_err());
        assert_eq!(why("false"), "false exited with code 1");
        let unknown = "/no/such/editor was not found; name your editor in VISUAL or EDITOR";
        assert_eq!(why("/no/such/editor"), unknown);
        assert!(why("rm").contains("the text is gone"));
        assert!(why(r"printf '\377' >").contains("not UTF-8"));
    }

    #[test]
    fn which_editor() {
        let some = |name: &str| Some(OsString::from(name));
        assert_eq!(command(some("code --wait"), some("nano")), "code --wait");
        assert_eq!(command(some(""), some("nano")), "nano");
        assert_eq!(command(None, None), "vi");
    }
}
