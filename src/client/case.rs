//! The glass case of a review: what is asked of the shim, and what the shim says it did. A process in
//! a case may run anything, and nothing that it writes to the project stays.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// `supervisor.sandbox` in ccc.json.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sandbox {
    /// The best that this machine gives.
    #[default]
    Auto,
    /// No review without a case.
    Required,
    /// No case.
    Off,
}

impl Sandbox {
    /// The case for a review of this project; the directories beside it may be relative to it.
    pub fn case(self, project: &Path, beside: &[OsString]) -> Option<Case> {
        let beside = beside.iter().map(|dir| project.join(dir));
        let covered = [project.to_owned()].into_iter().chain(beside).collect();
        (self != Sandbox::Off).then_some(Case { required: self == Sandbox::Required, covered })
    }
}

/// What the shim is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Without a case the client is not started at all.
    pub required: bool,
    /// The project, and the directories beside it that the client may look at.
    pub covered: Vec<PathBuf>,
}

/// What keeps a process from changing the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// It sees a copy of the project that vanishes with it.
    Overlay,
    /// It can read everything and write nearly nothing.
    Landlock,
    /// Only what it is allowed to run.
    #[default]
    Nothing,
}

impl Held {
    /// The more, the less is held.
    pub fn weakness(self) -> u8 {
        match self {
            Held::Overlay => 0,
            Held::Landlock => 1,
            Held::Nothing => 2,
        }
    }
}

/// The shim's first line, before anything of the client.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CaseReport {
    pub held: Held,
    /// Why it is not a better one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

const REQUIRED: &str = "--case-required";
const WHERE_POSSIBLE: &str = "--case";
const COVER: &str = "--cover";

impl Case {
    /// As arguments for the shim.
    pub fn args(&self) -> Vec<OsString> {
        let mut args = vec![if self.required { REQUIRED } else { WHERE_POSSIBLE }.into()];
        for dir in &self.covered {
            args.push(COVER.into());
            args.push(dir.into());
        }
        args
    }

    /// The arguments in front of `--`, back again. `None` when they are none of ours.
    pub fn read(args: &[OsString]) -> Option<Self> {
        let (first, rest) = args.split_first()?;
        let required = first == REQUIRED;
        if !required && first != WHERE_POSSIBLE {
            return None;
        }
        let covered = rest.chunks(2).map(|pair| match pair {
            [option, dir] if option == COVER => Some(PathBuf::from(dir)),
            _ => None,
        });
        Some(Self { required, covered: covered.collect::<Option<_>>()? })
    }
}

impl Held {
    pub fn is_case(self) -> bool {
        self != Held::Nothing
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Held::Overlay => "an overlay over the project",
            Held::Landlock => "a Landlock case, with the project read-only",
            Held::Nothing => "no glass case",
        })
    }
}

/// The type of the shim's line, beside the client's own types.
pub const LINE_TYPE: &str = "ccc_case";

impl CaseReport {
    /// For people.
    pub fn told(&self) -> String {
        let place = match self.held {
            Held::Overlay | Held::Landlock => format!("the review runs in {}", self.held),
            Held::Nothing => "the review runs without a glass case".to_owned(),
        };
        match self.why.as_str() {
            "" => place,
            why => format!("{place} ({why})"),
        }
    }

    pub fn line(&self) -> String {
        #[derive(Serialize)]
        struct CaseLine<'a> {
            r#type: &'static str,
            #[serde(flatten)]
            report: &'a CaseReport,
        }
        let line = serde_json::to_string(&CaseLine { r#type: LINE_TYPE, report: self });
        line.unwrap_or_default() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_survives_the_command_line() {
        for required in [true, false] {
            let covered = vec![PathBuf::from("/a b"), PathBuf::from("--cover")];
            let case = Case { required, covered };
            assert_eq!(Case::read(&case.args()), Some(case));
        }
        for odd in [vec![], vec!["--"], vec!["--case", "--cover"], vec!["--case", "x", "y"]] {
            let odd: Vec<_> = odd.into_iter().map(OsString::from).collect();
            assert_eq!(Case::read(&odd), None, "{odd:?}");
        }
    }

    #[test]
    fn the_report_is_one_line() {
        let report = CaseReport { held: Held::Landlock, why: "a\nb".into() };
        assert_eq!(
            report.line(),
            "{\"type\":\"ccc_case\",\"held\":\"landlock\",\"why\":\"a\\nb\"}\n"
        );
    }
}
