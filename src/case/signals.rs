//! Keeps the signals of a review inside it. The case has no process ids of its own, because a judge
//! has to see the servers that the agent left running; so a `pkill` in a review would also end the
//! agent's processes and the user's.

use landlock::{CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetError, Scope};

/// From now on, this process and everything that it starts can send signals only to each other.
/// Needs Linux 6.12. The calling process must have only one thread.
pub fn confine() -> Result<(), RulesetError> {
    let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    rules.scope(Scope::Signal)?.create()?.restrict_self().map(drop)
}
