//! A change of the client's configuration while the work is under supervision.
//!
//! The client applies a changed settings file within the turn, and a hook in it that answers
//! `{"continue": false}` ends the turn in spite of any feedback; so does a hook in the front matter of
//! a skill. The agent can write both. The client asks first (`ConfigChange`), and keeps its
//! configuration if the answer is no. Every change of a settings file is refused, whatever its content:
//! the file may change again between ccc's look at it and the client's.

use std::path::Path;

use super::event::ConfigChange;
use crate::files;

impl ConfigChange {
    /// Why the client must keep its present configuration, worded for the person; `None` if the change
    /// is harmless.
    pub fn refusal(&self) -> Option<String> {
        let (path, skill) = (&self.file_path, self.source == "skills");
        if skill && !declares_hooks(Path::new(path)) {
            return None;
        }
        let path = if path.is_empty() { "A settings file" } else { path };
        Some(format!(
            "{path} was changed, and it could hold hooks that end the agent's turn before its review counts. \
             While the work is supervised, claude keeps the settings and skills that it started with. To use \
             the changed file, check it and start claude again."
        ))
    }
}

/// A skill that ccc cannot read counts as declaring hooks: the client may be able to read it.
fn declares_hooks(skill: &Path) -> bool {
    files::read_text(skill).map_or(true, |text| text.contains("hooks"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_stay_as_they_were_and_skills_without_hooks_are_taken_up() {
        let dir = tempfile::tempdir().unwrap();
        let refused = |source: &str, text: &str| {
            let path = dir.path().join("changed");
            std::fs::write(&path, text).unwrap();
            let file_path = path.display().to_string();
            let refusal = ConfigChange { source: source.to_owned(), file_path }.refusal();
            if let Some(told) = &refusal {
                assert!(told.starts_with(&path.display().to_string()), "{told}");
            }
            refusal.is_some()
        };
        for source in ["user_settings", "project_settings", "local_settings", "something new"] {
            assert!(refused(source, "{}"), "{source}");
        }
        assert!(refused("skills", "---\nname: a\nhooks:\n  Stop: []\n---\n"));
        assert!(!refused("skills", "---\nname: a\n---\nSay hi.\n"));
        let gone = ConfigChange { source: "skills".into(), file_path: "/nowhere".into() };
        assert!(gone.refusal().is_some());
        assert!(ConfigChange::default().refusal().is_some());
    }
}
