//! Times in the form that people use, in local time.

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Zoned};

pub fn now() -> Zoned {
    Timestamp::now().to_zoned(TimeZone::system())
}

/// `today 14:03`, `yesterday 09:12`, `Mon 17:40`, `2 Jan 08:00`, `30 Dec 2025`
pub fn day(time: Timestamp, now: &Zoned) -> String {
    let time = time.to_zoned(now.time_zone().clone());
    let (day, today) = (time.date(), now.date());
    let format = if day == today {
        "today %H:%M"
    } else if today.yesterday().is_ok_and(|yesterday| day == yesterday) {
        "yesterday %H:%M"
    } else if day < today && today.checked_sub(6.days()).is_ok_and(|week| day >= week) {
        "%a %H:%M"
    } else if day.year() == today.year() {
        "%-d %b %H:%M"
    } else {
        "%-d %b %Y"
    };
    time.strftime(format).to_string()
}

pub fn clock(time: Timestamp, now: &Zoned) -> String {
    time.to_zoned(now.time_zone().clone()).strftime("%H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearer_the_shorter() {
        let now: Zoned = "2026-01-15T12:00:00+01:00[+01:00]".parse().unwrap();
        for (time, said) in [
            ("2026-01-15T08:05:00Z", "today 09:05"),
            ("2026-01-14T23:30:00Z", "today 00:30"),
            ("2026-01-14T22:30:00Z", "yesterday 23:30"),
            ("2026-01-09T10:00:00Z", "Fri 11:00"),
            ("2026-01-08T10:00:00Z", "8 Jan 11:00"),
            ("2026-03-01T10:00:00Z", "1 Mar 11:00"),
            ("2025-12-30T10:00:00Z", "30 Dec 2025"),
        ] {
            assert_eq!(day(time.parse().unwrap(), &now), said, "{time}");
        }
        assert_eq!(clock("2026-01-15T08:05:06Z".parse().unwrap(), &now), "09:05:06");
    }
}
