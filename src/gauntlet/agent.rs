//! The agent: really edits the files and runs the commands of its session.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::project;
use super::session::Act;
use crate::brief::output::NO_OUTPUT;
use crate::fixture::ToolRun;
use crate::process::orphans::Awaited;

/// Performs the act and returns what its client would print about it. `None` for messages.
pub fn act(act: &Act, dir: &Path) -> Result<Option<ToolRun>> {
    let at = |name: &str| dir.join(name);
    let (tool, input, output) = match act {
        Act::User { .. } | Act::Says { .. } => return Ok(None),
        Act::Run { run } => return shell(run, dir).map(Some),
        Act::Background { background } => {
            let input = json!({"command": background, "run_in_background": true});
            ("Bash", input, "Command running in background with ID: bg1".to_owned())
        }
        Act::Write { write, text } => {
            let path = at(write);
            fs::create_dir_all(path.parent().context("no directory")?)?;
            fs::write(&path, text)?;
            let output = format!("File created successfully at: {}", path.display());
            ("Write", json!({"file_path": path, "content": text}), output)
        }
        Act::Edit { edit, old, new } => {
            let path = at(edit);
            let before = fs::read_to_string(&path).with_context(|| format!("no {edit}"))?;
            ensure!(before.contains(old.as_str()), "{edit} does not have {old:?}");
            fs::write(&path, before.replacen(old.as_str(), new, 1))?;
            let input = json!({"file_path": path, "old_string": old, "new_string": new});
            ("Edit", input, format!("The file {} has been updated.", path.display()))
        }
        Act::Fetch { fetch, page } => ("WebFetch", json!({"url": fetch}), page.clone()),
    };
    Ok(Some(ToolRun { tool: tool.to_owned(), input, output, error: false }))
}

/// Runs a command and reports it as the client's Bash tool does.
pub fn shell(command: &str, dir: &Path) -> Result<ToolRun> {
    let (mut read, write) = std::io::pipe()?;
    let mut shell = project::shell(command, dir, &dir.join("../home"));
    shell.envs(rustup()).stdin(Stdio::null()).stdout(write.try_clone()?).stderr(write);
    let (mut child, _awaited) = Awaited::spawn(&mut shell)?;
    // The command still holds the write end of the pipe.
    drop(shell);
    let mut output = String::new();
    read.read_to_string(&mut output)?;
    let code = child.wait()?.code().unwrap_or(-1);
    // As the client reports a command without output.
    if code == 0 && output.trim().is_empty() {
        NO_OUTPUT.clone_into(&mut output);
    }
    if code != 0 {
        output = format!("Exit code {code}\n{output}");
    }
    let input = json!({"command": command});
    Ok(ToolRun { tool: "Bash".into(), input, output, error: code != 0 })
}

/// Where the compiler is, because the session's home directory does not contain one.
fn rustup() -> Option<(&'static str, std::path::PathBuf)> {
    let named = std::env::var_os("RUSTUP_HOME").map(Into::into);
    let home = || Some(Path::new(&std::env::var_os("HOME")?).join(".rustup"));
    named.or_else(home).map(|path| ("RUSTUP_HOME", path))
}
