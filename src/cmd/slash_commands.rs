//! Installs `/supervisor` and `/supervisoroff` for the plain client.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::config::clients::quoted;
use crate::executables;
use crate::files;

/// Appears in every file that ccc wrote; a user's own command with the same name is left alone.
const OURS: &str = "supervisor-mode";

pub fn create(client_dir: &Path, ccc: &Path) -> Result<()> {
    for (path, (what, mode)) in paths(client_dir).iter().zip([("Enable", "on"), ("Disable", "off")])
    {
        let text = command(what, mode, &program(ccc));
        match files::read_text(path) {
            Ok(existing) if existing == text => {}
            Ok(existing) if !existing.contains(OURS) => {
                log::warn!("{} was not written by ccc and stays unchanged", path.display());
            }
            _ => files::replace(path, text.as_bytes())?,
        }
    }
    Ok(())
}

/// Where the two files belong, whether they exist or not.
pub fn paths(client_dir: &Path) -> [PathBuf; 2] {
    ["supervisor.md", "supervisoroff.md"].map(|name| client_dir.join("commands").join(name))
}

pub fn is_ours(path: &Path) -> bool {
    files::read_text(path).is_ok_and(|text| text.contains(OURS))
}

/// The client runs a shell command only at the start of a line, and only if the front matter allows it.
/// The switch is for the person: the agent cannot use it as a tool.
fn command(what: &str, mode: &str, ccc: &str) -> String {
    format!(
        "---\ndescription: {what} supervisor mode\nallowed-tools: Bash({ccc} supervisor-mode:*)\n\
         disable-model-invocation: true\n---\n\
         !`{ccc} supervisor-mode {mode}`\n\n$ARGUMENTS\n"
    )
}

/// Just `ccc` if that name on the PATH is this very program, otherwise the full path.
fn program(ccc: &Path) -> String {
    let found = executables::on_path(Path::new("ccc")).and_then(|path| path.canonicalize().ok());
    if found.is_some() && found == ccc.canonicalize().ok() { "ccc".to_owned() } else { quoted(ccc) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scenarios 004 «supervisor.md 内容格式», «supervisoroff.md 内容格式»; the design overrules their
    /// literal text, which the client never runs.
    #[test]
    fn scenario_004_the_commands_have_the_form_that_runs() {
        let dir = tempfile::tempdir().unwrap();
        create(dir.path(), Path::new("/opt/ccc")).unwrap();
        let read =
            |name: &str| std::fs::read_to_string(dir.path().join("commands").join(name)).unwrap();
        assert_eq!(
            read("supervisor.md"),
            "---\ndescription: Enable supervisor mode\nallowed-tools: Bash(/opt/ccc supervisor-mode:*)\n\
             disable-model-invocation: true\n---\n\
             !`/opt/ccc supervisor-mode on`\n\n$ARGUMENTS\n"
        );
        assert!(read("supervisoroff.md").contains("!`/opt/ccc supervisor-mode off`\n"));
        std::fs::write(dir.path().join("commands/supervisor.md"), "mine").unwrap();
        create(dir.path(), Path::new("/opt/ccc")).unwrap();
        assert_eq!(read("supervisor.md"), "mine");
    }
}
