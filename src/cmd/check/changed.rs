//! The files changed in the working tree, for checks that apply only to some files.

use std::path::Path;
use std::process::Command;

use crate::tree::ask;

/// Files that differ from the last commit, relative to the project. `None` if this is not a git
/// repository, or git cannot be run.
pub fn files(project: &Path) -> Option<Vec<String>> {
    let git = |args: &[&str]| ask(Command::new("git").args(args), project, b"", u64::MAX).ok();
    let answer = git(&[
        "status",
        "--porcelain=v1",
        "-z",
        "--untracked-files=all",
        "--no-renames",
        "--",
        ".",
    ])
    .filter(|answer| answer.status.success())?;
    let prefix = git(&["rev-parse", "--show-prefix"])?.printed;
    let prefix = String::from_utf8_lossy(&prefix).trim_end().to_owned();
    let text = String::from_utf8_lossy(&answer.printed).into_owned();
    Some(paths(&text, &prefix))
}

/// Parses entries `XY path`, each terminated by a zero byte, with paths relative to the repository's root.
fn paths(status: &str, prefix: &str) -> Vec<String> {
    let path = |entry: &str| {
        let path = entry.get(3..)?;
        Some(path.strip_prefix(prefix).unwrap_or(path).to_owned())
    };
    status.split('\0').filter_map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_below_the_project() {
        let status = " M web/src/a b.ts\0?? web/new.ts\0";
        assert_eq!(paths(status, "web/"), ["src/a b.ts", "new.ts"]);
        assert_eq!(paths("", ""), [""; 0]);
        assert_eq!(paths("D  a.py\0", ""), ["a.py"]);
    }
}
