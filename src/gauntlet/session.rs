//! A session of the gauntlet, as described in `sessions/*.yaml`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use saphyr::{LoadableYamlNode, MarkedYaml};
use serde::Deserialize;
use serde_json::Value;

use crate::executables;
use crate::review::front_matter;

/// Programs that sessions run and a machine may lack.
const PROGRAMS: [&str; 6] = ["make", "node", "python3", "rustc", "sqlite3", "timeout"];

/// One session; `docs/gauntlet.md` explains the fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GauntletSession {
    pub name: String,
    /// Counted from 0, in the order of the files.
    #[serde(skip)]
    pub number: usize,
    #[serde(skip)]
    pub file: &'static str,
    /// What is wrong with the work that the agent calls done. `None` if the work is right.
    #[serde(default)]
    pub wrong: Option<String>,
    /// `ccc judge` plays it by default.
    #[serde(default)]
    pub sample: bool,
    /// The name of a project in `projects.yaml`, to which `files` are added.
    #[serde(default)]
    pub project: Option<String>,
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    #[serde(default)]
    pub without_git: bool,
    #[serde(default)]
    pub checks: Vec<String>,
    /// A program that not every machine has; without it the session is skipped.
    #[serde(default)]
    pub needs: Option<String>,
    pub play: Vec<Act>,
    /// Text planted in the session for the judge to find, which a quoting judge repeats.
    #[serde(default)]
    pub planted: Option<String>,
    /// What the brief must tell the judge.
    #[serde(default)]
    pub brief: Vec<String>,
    /// What the brief must not say.
    #[serde(default)]
    pub not_in_brief: Vec<String>,
    /// What an honest judge runs itself.
    #[serde(default)]
    pub judge_runs: Vec<String>,
    /// The proof of an honest judge, one requirement each; only if the work is right.
    #[serde(default)]
    pub proof: Vec<Value>,
}

/// Something that the user says or the agent does; the first key determines which.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Act {
    User {
        user: String,
    },
    /// The agent's last message of a turn.
    Says {
        says: String,
    },
    Run {
        run: String,
    },
    /// A command that, as far as the client knows, keeps running.
    Background {
        background: String,
    },
    Write {
        write: String,
        text: String,
    },
    Edit {
        edit: String,
        old: String,
        new: String,
    },
    Fetch {
        fetch: String,
        page: String,
    },
}

impl GauntletSession {
    pub fn is_right(&self) -> bool {
        self.wrong.is_none()
    }

    pub fn is_red(&self) -> bool {
        !self.checks.is_empty() && !self.is_right()
    }

    /// Whether its name or that of its file contains this.
    pub fn is_called(&self, part: &str) -> bool {
        self.name.contains(part) || self.file.contains(part)
    }

    /// A program that the session needs and this machine lacks. Without it the work would not be
    /// what the label is about.
    pub fn lacks(&self) -> Option<&str> {
        let is_missing = |name: &&str| executables::on_path(Path::new(name)).is_none();
        self.programs().into_iter().find(is_missing)
    }

    fn programs(&self) -> Vec<&str> {
        let run = self.play.iter().filter_map(|act| match act {
            Act::Run { run } | Act::Background { background: run } => Some(run),
            _ => None,
        });
        let commands: Vec<_> = run.chain(&self.checks).chain(&self.judge_runs).collect();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let is_run = |name: &str| {
            commands.iter().any(|run| run.split(|c| !is_word(c)).any(|one| one == name))
        };
        let git = (!self.without_git).then_some("git");
        let used = PROGRAMS.into_iter().filter(|name| is_run(name));
        self.needs.as_deref().into_iter().chain(git).chain(used).collect()
    }

    /// Each message of the user, with what the agent does next.
    pub fn turns(&self) -> Vec<(&str, &[Act])> {
        let starts: Vec<_> =
            (0..self.play.len()).filter(|at| matches!(self.play[*at], Act::User { .. })).collect();
        let ends = starts.iter().skip(1).copied().chain([self.play.len()]);
        let turn = |(start, end): (&usize, usize)| match &self.play[*start] {
            Act::User { user } => (user.as_str(), &self.play[start + 1..end]),
            _ => unreachable!("a turn starts with the user"),
        };
        starts.iter().zip(ends).map(turn).collect()
    }

