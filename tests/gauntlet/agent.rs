//! The agent: really edits the files and really runs the commands of its session.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

use ccc::fixture::ToolRun;
use serde_json::json;

use crate::session::Act;

/// Does it, and says what its client would print about it. `None` for the last words of a turn.
pub fn act(act: &Act, project: &Path) -> Option<ToolRun> {
    let at = |name: &str| project.join(name);
    let (tool, input, output, error) = match act {
        Act::User { .. } | Act::Says { .. } => return None,
        Act::Run { run } => return Some(shell(run, project)),
        Act::Background { background } => {
            let input = json!({"command": background, "run_in_background": true});
            let output = "Command running in background with ID: bg1".to_owned();
            ("Bash", input, output, false)
        }
        Act::Write { write, text } => {
            let path = at(write);
            fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
            fs::write(&path, text).expect("a file");
            let output = format!("File created successfully at: {}", path.display());
            ("Write", json!({"file_path": path, "content": text}), output, false)
        }
        Act::Edit { edit, old, new } => {
            let path = at(edit);
            let before = fs::read_to_string(&path).expect("a file that is edited");
            assert!(before.contains(old.as_str()), "{edit} does not have {old:?}");
            fs::write(&path, before.replacen(old.as_str(), new, 1)).expect("a file");
            let input = json!({"file_path": path, "old_string": old, "new_string": new});
            ("Edit", input, format!("The file {} has been updated.", path.display()), false)
        }
        Act::Fetch { fetch, page } => ("WebFetch", json!({"url": fetch}), page.clone(), false),
    };
    Some(ToolRun { tool: tool.to_owned(), input, output, error })
}

/// As the client's Bash tool tells it.
pub fn shell(command: &str, project: &Path) -> ToolRun {
    let (mut read, write) = std::io::pipe().expect("a pipe");
    let mut child = Command::new("sh")
        .args(["-c", command])
        .current_dir(project)
        .envs(crate::play::ENV)
        .env("HOME", project.join("../home"))
        .envs(rustup())
        .stdin(Stdio::null())
        .stdout(write.try_clone().expect("a pipe"))
        .stderr(write)
        .spawn()
        .expect("a shell");
    let mut output = String::new();
    // The command, which holds the other end, is gone by now.
    read.read_to_string(&mut output).expect("text");
    let code = child.wait().expect("it ends").code().unwrap_or(-1);
    if code != 0 {
        output = format!("Exit code {code}\n{output}");
    }
    ToolRun { tool: "Bash".into(), input: json!({"command": command}), output, error: code != 0 }
}

/// Where the compiler is, for a home that does not have one.
fn rustup() -> Option<(&'static str, std::path::PathBuf)> {
    let named = std::env::var_os("RUSTUP_HOME").map(Into::into);
    let home = || Some(Path::new(&std::env::var_os("HOME")?).join(".rustup"));
    named.or_else(home).map(|path| ("RUSTUP_HOME", path))
}
