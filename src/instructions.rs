//! SUPERVISOR.md: the project's, then the user's own.

use std::path::{Path, PathBuf};

pub const FILE: &str = "SUPERVISOR.md";
/// What `ccc init` writes.
pub const DEFAULT: &str = include_str!("../SUPERVISOR.example.md");

#[derive(Debug, PartialEq, Eq)]
pub struct Instructions {
    pub path: PathBuf,
    pub text: String,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Problem {
    Missing { looked_in: [PathBuf; 2] },
    Unreadable { path: PathBuf, why: String },
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Problem::Missing { looked_in: [project, global] } => write!(
                f,
                "there is no SUPERVISOR.md to tell the supervisor what to look for.\n\
                 Looked for {} and {}.\n\
                 `ccc init` writes one for this project, `ccc init --global` one for all of yours.",
                project.display(),
                global.display()
            ),
            Problem::Unreadable { path, why } => write!(f, "cannot read {}: {why}", path.display()),
        }
    }
}

pub fn find(project: &Path, config_dir: &Path) -> Result<Instructions, Problem> {
    let looked_in = [project.join(FILE), config_dir.join(FILE)];
    for path in &looked_in {
        match std::fs::read_to_string(path) {
            Ok(text) if text.trim().is_empty() => {
                let why = "it is empty".to_owned();
                return Err(Problem::Unreadable { path: path.clone(), why });
            }
            Ok(text) => return Ok(Instructions { path: path.clone(), text }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(Problem::Unreadable { path: path.clone(), why: error.to_string() });
            }
        }
    }
    Err(Problem::Missing { looked_in })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn dirs() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let (project, config) = (dir.path().join("project"), dir.path().join("config"));
        fs::create_dir_all(&project).unwrap();
        fs::create_dir_all(&config).unwrap();
        (dir, project, config)
    }

    #[test]
    fn scenario_001_the_projects_supervisor_md_comes_first() {
        let (_dir, project, config) = dirs();
        fs::write(project.join(FILE), "project").unwrap();
        fs::write(config.join(FILE), "global").unwrap();
        assert_eq!(find(&project, &config).unwrap().text, "project");
    }

    #[test]
    fn scenario_001_fallback_to_the_global_supervisor_md() {
        let (_dir, project, config) = dirs();
        fs::write(config.join(FILE), "global").unwrap();
        assert_eq!(find(&project, &config).unwrap().text, "global");
    }

    #[test]
    fn scenario_001_no_supervisor_md_is_an_error_that_tells_how_to_create_it() {
        let (_dir, project, config) = dirs();
        let problem = find(&project, &config).unwrap_err();
        assert!(problem.to_string().contains("ccc init"), "{problem}");
        fs::write(project.join(FILE), [0xff]).unwrap();
        assert!(matches!(find(&project, &config), Err(Problem::Unreadable { .. })));
    }
}
