//! The glass case of a review: the request to the shim, and the shim's report. A process in a case
//! may run anything, but nothing that it writes to the project stays.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// `supervisor.sandbox` in ccc.json.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sandbox {
    #[default]
    Auto,
    Required,
    Off,
}

impl Sandbox {
    /// The case for a review of this project; `beside` may be relative to it.
    pub fn case(self, project: &Path, beside: &[OsString]) -> Option<CaseRequest> {
        let beside = beside.iter().map(|dir| project.join(dir));
        let covered = [project.to_owned()].into_iter().chain(beside).collect();
        (self != Sandbox::Off)
            .then_some(CaseRequest { required: self == Sandbox::Required, covered })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseRequest {
    /// Do not start the client at all without a case.
    pub required: bool,
    /// The project, and the directories beside it that the client may read.
    pub covered: Vec<PathBuf>,
}

/// The kind of case: what keeps a process from changing the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseKind {
    /// The process sees a copy of the project that vanishes with it.
    Overlay,
    /// The process can read everything and write almost nothing.
    Landlock,
    /// Only the rules about what it may run.
    #[default]
    Nothing,
}

impl CaseKind {
    /// Higher for a weaker case.
    pub fn weakness(self) -> u8 {
        match self {
            CaseKind::Overlay => 0,
            CaseKind::Landlock => 1,
            CaseKind::Nothing => 2,
        }
    }
}

/// The shim's first line, before any output of the client.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CaseReport {
    pub held: CaseKind,
    /// Why it is not a better case.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

const REQUIRED: &str = "--case-required";
const IF_POSSIBLE: &str = "--case";
const COVER: &str = "--cover";

impl CaseRequest {
    pub fn args(&self) -> Vec<OsString> {
        let mut args = vec![if self.required { REQUIRED } else { IF_POSSIBLE }.into()];
        for dir in &self.covered {
            args.push(COVER.into());
            args.push(dir.into());
        }
        args
    }

    /// Reads the arguments before `--` back. `None` if they are not ours.
    pub fn read(args: &[OsString]) -> Option<Self> {
        let (first, rest) = args.split_first()?;
        let required = first == REQUIRED;
        if !required && first != IF_POSSIBLE {
            return None;
        }
        let covered = rest.chunks(2).map(|pair| match pair {
            [option, dir] if option == COVER => Some(PathBuf::from(dir)),
            _ => None,
        });
        Some(Self { required, covered: covered.collect::<Option<_>>()? })
    }
}

impl CaseKind {
    pub fn is_case(self) -> bool {
        self != CaseKind::Nothing
    }
}

impl fmt::Display for CaseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CaseKind::Overlay => "an overlay over the project",
            CaseKind::Landlock => "a Landlock case, with the project read-only",
            CaseKind::Nothing => "no glass case",
        })
    }
}

/// The `type` of the shim's line, which the client does not use.
pub const LINE_TYPE: &str = "ccc_case";

impl CaseReport {
    pub fn told(&self) -> String {
        let place = match self.held {
            CaseKind::Overlay | CaseKind::Landlock => format!("The review runs in {}", self.held),
            CaseKind::Nothing => "The review runs without a glass case".to_owned(),
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
    fn a_request_survives_the_command_line() {
        for required in [true, false] {
            let covered = vec![PathBuf::from("/a b"), PathBuf::from("--cover")];
            let case = CaseRequest { required, covered };
            assert_eq!(CaseRequest::read(&case.args()), Some(case));
        }
        for odd in [vec![], vec!["--"], vec!["--case", "--cover"], vec!["--case", "x", "y"]] {
            let odd: Vec<_> = odd.into_iter().map(OsString::from).collect();
            assert_eq!(CaseRequest::read(&odd), None, "{odd:?}");
        }
    }

    #[test]
    fn the_report_is_one_line() {
        let report = CaseReport { held: CaseKind::Landlock, why: "a\nb".into() };
        assert_eq!(
            report.line(),
            "{\"type\":\"ccc_case\",\"held\":\"landlock\",\"why\":\"a\\nb\"}\n"
        );
    }
}
