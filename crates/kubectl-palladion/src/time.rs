//! Ages as kubectl shows them, and durations as people type them.

use jiff::{SignedDuration, Timestamp};

/// `34s`, `4m`, `3h12m`, `5d`: how long ago something was.
pub fn age(now: Timestamp, since: Timestamp) -> String {
    span(now.duration_since(since))
}

/// A duration in at most two units.
pub fn span(duration: SignedDuration) -> String {
    let seconds = duration.as_secs().max(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400);
    match (seconds, minutes, hours, days) {
        (..120, ..) => format!("{seconds}s"),
        (_, ..10, ..) if seconds % 60 > 0 => format!("{minutes}m{}s", seconds % 60),
        (_, ..180, ..) => format!("{minutes}m"),
        (_, _, ..8, _) if minutes % 60 > 0 => format!("{hours}h{}m", minutes % 60),
        (_, _, ..48, _) => format!("{hours}h"),
        (_, _, _, ..8) if hours % 24 > 0 => format!("{days}d{}h", hours % 24),
        (_, _, _, ..730) => format!("{days}d"),
        _ => format!("{}y", days / 365),
    }
}

/// Parse `90s`, `10m`, `1h30m`.
///
/// # Errors
/// What of the text could not be understood, and an example.
pub fn parse(text: &str) -> Result<SignedDuration, String> {
    match text.parse::<SignedDuration>() {
        Ok(duration) if duration.is_positive() => Ok(duration),
        Ok(_) => Err("it must be longer than 0s".to_string()),
        Err(_) => Err("write for example 90s, 10m or 1h30m".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_those_of_kubectl() {
        let of = |seconds| span(SignedDuration::from_secs(seconds));
        assert_eq!(of(-5), "0s");
        assert_eq!(of(119), "119s");
        assert_eq!(of(125), "2m5s");
        assert_eq!(of(11 * 60), "11m");
        assert_eq!(of(3 * 3600 + 720), "3h12m");
        assert_eq!(of(30 * 3600), "30h");
        assert_eq!(of(5 * 86400), "5d");
        assert_eq!(of(5 * 86400 + 3600), "5d1h");
        assert_eq!(of(1000 * 86400), "2y");
    }

    #[test]
    fn durations_are_read_as_people_type_them() {
        assert_eq!(parse("1h30m"), Ok(SignedDuration::from_mins(90)));
        assert!(parse("soon").is_err());
        assert!(parse("0s").is_err());
    }
}
