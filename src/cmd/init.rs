//! `ccc init`: a SUPERVISOR.md to start from, with the checks that fit the project.

use std::fmt::Write as _;
use std::io::{BufRead, ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::questions::{self, Questions};
use crate::checks::Check;
use crate::checks::propose::propose;
use crate::checks::trust::Decisions;
use crate::console;
use crate::directories::Directories;
use crate::files;
use crate::review::instructions;

/// Manifests are small; a larger file is something else.
const MAX_MANIFEST: u64 = 4 << 20;

const NONE_FOUND: &str =
    "ccc found no checks to propose for this directory; name your own at the top of the file.\n";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Proposals {
    Taken,
    /// Written as comments.
    Left,
}

pub fn run(global: bool, yes: bool) -> Result<i32> {
    let place = Directories::find()?;
    if global {
        create(&place.config_dir.join(instructions::FILE), instructions::DEFAULT)?;
        return Ok(0);
    }
    let path = place.project.join(instructions::FILE);
    let proposed = proposals(&place.project);
    // Checked before any question is asked, since the answer would be useless.
    if path.symlink_metadata().is_ok() {
        let paste = if proposed.is_empty() {
            String::new()
        } else {
            format!(
                "\nThese checks fit this project; add them to the front matter of that file if \
                 you like:\n\n{}",
                listed(&proposed)
            )
        };
        bail!("{} already exists and was not changed{paste}", path.display());
    }
    if yes {
        create(&path, &text(&proposed, Proposals::Taken))?;
        if proposed.is_empty() {
            console::print(NONE_FOUND)?;
        } else {
            let list = listed(&proposed);
            console::print(format!("It has these; `ccc check` asks before it runs them:\n{list}"))?;
        }
    } else {
        write(&place, questions::is_possible().then(Questions::terminal).as_mut())?;
    }
    Ok(0)
}

/// Writes the project's SUPERVISOR.md. A person is asked about the checks; a yes also allows ccc to run them.
pub fn write<R: BufRead, W: Write>(
    place: &Directories,
    questions: Option<&mut Questions<R, W>>,
) -> Result<()> {
    let path = place.project.join(instructions::FILE);
    let proposed = proposals(&place.project);
    let taken = match questions {
        Some(questions) if !proposed.is_empty() => {
            questions.say("Checks that fit this project:\n")?;
            questions.say(&listed(&proposed))?;
            questions
                .confirm("Run them whenever the agent stops, before ccc asks a model?", true)?
        }
        _ => false,
    };
    let proposals = if taken { Proposals::Taken } else { Proposals::Left };
    create(&path, &text(&proposed, proposals))?;
    if proposed.is_empty() {
        console::print(NONE_FOUND)?;
    } else if !taken {
        console::print(
            "It proposes checks as comments; to use them, remove the # before `checks:` and before \
             those that you want.\n",
        )?;
    }
    if taken {
        Decisions::of(&place.config_dir).trust(&place.project, &proposed)?;
    }
    Ok(())
}

fn create(path: &Path, text: &str) -> Result<()> {
    match files::create_new(path, text.as_bytes(), files::FOR_ALL) {
        Ok(()) => {
            let path = path.display();
            console::print(format!("Wrote {path}. Edit it to say what counts as done.\n"))?;
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("{} already exists and was not changed", path.display())
        }
        Err(error) => Err(error).with_context(|| format!("cannot write {}", path.display())),
    }
}

fn proposals(project: &Path) -> Vec<Check> {
    let read = |name: &str| {
        let path = project.join(name);
        let size = path.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
        if size > MAX_MANIFEST {
            return Some(String::new());
        }
        crate::files::read(&path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let list = |dir: &str| {
        let entries = project.join(dir).read_dir().into_iter().flatten().flatten();
        let mut names: Vec<_> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    };
    propose(&read, &list)
}

fn listed(checks: &[Check]) -> String {
    let mut text = "checks:\n".to_owned();
    for check in checks {
        let _ = writeln!(text, "  - {}", yaml(&check.run));
    }
    text
}

/// A command as a YAML scalar: quoted as in JSON if it could be read as anything else.
fn yaml(command: &str) -> String {
    let plain = command.starts_with(|c: char| c.is_ascii_alphabetic() || c == '.')
        && command.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" ./_-=".contains(&byte))
        && command.contains(' ');
    if plain { command.to_owned() } else { serde_json::json!(command).to_string() }
}

/// The default text, with these checks in place of its examples.
fn text(proposed: &[Check], proposals: Proposals) -> String {
    if proposed.is_empty() {
        return instructions::DEFAULT.to_owned();
    }
    let list = match proposals {
        Proposals::Taken => listed(proposed),
        Proposals::Left => {
            listed(proposed).lines().fold(String::new(), |text, line| text + "# " + line + "\n")
        }
    };
    let mut text = String::new();
    let mut examples = false;
    for line in instructions::DEFAULT.lines() {
        if line == "# checks:" {
            examples = true;
            text.push_str(&list);
        }
        examples &= line.starts_with('#');
        if !examples {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::front_matter::{Proof, split};

    #[test]
    fn the_default_takes_the_projects_checks_in_place_of_its_examples() {
        let checks = [Check::command("make test"), Check::command("go vet ./...: \"x\"")];
        let taken = text(&checks, Proposals::Taken);
        let (front, body) = split(&taken).unwrap();
        assert_eq!((front.checks.as_slice(), front.proof), (&checks[..], Some(Proof::Required)));
        assert!(!taken.contains("cargo test") && body.starts_with("# Supervisor\n"), "{taken}");
        let left = text(&checks, Proposals::Left);
        let (front, same) = split(&left).unwrap();
        assert_eq!((front.checks, same), (Vec::new(), body));
        assert!(left.contains("# checks:\n#   - make test\n"), "{left}");
        assert_eq!(text(&[], Proposals::Taken), instructions::DEFAULT);
        assert_eq!(split(instructions::DEFAULT).unwrap().0.proof, Some(Proof::Required));
    }
}
