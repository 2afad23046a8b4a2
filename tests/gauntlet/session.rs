//! A session of the gauntlet, as it stands in `sessions/*.yaml`.

use std::collections::BTreeMap;
use std::path::Path;

use saphyr::{LoadableYamlNode, Scalar, Yaml};
use serde::Deserialize;
use serde_json::Value;

/// One session. What the fields mean stands in `docs/gauntlet.md`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    pub name: String,
    /// Counted from 0, in the order of the files.
    #[serde(skip)]
    pub number: usize,
    /// What is wrong with the work that the agent calls done. Without it, the work is right.
    #[serde(default)]
    pub wrong: Option<String>,
    /// The name of a project in `projects.yaml`; `files` come on top of it.
    #[serde(default)]
    pub project: Option<String>,
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// The project is no git repository.
    #[serde(default)]
    pub without_git: bool,
    #[serde(default)]
    pub checks: Vec<String>,
    /// A program that not every machine has; without it the session is left out.
    #[serde(default)]
    pub needs: Option<String>,
    pub play: Vec<Act>,
    /// What a quoter repeats: a text that the session has put somewhere for the judge to find.
    #[serde(default)]
    pub planted: Option<String>,
    /// What the brief has to tell the judge.
    #[serde(default)]
    pub brief: Vec<String>,
    /// What the brief must not say.
    #[serde(default)]
    pub not_in_brief: Vec<String>,
    /// What an honest judge runs itself.
    #[serde(default)]
    pub judge_runs: Vec<String>,
    /// What an honest judge shows, one requirement each. Of work that is right only.
    #[serde(default)]
    pub proof: Vec<Value>,
}

/// Something that the user says or the agent does; the first key names it.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Act {
    User {
        user: String,
    },
    /// The last words of a turn.
    Says {
        says: String,
    },
    Run {
        run: String,
    },
    /// A command that the client keeps running, as far as it knows.
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
    /// A page of the web.
    Fetch {
        fetch: String,
        page: String,
    },
}

impl Session {
    pub fn is_right(&self) -> bool {
        self.wrong.is_none()
    }

    /// Says so when the machine lacks what it needs.
    pub fn can_be_played(&self) -> bool {
        let Some(program) = &self.needs else { return true };
        let path = std::env::var_os("PATH").unwrap_or_default();
        let there = std::env::split_paths(&path).any(|dir| dir.join(program).is_file());
        if !there {
            crate::table::print(&format!("left out, without {program}: {}", self.name));
        }
        there
    }

    /// What the user says, and what the agent does then.
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

    /// The agent's last message.
    pub fn last_words(&self) -> &str {
        let said = self.play.iter().rev().find_map(|act| match act {
            Act::Says { says } => Some(says.as_str()),
            _ => None,
        });
        said.unwrap_or_default()
    }
}

/// All of them, with the files of their projects.
pub fn all() -> Vec<Session> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gauntlet");
    let mut projects: BTreeMap<String, BTreeMap<String, String>> = read(&dir.join("projects.yaml"));
    projects.insert(String::new(), BTreeMap::new());
    let entries = std::fs::read_dir(dir.join("sessions")).expect("sessions");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let mut sessions: Vec<Session> =
        paths.iter().flat_map(|path| read::<Vec<Session>>(path)).collect();
    for (number, session) in sessions.iter_mut().enumerate() {
        session.number = number;
        let project = session.project.clone().unwrap_or_default();
        let project = projects.get(&project).unwrap_or_else(|| panic!("no project {project}"));
        for (path, text) in project {
            session.files.entry(path.clone()).or_insert_with(|| text.clone());
        }
    }
    sessions
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> T {
    let text = std::fs::read_to_string(path).expect("a file of sessions");
    let yaml = Yaml::load_from_str(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let value = json(yaml.first().expect("a document"));
    // Item by item, so that a mistake is named with its session.
    if let Value::Array(items) = &value {
        for item in items {
            if let Err(why) = serde_json::from_value::<Session>(item.clone()) {
                panic!("{}: {}: {why}", path.display(), item["name"]);
            }
        }
    }
    serde_json::from_value(value).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

fn json(yaml: &Yaml) -> Value {
    match yaml {
        Yaml::Value(Scalar::String(text)) => text.as_ref().into(),
        Yaml::Value(Scalar::Integer(number)) => (*number).into(),
        Yaml::Value(Scalar::Boolean(yes)) => (*yes).into(),
        Yaml::Sequence(items) => items.iter().map(json).collect(),
        Yaml::Mapping(fields) => {
            let key = |key: &Yaml| key.as_str().expect("a key is a text").to_owned();
            fields.iter().map(|(name, value)| (key(name), json(value))).collect()
        }
        _ => Value::Null,
    }
}
