//! Who judges: `supervisor.judges`, or the one judge of `supervisor.provider` and `supervisor.model`.

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use super::Supervisor;
use crate::review::front_matter::Proof;
use crate::review::policy::{Judging, Seat};

/// More judges than anybody would pay for.
pub const MOST_JUDGES: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Judge {
    /// The agent's provider, unless another is named.
    pub provider: Option<String>,
    /// The agent's model by default, if the provider is the agent's too.
    pub model: Option<String>,
    /// Whether it judges without a fork of the conversation: by the user's words, the facts, the
    /// changes and the files.
    pub fresh: bool,
}

impl Judge {
    fn name(&self) -> String {
        match (&self.provider, &self.model) {
            (Some(provider), Some(model)) => format!("{provider}, {model}"),
            (Some(name), None) | (None, Some(name)) => name.clone(),
            (None, None) => "the agent's model".to_owned(),
        }
    }
}

impl Supervisor {
    /// The rules for a review. `proof` is what SUPERVISOR.md asks for; it overrides
    /// `supervisor.proof`.
    pub fn judging(&self, proof: Option<Proof>) -> Judging {
        Judging {
            allowed_tools: self.allowed_tools.clone(),
            judges: self.seats(),
            judges_ask: self.judges_ask,
            ..Judging::today(proof.or(self.proof).unwrap_or_default())
        }
    }

    pub fn all_judges(&self) -> Vec<Judge> {
        if self.judges.is_empty() {
            let (provider, model) = (self.provider.clone(), self.model.clone());
            return vec![Judge { provider, model, fresh: false }];
        }
        self.judges.clone()
    }

    /// The judges with distinct names. A single judge needs no name.
    pub fn seats(&self) -> Vec<Seat> {
        let mut seats: Vec<Seat> = Vec::new();
        for judge in &self.judges {
            let name = judge.name();
            let is_taken = |name: &str| seats.iter().any(|seat| seat.name == name);
            let mut numbered = (2..).map(|number| format!("{name} ({number})"));
            let name = if is_taken(&name) {
                numbered.find(|name| !is_taken(name)).unwrap_or_default()
            } else {
                name
            };
            seats.push(Seat { name, fresh: judge.fresh });
        }
        seats
    }

    pub(super) fn check_judges(&self) -> Result<()> {
        let single = [("provider", &self.provider), ("model", &self.model)];
        let single = single.into_iter().find(|(_, value)| value.is_some());
        if let (Some((name, _)), false) = (single, self.judges.is_empty()) {
            bail!(
                "ccc.json has both supervisor.judges and supervisor.{name}. supervisor.{name} is \
                 for a single judge; put it into the list instead, as {{\"{name}\": …}}"
            );
        }
        if self.judges.len() > MOST_JUDGES {
            bail!("supervisor.judges in ccc.json has more than {MOST_JUDGES} judges");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_judge_has_a_name_of_its_own() {
        let judges = r#"[{}, {"provider":"kimi","model":"k2","fresh":true}, {"fresh":true}, {}]"#;
        let supervisor =
            Supervisor { judges: serde_json::from_str(judges).unwrap(), ..Default::default() };
        let names: Vec<_> = supervisor.seats().into_iter().map(|seat| seat.name).collect();
        assert_eq!(
            names,
            ["the agent's model", "kimi, k2", "the agent's model (2)", "the agent's model (3)"]
        );
        assert_eq!(supervisor.all_judges().len(), 4);
        let one = Supervisor { model: Some("m".into()), ..Default::default() };
        assert_eq!((one.seats().len(), one.all_judges().len()), (0, 1));
    }
}
