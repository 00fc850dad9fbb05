//! What a running server must be told so that its runtime settings are those of
//! the spec: what is wanted now, and for what is wanted no more, what was
//! before.

use palladion_api::runtime::{LogLevel, RuntimeSettings};

/// A change of runtime settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuntimeChange {
    /// In MiB/s, if it changes.
    pub compaction_throughput: Option<u32>,
    /// In MiB/s, if it changes.
    pub stream_throughput: Option<u32>,
    /// Loggers that change; without a level one follows the logger above it.
    pub log_levels: Vec<(String, Option<LogLevel>)>,
}

/// What of it this agent knows: a level that a newer operator asks for is left out,
/// and missing in what is reported.
pub fn known(wanted: &RuntimeSettings) -> RuntimeSettings {
    let mut known = wanted.clone();
    known.log_levels.retain(|_, level| !matches!(level, LogLevel::Unknown(_)));
    known
}

/// From what the server was told last to what it should be told; `before` is
/// what it had before it was told anything.
pub fn change(
    before: &RuntimeSettings,
    told: &RuntimeSettings,
    wanted: &RuntimeSettings,
) -> RuntimeChange {
    let limit = |of: fn(&RuntimeSettings) -> Option<u32>| {
        let next = of(wanted).or(of(before));
        next.filter(|_| of(wanted) != of(told))
    };
    let set = wanted
        .log_levels
        .iter()
        .filter(|(logger, level)| told.log_levels.get(*logger) != Some(level))
        .map(|(logger, level)| (logger.clone(), Some(*level)));
    let taken_out = told
        .log_levels
        .keys()
        .filter(|logger| !wanted.log_levels.contains_key(*logger))
        .map(|logger| (logger.clone(), before.log_levels.get(logger).copied()));
    RuntimeChange {
        compaction_throughput: limit(|s| s.compaction_throughput),
        stream_throughput: limit(|s| s.stream_throughput),
        log_levels: taken_out.chain(set).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(compaction: Option<u32>, levels: &[(&str, LogLevel)]) -> RuntimeSettings {
        RuntimeSettings {
            compaction_throughput: compaction,
            stream_throughput: None,
            log_levels: levels
                .iter()
                .map(|(logger, level)| ((*logger).to_string(), *level))
                .collect(),
        }
    }

    #[test]
    fn a_level_that_is_not_known_is_left_out() {
        let unknown = LogLevel::Unknown(palladion_api::member::Word::new("FATAL"));
        let wanted = settings(Some(16), &[("a", unknown), ("b", LogLevel::Off)]);
        assert_eq!(known(&wanted), settings(Some(16), &[("b", LogLevel::Off)]));
    }

    #[test]
    fn only_what_differs_is_told() {
        let before = settings(Some(64), &[("ROOT", LogLevel::Info)]);
        let told = settings(Some(32), &[("a", LogLevel::Debug)]);
        assert_eq!(change(&before, &told, &told), RuntimeChange::default());
        let wanted = settings(Some(16), &[("a", LogLevel::Trace), ("b", LogLevel::Off)]);
        let expected = RuntimeChange {
            compaction_throughput: Some(16),
            stream_throughput: None,
            log_levels: vec![
                ("a".into(), Some(LogLevel::Trace)),
                ("b".into(), Some(LogLevel::Off)),
            ],
        };
        assert_eq!(change(&before, &told, &wanted), expected);
    }

    #[test]
    fn what_is_taken_out_goes_back_to_what_was_before() {
        let before = settings(Some(64), &[("ROOT", LogLevel::Info)]);
        let told = settings(Some(0), &[("ROOT", LogLevel::Debug), ("a", LogLevel::Warn)]);
        let expected = RuntimeChange {
            compaction_throughput: Some(64),
            stream_throughput: None,
            log_levels: vec![("ROOT".into(), Some(LogLevel::Info)), ("a".into(), None)],
        };
        let back = change(&before, &told, &RuntimeSettings::default());
        assert_eq!(back, expected);
    }
}
