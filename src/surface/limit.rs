//! How much of a subscription's limit is used, and when it resets.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Unit};

use crate::client::stream::RateLimit;

/// A lower usage is not worth mentioning.
const WORTH_TELLING: f64 = 0.5;

/// For a status line; `None` while usage is low.
pub fn meter(limit: &RateLimit) -> Option<String> {
    let rejected = limit.status == "rejected";
    let used = limit.used.filter(|used| *used >= WORTH_TELLING || limit.status != "allowed");
    let how_much = match (rejected, used) {
        (true, _) => "used up".to_owned(),
        #[expect(clippy::cast_possible_truncation, reason = "a percentage")]
        (false, Some(used)) => format!("{}%", (used * 100.0).round().clamp(0.0, 100.0) as i64),
        (false, None) => return None,
    };
    Some(format!("{} {how_much}", name(&limit.kind)))
}

/// Everything that is known about the limit.
pub fn told(limit: &RateLimit, now: Timestamp, zone: &TimeZone) -> String {
    let used = match (limit.status.as_str(), limit.used) {
        ("rejected", _) => "used up".to_owned(),
        (_, Some(used)) => format!("{:.0}% used", used * 100.0),
        (_, None) => "not used up".to_owned(),
    };
    let resets = resets(limit, now, zone).map(|when| format!(", resets {when}"));
    format!("{}: {used}{}", name(&limit.kind), resets.unwrap_or_default())
}

/// "at 14:05", with the day if it is not today.
fn resets(limit: &RateLimit, now: Timestamp, zone: &TimeZone) -> Option<String> {
    let at = Timestamp::from_second(i64::try_from(limit.resets_at?).ok()?).ok()?;
    let (at, now) = (at.to_zoned(zone.clone()), now.to_zoned(zone.clone()));
    let at = at.round(Unit::Minute).ok()?;
    let form = if at.date() == now.date() { "at %H:%M" } else { "on %b %-d at %H:%M" };
    Some(at.strftime(form).to_string())
}

fn name(kind: &str) -> String {
    match kind {
        "five_hour" => "5-hour limit".to_owned(),
        "seven_day" => "weekly limit".to_owned(),
        "" => "limit".to_owned(),
        other => format!("{} limit", other.replace('_', " ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(status: &str, used: Option<f64>) -> RateLimit {
        let kind = "five_hour".to_owned();
        RateLimit { kind, status: status.into(), used, resets_at: Some(1_794_831_808) }
    }

    #[test]
    fn the_meter_shows_when_it_matters() {
        assert_eq!(meter(&limit("allowed", Some(0.2))), None);
        assert_eq!(meter(&limit("allowed", None)), None);
        assert_eq!(meter(&limit("allowed", Some(0.504))).as_deref(), Some("5-hour limit 50%"));
        let warned = limit("allowed_warning", Some(0.91));
        assert_eq!(meter(&warned).as_deref(), Some("5-hour limit 91%"));
        assert_eq!(meter(&limit("rejected", None)).as_deref(), Some("5-hour limit used up"));
    }

    #[test]
    fn when_it_begins_anew() {
        let now = Timestamp::from_second(1_794_831_808 - 3600).unwrap();
        let zone = TimeZone::UTC;
        let warned = limit("allowed_warning", Some(0.91));
        assert_eq!(told(&warned, now, &zone), "5-hour limit: 91% used, resets at 12:23");
        let days = Timestamp::from_second(1_794_831_808 - 3 * 86_400).unwrap();
        let told = told(&limit("rejected", None), days, &zone);
        assert_eq!(told, "5-hour limit: used up, resets on Nov 16 at 12:23");
    }
}
