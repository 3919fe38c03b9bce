//! The time zone of the person who asks: its name, which the model and the search are told, and what day it is there.

use std::time::SystemTime;

use annai_core::Date;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The name of the zone when there is nothing to tell which one the person is in.
const UTC: &str = "UTC";
/// The name that the database of time zones gives to a zone that is not known; nobody is there.
const UNKNOWN: &str = "Etc/Unknown";

/// Why the zone of this machine cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum MachineZoneError {
    /// There is a zone, but only as an offset or as a copy of a file of the database.
    #[error("it has no IANA name")]
    Unnamed,
    /// The machine names a zone that does not exist, or none at all.
    #[error("it is not a time zone of the IANA database")]
    Unknown,
}

/// A time zone of the IANA database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone {
    name: String,
    rules: TimeZone,
}

impl Zone {
    /// The zone of this name, such as `Asia/Tokyo`, in any case; `None` if there is none. The database is part of the
    /// program, so that every machine knows the same names.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::named(TimeZone::get(name.trim()).ok()?)
    }

    /// Coordinated universal time.
    #[must_use]
    pub fn utc() -> Self {
        Self { name: UTC.to_owned(), rules: TimeZone::UTC }
    }

    /// The zone of this machine: that of the variable `TZ`, else that of the system.
    pub fn of_machine() -> Result<Self, MachineZoneError> {
        let zone = TimeZone::try_system().map_err(|_| MachineZoneError::Unknown)?;
        Self::named(zone).ok_or(MachineZoneError::Unnamed)
    }

    /// The IANA name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The hint that tells the model where the person is and what day it is there.
    #[must_use]
    pub fn hint(&self, today: Date) -> String {
        format!("Today is {today} in the time zone {}.", self.name)
    }

    /// The day of a time in this zone.
    #[must_use]
    pub fn date_at(&self, time: SystemTime) -> Date {
        let day = Timestamp::try_from(time).map(|time| time.to_zoned(self.rules.clone()).date());
        // Both write days as YYYY-MM-DD; a clock outside of the years 0 to 9999 gets a day all the same.
        day.ok().and_then(|day| Date::parse(&day.to_string())).unwrap_or_else(|| Date::in_utc(time))
    }

    fn named(rules: TimeZone) -> Option<Self> {
        let name = rules.iana_name().filter(|name| *name != UNKNOWN)?.to_owned();
        Some(Self { name, rules })
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn zones_have_the_names_of_the_database() {
        for (text, name) in [
            ("Asia/Tokyo", Some("Asia/Tokyo")),
            (" asia/tokyo ", Some("Asia/Tokyo")),
            ("America/Argentina/Buenos_Aires", Some("America/Argentina/Buenos_Aires")),
            ("US/Eastern", Some("US/Eastern")),
            ("UTC", Some("UTC")),
            ("Etc/GMT+12", Some("Etc/GMT+12")),
            ("Etc/Unknown", None),
            ("Tokyo", None),
            ("JST-9", None),
            ("+09:00", None),
            ("../../etc/passwd", None),
            ("", None),
        ] {
            assert_eq!(Zone::parse(text).as_ref().map(Zone::name), name, "{text}");
        }
        assert_eq!(Zone::utc().name(), "UTC");
    }

    #[test]
    fn the_same_moment_is_another_day_elsewhere() {
        // 2026-11-17T22:11:00Z
        let evening = UNIX_EPOCH + Duration::from_secs(1_794_953_460);
        for (zone, day) in [
            ("UTC", "2026-11-17"),
            ("Asia/Tokyo", "2026-11-18"),
            ("Pacific/Kiritimati", "2026-11-18"),
            ("America/New_York", "2026-11-17"),
            ("Europe/Berlin", "2026-11-17"),
            ("Australia/Sydney", "2026-11-18"),
        ] {
            assert_eq!(Zone::parse(zone).unwrap().date_at(evening).to_string(), day, "{zone}");
        }
        // Summer time counts: 22:11 UTC is 00:11 in Berlin in July, and 23:11 in November.
        let july = UNIX_EPOCH + Duration::from_secs(1_784_326_260);
        assert_eq!(Zone::parse("Europe/Berlin").unwrap().date_at(july).to_string(), "2026-07-18");
    }
}
