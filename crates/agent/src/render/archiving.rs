//! `commitlog_archiving.properties`: what the server starts for each segment of its commit log that
//! is full, before it deletes it. At its start it does so for all that are left.

use super::Door;
use palladion_api::server_config::{CommitLogArchive, ServerConfig};
use serde_json::Value;
use std::path::Path;

/// The file; none where nothing is archived. A server that takes no clients yet writes nothing that
/// a window could hold: one opens behind a backup.
pub fn properties(
    (config, door): (&ServerConfig, Door),
    agent: &Path,
    links: &Path,
) -> Option<String> {
    match (config.archive?, door) {
        (CommitLogArchive::Linked, Door::Sealed | Door::Closed) => None,
        (CommitLogArchive::Linked, Door::Open) => {
            let (agent, links) = (agent.display(), links.display());
            Some(format!("archive_command={agent} link %path {links}/%name\n"))
        }
    }
}

/// Period of `periodic` where nobody has set it, in milliseconds.
const PERIOD_MS: i64 = 10_000;

/// For so many seconds a write may be acknowledged before its bytes are whole in the commit log:
/// none where a write waits for it. With `periodic` it waits for a sync that is late by half its
/// period (`PeriodicCommitLogService.blockWhenSyncLagsNanos`).
pub fn margin_seconds(config: &ServerConfig) -> i64 {
    let text = |name: &str| config.config.get(name).and_then(Value::as_str);
    let is_set = ["commitlog_sync_period", "commitlog_sync_period_in_ms"]
        .iter()
        .any(|name| config.config.contains_key(*name));
    match text("commitlog_sync") {
        Some("periodic") => {}
        None if is_set => {}
        Some(_) | None => return 0,
    }
    let in_ms = config.config.get("commitlog_sync_period_in_ms").and_then(Value::as_i64);
    let period = text("commitlog_sync_period").and_then(milliseconds).or(in_ms);
    let period = period.unwrap_or(PERIOD_MS);
    period.saturating_add(period / 2).saturating_add(999) / 1000
}

/// A duration as Cassandra spells it.
fn milliseconds(text: &str) -> Option<i64> {
    let split = text.find(|c: char| !c.is_ascii_digit())?;
    let number: i64 = text[..split].parse().ok()?;
    match &text[split..] {
        "ms" => Some(number),
        "s" => number.checked_mul(1000),
        "m" => number.checked_mul(60_000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::testing::a_config;
    use serde_json::json;

    #[test]
    fn segments_are_linked_where_the_ring_is_archived_and_nowhere_else() {
        let mut config = a_config("5.0.5");
        let of = |config: &ServerConfig, door| {
            properties(
                (config, door),
                Path::new("/mnt/shared/palladion-agent"),
                Path::new("/v/.p/commitlog"),
            )
        };
        assert_eq!(of(&config, Door::Open), None);
        config.archive = Some(CommitLogArchive::Linked);
        let expected =
            "archive_command=/mnt/shared/palladion-agent link %path /v/.p/commitlog/%name\n";
        assert_eq!(of(&config, Door::Open).as_deref(), Some(expected));
        assert_eq!((of(&config, Door::Sealed), of(&config, Door::Closed)), (None, None));
    }

    #[test]
    fn a_write_that_waits_for_no_sync_is_whole_later() {
        let of = |settings: Value| {
            let mut config = a_config("5.0.5");
            config.config = serde_json::from_value(settings).unwrap();
            margin_seconds(&config)
        };
        assert_eq!((of(json!({})), of(json!({"commitlog_sync": "batch"}))), (0, 0));
        assert_eq!(of(json!({"commitlog_sync": "periodic"})), 15);
        assert_eq!(of(json!({"commitlog_sync_period": "2500ms"})), 4);
        let old = json!({"commitlog_sync": "periodic", "commitlog_sync_period_in_ms": 2000});
        assert_eq!(of(old), 3);
    }
}