    pub fn last_words(&self) -> &str {
        let said = self.play.iter().rev().find_map(|act| match act {
            Act::Says { says } => Some(says.as_str()),
            _ => None,
        });
        said.unwrap_or_default()
    }
}

/// Every file in `sessions/`, in the order of their names.
const FILES: [(&str, &str); 9] = [
    ("1-tests.yaml", include_str!("sessions/1-tests.yaml")),
    ("2-work.yaml", include_str!("sessions/2-work.yaml")),
    ("3-planted.yaml", include_str!("sessions/3-planted.yaml")),
    ("4-elsewhere.yaml", include_str!("sessions/4-elsewhere.yaml")),
    ("5-further.yaml", include_str!("sessions/5-further.yaml")),
    ("6-weakened.yaml", include_str!("sessions/6-weakened.yaml")),
    ("7-right-further.yaml", include_str!("sessions/7-right-further.yaml")),
    ("8-right-elsewhere.yaml", include_str!("sessions/8-right-elsewhere.yaml")),
    ("9-right.yaml", include_str!("sessions/9-right.yaml")),
];
const PROJECTS: &str = include_str!("projects.yaml");

pub fn all() -> Result<Vec<GauntletSession>> {
    type Projects = BTreeMap<String, BTreeMap<String, String>>;
    let projects: Projects =
        serde_json::from_value(parsed(PROJECTS)?).context("projects.yaml of the gauntlet")?;
    let mut sessions = Vec::new();
    for (name, text) in FILES {
        let Value::Array(items) = parsed(text).context(name)? else {
            return Err(anyhow!("{name} is not a list of sessions"));
        };
        // Item by item, so that an error names its session.
        for item in items {
            let title = item["name"].to_string();
            let read = serde_json::from_value(item).map_err(anyhow::Error::from);
            let read = read.map(|session| GauntletSession {
                file: name,
                number: sessions.len(),
                ..session
            });
            let session = read.and_then(|session| with_files(session, &projects));
            sessions.push(session.with_context(|| format!("{name}: {title}"))?);
        }
    }
    Ok(sessions)
}

fn with_files(
    mut session: GauntletSession,
    projects: &BTreeMap<String, BTreeMap<String, String>>,
) -> Result<GauntletSession> {
    if let Some(name) = &session.project {
        let project = projects.get(name).with_context(|| format!("there is no project {name}"))?;
        for (path, text) in project {
            session.files.entry(path.clone()).or_insert_with(|| text.clone());
        }
    }
    Ok(session)
}

fn parsed(text: &str) -> Result<Value> {
    let yaml = MarkedYaml::load_from_str(text)?;
    Ok(front_matter::json(yaml.first().context("it is empty")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_sessions_is_compiled_in() {
        let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/gauntlet/sessions");
        let entries = std::fs::read_dir(dir).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, FILES.map(|(name, _)| name));
        let sessions = all().unwrap();
        let mut names: Vec<_> = sessions.iter().map(|session| &session.name).collect();
        names.sort();
        assert_eq!(names.windows(2).find(|pair| pair[0] == pair[1]), None);
    }

    #[test]
    fn the_sample_is_balanced_and_needs_few_programs() {
        let mut sample = all().unwrap();
        sample.retain(|session| session.sample);
        assert_eq!(sample.len(), 20);
        assert_eq!(sample.iter().filter(|session| session.is_right()).count(), 10);
        for session in sample {
            let common = |name: &&str| ["git", "python3"].contains(name);
            assert!(session.programs().iter().all(common), "{}", session.name);
            assert!(session.checks.is_empty(), "no judge is asked: {}", session.name);
        }
    }

    #[test]
    fn a_session_needs_the_programs_that_it_runs() {
        let sessions = all().unwrap();
        let of = |name: &str| sessions.iter().find(|one| one.name == name).unwrap().programs();
        assert_eq!(of("a green check"), ["git", "python3"]);
        assert_eq!(of("a plan"), ["git"]);
    }
}
