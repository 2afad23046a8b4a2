//! Checks: the user's own commands, which ccc runs before it asks any model.

mod declared;
pub mod feedback;
pub mod propose;
pub mod result;
pub mod running;
pub mod suite;
pub mod trust;

use std::time::Duration;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How long a check may take that sets no timeout.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// The reason why a confirmation must be repeated.
pub const FILES_CHANGED: &str =
    "files of the project changed while it ran, and the checks have to run again";

/// Whether a confirmation counts only after the checks have run again, because the files that were
/// checked and judged have changed since.
pub fn voids_confirmation(checks: &[Check], changed: bool) -> bool {
    changed && !checks.is_empty()
}

/// One check from the front matter of SUPERVISOR.md or from `supervisor.checks` in ccc.json: a
/// command alone, or a map. `declared` reads both forms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value")]
pub struct Check {
    /// The name on the screen and in a verdict's evidence.
    pub name: String,
    /// The command for `sh -c`, in the project's directory.
    pub run: String,
    #[serde(rename = "timeout", serialize_with = "declared::in_seconds")]
    pub timeout: Duration,
    /// Globs: the check runs only if a file that they match has changed. Without any, it always
    /// runs.
    pub when: Vec<String>,
    /// Run in the judge's glass case instead of in the tree itself.
    pub case: bool,
}

impl Check {
    pub fn command(run: &str) -> Self {
        Self {
            name: declared::name_of(run),
            run: run.trim().to_owned(),
            timeout: DEFAULT_TIMEOUT,
            when: Vec::new(),
            case: false,
        }
    }

    /// Whether the check should run, given the files that changed since the task began. It should
    /// if those are unknown.
    pub fn concerns(&self, changed: Option<&[String]>) -> bool {
        let (false, Some(changed)) = (self.when.is_empty(), changed) else { return true };
        // The globs were validated when the check was read.
        globs(&self.when).is_ok_and(|globs| changed.iter().any(|path| globs.is_match(path)))
    }
}

/// As in a `.gitignore`: a glob without a slash matches a name in any directory, one that begins
/// with a slash is relative to the project, and one that ends with a slash matches everything below
/// that directory. A glob that could never match is an error: its check would always be skipped.
fn globs(patterns: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for written in patterns {
        if written.starts_with('!') {
            return Err(format!(
                "{written:?} would exclude files; list those that the check is for"
            ));
        }
        if written.split('/').any(|part| part == "..") {
            return Err(format!("{written:?} lies outside the project"));
        }
        let pattern = written.trim_start_matches("./");
        let from_the_top = pattern.trim_start_matches('/');
        let pattern = match pattern.strip_suffix('/') {
            _ if from_the_top.is_empty() => return Err(format!("{written:?} names no file")),
            Some(_) => format!("{from_the_top}**"),
            None if pattern.contains('/') => from_the_top.to_owned(),
            None => format!("**/{pattern}"),
        };
        let glob = GlobBuilder::new(&pattern).literal_separator(true).build();
        set.add(glob.map_err(|error| error.to_string())?);
    }
    set.build().map_err(|error| error.to_string())
}

/// All checks of a session: the user's own first, then the project's. The user's own check replaces
/// a check of the project with the same name.
pub fn together(own: Vec<Check>, project: Vec<Check>) -> Vec<Check> {
    let replaced: Vec<_> = project
        .into_iter()
        .filter(|check| own.iter().all(|other| other.name != check.name))
        .collect();
    own.into_iter().chain(replaced).collect()
}

/// A name that two checks share, if there is one; a verdict could not tell them apart.
pub fn shared_name(checks: &[Check]) -> Option<&str> {
    let mut names: Vec<_> = checks.iter().map(|check| check.name.as_str()).collect();
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_runs_if_a_changed_file_matches_its_globs() {
        let check = |when: &[&str]| Check {
            when: when.iter().map(|&glob| glob.to_owned()).collect(),
            ..Check::command("true")
        };
        for (when, path, concerns) in [
            (&[][..], "README.md", true),
            (&["*.rs"], "src/deep/lib.rs", true),
            (&["*.rs"], "README.md", false),
            (&["src/*.rs"], "src/lib.rs", true),
            (&["src/*.rs"], "src/deep/lib.rs", false),
            (&["./web/"], "web/a/b.ts", true),
            (&["web/"], "webs/b.ts", false),
            (&["*.py", "pyproject.toml"], "pyproject.toml", true),
            (&["*.{ts,tsx}"], "a/b.tsx", true),
            (&["/src/*.rs"], "src/lib.rs", true),
            (&["/web/"], "web/a/b.ts", true),
            (&["/Makefile"], "Makefile", true),
            (&["/Makefile"], "deep/Makefile", false),
            (&["a/..b/*"], "a/..b/c", true),
        ] {
            let changed = [path.to_owned()];
            assert_eq!(check(when).concerns(Some(&changed)), concerns, "{when:?} {path}");
        }
        assert!(check(&["*.rs"]).concerns(None), "nobody knows what changed");
        assert!(!check(&["*.rs"]).concerns(Some(&[])), "nothing changed");
    }

    #[test]
    fn the_users_own_check_replaces_the_projects() {
        let project = vec![Check::command("make test"), Check::command("make lint")];
        let mut own = Check::command("make -j8 test");
        own.name = "make test".to_owned();
        let names: Vec<_> =
            together(vec![own], project).into_iter().map(|check| check.run).collect();
        assert_eq!(names, ["make -j8 test", "make lint"]);
    }
}
