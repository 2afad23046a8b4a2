//! Money, tokens, time and numbers of things, as they are told.

use std::fmt::Display;

use crate::client::stream::Usage;

pub(super) fn cost(usd: f64) -> Option<String> {
    (usd > 0.0).then(|| money(usd))
}

/// In older recordings a verdict told what the session had cost until then.
pub(super) fn verdict_cost(usd: f64, session_usd: Option<f64>, usage: &Usage) -> Vec<String> {
    match session_usd {
        Some(_) => review_cost(usd, usage),
        None => cost(usd).map(|cost| format!("{cost} so far")).into_iter().collect(),
    }
}

/// What reviews were spared and what they cost. Where nobody knows the price, tokens stand for it.
pub fn review_cost(usd: f64, usage: &Usage) -> Vec<String> {
    let mut facts = Vec::new();
    if !usage.is_empty() {
        facts.extend(usage.cached_percent().map(|percent| format!("{percent}% cached")));
    }
    match cost(usd) {
        Some(_) if usage.unpriced => facts.push(tokens(usage.tokens())),
        Some(cost) => facts.push(cost),
        None if usage.tokens() > 0 => facts.push(tokens(usage.tokens())),
        None => {}
    }
    facts
}

fn tokens(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} tokens"),
        1_000..1_000_000 => format!("{}k tokens", count / 1_000),
        _ => format!("{}.{}M tokens", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

/// Fractions of a cent count as long as there are few of them.
pub fn money(usd: f64) -> String {
    if usd < 0.1 { format!("${usd:.4}") } else { format!("${usd:.2}") }
}

pub fn count<N: Display + PartialEq + From<u8>>(number: N, what: &str) -> String {
    format!("{number} {what}{}", if number == N::from(1) { "" } else { "s" })
}

pub fn duration(seconds: f64) -> String {
    let seconds = std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default().as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m {seconds:02}s"),
        (hours, minutes, _) => format!("{hours}h {minutes:02}m"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::sample;

    #[test]
    fn a_price_that_nobody_knows_is_told_in_tokens() {
        let usage = Usage { unpriced: true, ..sample::usage() };
        assert_eq!(review_cost(0.0, &usage), ["99% cached", "50k tokens"]);
        assert_eq!(review_cost(0.5, &usage), ["99% cached", "50k tokens"]);
        assert_eq!(review_cost(0.004, &Usage::default()), ["$0.0040"]);
        assert_eq!(review_cost(0.0, &Usage::default()), [""; 0]);
        assert_eq!(tokens(999), "999 tokens");
        assert_eq!(tokens(2_340_000), "2.3M tokens");
    }
}
