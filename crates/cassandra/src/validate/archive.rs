//! The archive of the commit log: what it cannot be beside.

use super::quantity::amount;
use crate::words::refusal::Refusal;
use palladion_api::cluster::{ArchiveMode, CassandraClusterSpec};
use palladion_api::server_config::CommitLogArchive;
use palladion_plan::words::Quoted;
use serde_json::Value;
use std::collections::BTreeMap;

/// The archive of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValidArchive {
    /// Seconds of acknowledged writes that may be lost with a volume.
    pub max_loss_seconds: u32,
    /// Bytes that may wait on a volume; none is for the agent to say.
    pub max_local_bytes: Option<u64>,
}

/// Less has not even room for two segments.
const LEAST_LOCAL: f64 = 64.0 * 1024.0 * 1024.0;

/// As the spec says.
///
/// # Errors
/// A number is out of its range.
pub fn of(spec: &CassandraClusterSpec) -> Result<Option<ValidArchive>, Refusal> {
    let Some(archive) = spec.backup.as_ref().map(|backup| &backup.archive) else {
        return Ok(None);
    };
    if !(20..=3600).contains(&archive.max_loss_seconds) {
        return Err(Refusal::MaxLoss { seconds: archive.max_loss_seconds });
    }
    let bytes = |quantity: &k8s_openapi::apimachinery::pkg::api::resource::Quantity| {
        let known = amount(&quantity.0).filter(|bytes| *bytes >= LEAST_LOCAL);
        known.ok_or_else(|| Refusal::MaxLocal { text: Quoted(quantity.0.clone()) })
    };
    let bytes = archive.max_local.as_ref().map(bytes).transpose()?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "no amount is negative, and `as` ends at the largest u64"
    )]
    let max_local_bytes = bytes.map(|bytes| bytes as u64);
    Ok(match archive.mode {
        ArchiveMode::Off => None,
        ArchiveMode::CommitLog => {
            Some(ValidArchive { max_loss_seconds: archive.max_loss_seconds, max_local_bytes })
        }
    })
}

/// What servers do with a full segment.
pub fn links(spec: &CassandraClusterSpec) -> Option<CommitLogArchive> {
    match spec.backup.as_ref()?.archive.mode {
        ArchiveMode::Off => None,
        ArchiveMode::CommitLog => Some(CommitLogArchive::Linked),
    }
}

/// A commit log that is written in another way cannot be followed.
///
/// # Errors
/// It is.
pub fn fits(spec: &CassandraClusterSpec, config: &BTreeMap<String, Value>) -> Result<(), Refusal> {
    if links(spec).is_none() {
        return Ok(());
    }
    let is_set = |key: &&&str| match (**key, config.get(**key)) {
        (_, None | Some(Value::Null)) => false,
        ("transparent_data_encryption_options", Some(options)) => {
            options.get("enabled").is_some_and(|enabled| *enabled != Value::Bool(false))
        }
        ("commitlog_disk_access_mode", Some(mode)) => {
            !matches!(mode.as_str(), Some("legacy" | "mmap" | "standard"))
        }
        (_, Some(_)) => true,
    };
    let keys = [
        "commitlog_compression",
        "transparent_data_encryption_options",
        "commitlog_disk_access_mode",
    ];
    match keys.iter().find(is_set) {
        Some(key) => Err(Refusal::ArchiveBeside { key }),
        None => periodic(config).map_or(Ok(()), |key| Err(Refusal::ArchivePeriodic { key })),
    }
}

/// What makes members acknowledge a write whose bytes are not in a whole section yet. A period
/// alone means `periodic`, as agents render it.
pub(super) fn periodic(config: &BTreeMap<String, Value>) -> Option<&'static str> {
    let is_set = |key: &&str| config.contains_key(*key);
    match config.get("commitlog_sync").and_then(Value::as_str) {
        Some("periodic") => Some("commitlog_sync"),
        Some(_) => None,
        None => ["commitlog_sync_period", "commitlog_sync_period_in_ms"].into_iter().find(is_set),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::a_cluster;
    use serde_json::json;

    fn spec(archive: Value, config: Value) -> Result<Option<ValidArchive>, String> {
        let cluster = a_cluster().rack("a", 3).spec(|spec| {
            let backup = json!({ "store": { "s3": { "bucket": "backups" } }, "archive": archive });
            spec.backup = serde_json::from_value(backup).expect("should be a backup");
            spec.config = serde_json::from_value(config).expect("should be settings");
        });
        let valid = cluster.validate().map_err(|refusal| refusal.to_string())?;
        let is_linked = valid.racks.iter().all(|rack| rack.server.archive.is_some());
        let archive = valid.backup.and_then(|backup| backup.archive);
        assert_eq!(archive.is_some(), is_linked);
        Ok(archive)
    }

    #[test]
    fn it_is_off_until_it_is_asked_for() {
        let none = json!({});
        assert_eq!(spec(none.clone(), none.clone()), Ok(None));
        assert_eq!(spec(json!({ "maxLossSeconds": 30 }), none.clone()), Ok(None));
        let on = spec(json!({ "mode": "CommitLog" }), none.clone());
        assert_eq!(on, Ok(Some(ValidArchive { max_loss_seconds: 60, max_local_bytes: None })));
        let both = json!({ "mode": "CommitLog", "maxLossSeconds": 30, "maxLocal": "1Gi" });
        let most = ValidArchive { max_loss_seconds: 30, max_local_bytes: Some(1 << 30) };
        assert_eq!(spec(both, none), Ok(Some(most)));
    }

    #[test]
    fn a_commit_log_that_cannot_be_followed_is_refused_by_name() {
        let on = json!({ "mode": "CommitLog" });
        for (key, value) in [
            ("commitlog_compression", json!([{ "class_name": "LZ4Compressor" }])),
            ("transparent_data_encryption_options", json!({ "enabled": true })),
            ("commitlog_disk_access_mode", json!("direct")),
            ("commitlog_disk_access_mode", json!("auto")),
            ("commitlog_sync", json!("periodic")),
            ("commitlog_sync_period", json!("2s")),
            ("commitlog_sync_period_in_ms", json!(2000)),
        ] {
            let why = spec(on.clone(), json!({ key: value })).expect_err("should be refused");
            assert!(why.contains(key) && why.contains("archive"), "{why}");
            assert_eq!(spec(json!({}), json!({ key: value })), Ok(None), "it is off");
        }
        let fine = json!({
            "commitlog_compression": null,
            "commitlog_disk_access_mode": "legacy",
            "transparent_data_encryption_options": { "enabled": false },
            "commitlog_sync": "batch",
            "commitlog_sync_period": null,
        });
        assert!(spec(on, fine).is_ok_and(|archive| archive.is_some()));
    }

    #[test]
    fn what_admission_refuses_is_refused_again() {
        for (archive, word) in [
            (json!({ "maxLossSeconds": 5 }), "maxLossSeconds"),
            (json!({ "mode": "CommitLog", "maxLocal": "many" }), "maxLocal"),
            (json!({ "mode": "CommitLog", "maxLocal": "1Mi" }), "maxLocal"),
        ] {
            let why = spec(archive, json!({})).expect_err("should be refused");
            assert!(why.contains(word), "{why}");
        }
    }
}
