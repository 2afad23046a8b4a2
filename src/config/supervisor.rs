//! The `supervisor` section of `ccc.json`.

use std::time::Duration;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{EditorMode, Judge, Notify, Theme};
use crate::checks::{self, Check};
use crate::client::case::Sandbox;
use crate::client::launch::ReviewForm;
use crate::review::front_matter::Proof;
use crate::review::policy::JudgesAsk;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Supervisor {
    /// A provider other than the agent's, for a second opinion.
    pub provider: Option<String>,
    pub max_iterations: Option<u32>,
    pub timeout_seconds: Option<f64>,
    pub background_wait_seconds: Option<f64>,
    pub model: Option<String>,
    pub allowed_tools: Vec<String>,
    /// `cached` or `schema`.
    pub review: ReviewForm,
    /// Whether a review runs in a glass case: auto, required, off.
    pub sandbox: Sandbox,
    pub notify: Notify,
    /// Prints lines instead of drawing a screen, like `--plain`.
    pub plain: bool,
    pub theme: Theme,
    pub editor_mode: EditorMode,
    /// Whether typed keys are recorded; the default is yes.
    pub record_keys: Option<bool>,
    /// Commands that ccc runs before a review in every project, as in the front matter of
    /// SUPERVISOR.md.
    pub checks: Vec<Check>,
    /// The proof that a confirmation needs, if SUPERVISOR.md does not say.
    pub proof: Option<Proof>,
    /// Several judges. If empty, there is one, given by `provider` and `model`.
    pub judges: Vec<Judge>,
    /// Whether all judges are asked, or the others only to confirm a yes of the first.
    pub judges_ask: JudgesAsk,
}

impl Supervisor {
    /// Also checks what the types do not say.
    pub fn read(fields: &Map<String, Value>) -> Result<Self> {
        // Each field is read alone first, because an error about the whole section would not name the field.
        for (name, value) in fields {
            let field = Map::from_iter([(name.clone(), value.clone())]);
            if let Err(error) = serde_json::from_value::<Self>(field.into()) {
                let error = values(name, value).unwrap_or_else(|| error.to_string());
                bail!("supervisor.{name} in ccc.json: {}", plain(&error));
            }
        }
        let supervisor: Self = serde_json::from_value(fields.clone().into())?;
        if supervisor.max_iterations == Some(0) {
            bail!(
                "supervisor.max_iterations in ccc.json is 0, so nothing would be reviewed; use 1 or more"
            );
        }
        supervisor.check_judges()?;
        if let Some(name) = checks::shared_name(&supervisor.checks) {
            bail!(
                "supervisor.checks in ccc.json has two checks named {name:?}; give one of them another name"
            );
        }
        Ok(supervisor)
    }

    /// The names of all fields.
    pub fn keys() -> Vec<String> {
        let all = serde_json::to_value(Self::default()).unwrap_or_default();
        all.as_object().into_iter().flat_map(Map::keys).cloned().collect()
    }

    pub fn timeout(&self) -> Result<Option<Duration>> {
        seconds("supervisor.timeout_seconds", self.timeout_seconds)
    }

    pub fn background_wait(&self) -> Result<Option<Duration>> {
        seconds("supervisor.background_wait_seconds", self.background_wait_seconds)
    }
}

fn seconds(name: &str, value: Option<f64>) -> Result<Option<Duration>> {
    value
        .map(|value| match Duration::try_from_secs_f64(value) {
            Ok(duration) if !duration.is_zero() => Ok(duration),
            _ => bail!("{name} must be a number of seconds above 0, not {value}"),
        })
        .transpose()
}

/// Replaces terms of the JSON parser by words for people who do not write Rust.
fn plain(error: &str) -> String {
    [
        ("unknown variant", "unknown value"),
        ("unknown field", "unknown key"),
        ("invalid type: sequence", "wrong type: list"),
        ("invalid type: map", "wrong type: object"),
        ("invalid type: ", "wrong type: "),
        ("expected u32", "expected a whole number"),
        ("expected f64", "expected a number"),
        ("expected a boolean", "expected true or false"),
        ("expected a sequence", "expected a list"),
        ("expected struct Judge", "expected an object"),
    ]
    .iter()
    .fold(error.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// The error for a value of the wrong type where only some words are possible: it lists them. The
/// parser's own error does not.
fn values(name: &str, value: &Value) -> Option<String> {
    let word = Map::from_iter([(name.to_owned(), value.to_string().into())]);
    let error = serde_json::from_value::<Supervisor>(word.into()).err()?.to_string();
    (!value.is_string() && error.starts_with("unknown variant")).then_some(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn supervisor(config: &str) -> Result<Supervisor> {
        Config::parse(config).unwrap().supervisor()
    }

    #[test]
    fn numbers_are_checked() {
        let seconds = |number: &str| {
            supervisor(&format!(r#"{{"supervisor":{{"timeout_seconds":{number}}}}}"#))
                .unwrap()
                .timeout()
        };
        assert_eq!(seconds("1.5").unwrap(), Some(Duration::from_millis(1500)));
        for bad in ["-1", "0", "1e300"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_field_that_is_wrong_or_unknown_is_named() {
        for (text, expected) in [
            (
                r#"{"supervisor":{"plain":true,"max_iterations":"ten"}}"#,
                "supervisor.max_iterations in ccc.json: wrong type: string \"ten\", expected a whole number",
            ),
            (r#"{"supervisor":{"allowed_tools":"Bash"}}"#, "supervisor.allowed_tools"),
            (
                r#"{"supervisor":{"review":"schemas"}}"#,
                "unknown value `schemas`, expected `cached` or `schema`",
            ),
            (r#"{"supervisor":{"sandbox":"on"}}"#, "supervisor.sandbox"),
            (
                r#"{"supervisor":{"sandbox":true}}"#,
                "unknown value `true`, expected one of `auto`, `required`, `off`",
            ),
            (r#"{"supervisor":{"plain":"yes"}}"#, "expected true or false"),
            (
                r#"{"supervisor":{"theme":"Dracula"}}"#,
                "supervisor.theme in ccc.json: unknown value `Dracula`, expected one of `terminal`, `dark`, `light`",
            ),
            (r#"{"supervisor":{"notify":"loud"}}"#, "supervisor.notify in ccc.json: unknown value"),
            (r#"{"supervisor":{"editor_mode":"vi"}}"#, "expected `shell` or `vim`"),
            (r#"{"supervisor":[]}"#, "must be an object"),
            (
                r#"{"supervisor":{"checks":["make",3]}}"#,
                "supervisor.checks in ccc.json: a check must be",
            ),
            (r#"{"supervisor":{"checks":["make","make"]}}"#, "two checks named \"make\""),
            (r#"{"supervisor":{"proof":"maybe"}}"#, "supervisor.proof in ccc.json: unknown value"),
            (
                r#"{"supervisor":{"judges":[{"modell":"x"}]}}"#,
                "supervisor.judges in ccc.json: unknown key `modell`",
            ),
            (
                r#"{"supervisor":{"judges":[{}],"model":"x"}}"#,
                "supervisor.judges and supervisor.model",
            ),
            (r#"{"supervisor":{"judges_ask":"both"}}"#, "supervisor.judges_ask in ccc.json"),
            (r#"{"supervisor":{"max_iterations":0}}"#, "max_iterations in ccc.json is 0"),
        ] {
            let error = supervisor(text).unwrap_err();
            assert!(format!("{error:#}").contains(expected), "{error:#}");
        }
    }
}
