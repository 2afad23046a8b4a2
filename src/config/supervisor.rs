//! The `supervisor` section of `ccc.json`.

use std::time::Duration;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Map;

use super::{EditorMode, Judge, Notify, Theme};
use crate::checks::Check;
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
