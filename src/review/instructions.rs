//! Finds SUPERVISOR.md: the project's, or else the user's own.

use std::path::{Path, PathBuf};

use super::front_matter::{self, FrontMatter, Mistake};
use crate::files;

pub const FILE: &str = "SUPERVISOR.md";
/// What `ccc init` writes.
pub const DEFAULT: &str = include_str!("../../SUPERVISOR.example.md");

#[derive(Debug, PartialEq)]
pub struct Instructions {
    pub path: PathBuf,
    /// The text for the judge: the file without its front matter.
    pub text: String,
    /// The settings for ccc itself.
    pub front: FrontMatter,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Problem {
    Missing {
        looked_in: [PathBuf; 2],
    },
    Unreadable {
        path: PathBuf,
        why: String,
    },
    /// The front matter says something that ccc cannot follow.
    Broken {
        path: PathBuf,
        mistake: Mistake,
    },
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Problem::Missing { looked_in: [project, global] } => write!(
                f,
                "there is no SUPERVISOR.md to tell the supervisor what to look for.\n\
                 ccc looked for {} (and in the directories above it, up to the root of the repository) and for {}.\n\
                 Run `ccc init` to write one for this project, or `ccc init --global` to write one for all your projects.",
                project.display(),
                global.display()
            ),
            Problem::Unreadable { path, why } => {
                write!(f, "cannot read {}: {why}", path.display())?;
                // `ccc judge` takes files of other names, too.
                if path.ends_with(FILE) {
                    f.write_str(". Fix it, or remove it and run `ccc init`")?;
                }
                Ok(())
            }
            Problem::Broken { path, mistake: Mistake { line, why } } => {
                write!(f, "{}, line {line}: {why}", path.display())
            }
        }
    }
}

impl Instructions {
    /// Reads the text of a whole file, including its front matter. If there is nothing but front
    /// matter, the judge gets the default text.
    pub fn read(path: &Path, text: &str) -> Result<Self, Problem> {
        let broken = |mistake| Problem::Broken { path: path.to_owned(), mistake };
        let (front, own) = front_matter::split(text).map_err(broken)?;
        let (_, default) = front_matter::split(DEFAULT).map_err(broken)?;
        let text = if own.trim().is_empty() { default } else { own };
        Ok(Self { path: path.to_owned(), text: text.to_owned(), front })
    }

    /// What `ccc init` writes, as if it were the file at this path.
    pub fn default_at(path: &Path) -> Result<Self, Problem> {
        Self::read(path, DEFAULT)
    }
}

/// The project's directory and those above it, up to the root of its repository: a session in a
/// subdirectory follows the instructions for the whole repository. Without a repository, the
/// directory alone.
fn places(project: &Path) -> Vec<&Path> {
    let root = project.ancestors().position(|dir| dir.join(".git").exists());
    project.ancestors().take(root.unwrap_or(0) + 1).collect()
}

/// The instructions in this file, or `None` if there is no such file.
pub fn at(path: &Path) -> Result<Option<Instructions>, Problem> {
    let unreadable = |why: String| Err(Problem::Unreadable { path: path.to_owned(), why });
    match files::read_text(path) {
        Ok(text) if text.trim().is_empty() => unreadable("it is empty".to_owned()),
        // The text is also passed on a command line, where a NUL would end it.
        Ok(text) if text.contains('\0') => {
            unreadable("it contains a NUL character, so it is not text".to_owned())
        }
        Ok(text) => Instructions::read(path, &text).map(Some),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && path.is_symlink() => {
            unreadable("it is a link to a file that does not exist".to_owned())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => unreadable(error.to_string()),
    }
}

pub fn find(project: &Path, config_dir: &Path) -> Result<Instructions, Problem> {
    let looked_in = [project.join(FILE), config_dir.join(FILE)];
    let above = places(project).into_iter().map(|dir| dir.join(FILE));
    for path in above.chain([config_dir.join(FILE)]) {
        if let Some(found) = at(&path)? {
            return Ok(found);
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
    fn what_cannot_be_used_is_not_called_missing() {
        let (_dir, project, config) = dirs();
        let problem = || find(&project, &config).unwrap_err().to_string();
        fs::write(project.join(FILE), " \n").unwrap();
        let advice = "SUPERVISOR.md: it is empty. Fix it, or remove it and run `ccc init`";
        assert!(problem().ends_with(advice), "{}", problem());
        fs::remove_file(project.join(FILE)).unwrap();
        std::os::unix::fs::symlink("nowhere", project.join(FILE)).unwrap();
        assert!(problem().contains("it is a link to a file that does not exist"));
    }

    #[test]
    fn in_a_part_of_a_repository_the_nearest_one_above_counts_and_none_beyond() {
        let (dir, project, config) = dirs();
        let part = project.join("a/b");
        fs::create_dir_all(&part).unwrap();
        fs::write(dir.path().join(FILE), "beyond").unwrap();
        fs::write(config.join(FILE), "global").unwrap();
        fs::write(project.join(FILE), "root").unwrap();
        assert_eq!(find(&part, &config).unwrap().text, "global", "no repository");
        fs::create_dir(project.join(".git")).unwrap();
        let found = find(&part, &config).unwrap();
        assert_eq!((found.text.as_str(), found.path), ("root", project.join(FILE)));
        fs::write(project.join("a").join(FILE), "nearer").unwrap();
        assert_eq!(find(&part, &config).unwrap().text, "nearer");
        fs::remove_file(project.join(FILE)).unwrap();
        fs::remove_file(project.join("a").join(FILE)).unwrap();
        assert_eq!(find(&part, &config).unwrap().text, "global", "none beyond the repository");
    }

    #[test]
    fn the_front_matter_is_not_told_to_the_judge() {
        let (_dir, project, config) = dirs();
        fs::write(project.join(FILE), "---\nproof: required\nchecks: [make]\n---\nBe strict.\n")
            .unwrap();
        let found = find(&project, &config).unwrap();
        assert_eq!((found.text.as_str(), found.front.checks.len()), ("Be strict.\n", 1));
        fs::write(project.join(FILE), "---\nchecks: [make]\n---\n").unwrap();
        let bare = find(&project, &config).unwrap();
        assert!(bare.text.contains("# Supervisor") && !bare.text.starts_with("---"), "{bare:?}");
        assert_eq!(Instructions::default_at(&project).unwrap().text, bare.text);
    }

    #[test]
    fn broken_front_matter_is_an_error_with_file_and_line() {
        let (_dir, project, config) = dirs();
        fs::write(project.join(FILE), "---\nproof: required\nchecks: 3\n---\nBe strict.\n")
            .unwrap();
        let problem = find(&project, &config).unwrap_err().to_string();
        assert!(problem.contains("SUPERVISOR.md, line 3: `checks` must be a list"), "{problem}");
    }

    #[test]
    fn scenario_001_no_supervisor_md_is_an_error_that_tells_how_to_create_it() {
        let (_dir, project, config) = dirs();
        let problem = find(&project, &config).unwrap_err();
        assert!(problem.to_string().contains("ccc init"), "{problem}");
        for bad in [&[0xff][..], b"be strict\0", b" \n"] {
            fs::write(project.join(FILE), bad).unwrap();
            assert!(matches!(find(&project, &config), Err(Problem::Unreadable { .. })), "{bad:?}");
        }
    }
}
