//! Change data capture: what a server can do of it, and what fits on a volume.

use super::archive::periodic;
use super::quantity::amount;
use crate::words::leave::Bytes;
use crate::words::refusal::Refusal;
use palladion_api::cluster::{
    CassandraClusterSpec, CdcMode, CdcOnFull, ClaimTemplate, DEFAULT_CDC_BYTES, Mode,
};
use palladion_api::ids::RackName;
use palladion_api::server_config::ServerCdc;
use palladion_plan::words::Quoted;
use serde_json::Value;
use std::collections::BTreeMap;

/// The line whose servers only know to refuse writes.
const WITHOUT_DROPPING: &str = "4.0";
/// A segment of the commit log where nobody has said otherwise: Cassandra's own default.
const SEGMENT: u64 = 32 << 20;
/// Segments for which there must be room: the server links two of them before anything is written
/// to either, and what a reader has still to read needs as many.
const LEAST_SEGMENTS: u64 = 4;

/// What servers keep, as the spec says; `config` are the settings of a rack.
///
/// # Errors
/// No server keeps it so.
pub fn of(
    spec: &CassandraClusterSpec,
    config: &BTreeMap<String, Value>,
) -> Result<Option<ServerCdc>, Refusal> {
    let Some(cdc) = &spec.cdc else { return Ok(None) };
    if spec.mode == Mode::Scylla {
        return Err(Refusal::CdcOfScylla);
    }
    if cdc.on_full == CdcOnFull::DropOldest && spec.version.starts_with(WITHOUT_DROPPING) {
        return Err(Refusal::DroppingOf40);
    }
    let text = cdc.total_space.as_ref().map(|space| space.0.as_str());
    let space = text.map_or(Ok(DEFAULT_CDC_BYTES), |text| {
        bytes(text).ok_or_else(|| Refusal::CdcSpace { text: Quoted(text.to_string()) })
    })?;
    match cdc.mode {
        CdcMode::Off => return Ok(None),
        CdcMode::On => {}
    }
    let segment = segment(config);
    let least = segment.saturating_mul(LEAST_SEGMENTS);
    if space < least {
        let (space, least, segment) = (Bytes(space), Bytes(least), Bytes(segment));
        return Err(Refusal::CdcSpaceSmall { space, least, segment });
    }
    // What is acknowledged before it is written is replayed after a crash, and kept for nobody.
    if let Some(key) = periodic(config) {
        return Err(Refusal::CdcPeriodic { key });
    }
    Ok(Some(ServerCdc { total_mib: space >> 20, on_full: cdc.on_full }))
}

/// The data needs the other half of the volume.
///
/// # Errors
/// What is kept could take more than half of it.
pub fn fits(cdc: Option<ServerCdc>, rack: &RackName, claim: &ClaimTemplate) -> Result<(), Refusal> {
    let requests = claim.spec.resources.as_ref().and_then(|r| r.requests.as_ref());
    let Some((cdc, size)) = cdc.zip(requests.and_then(|r| r.get("storage"))) else {
        return Ok(());
    };
    let space = cdc.total_mib << 20;
    if bytes(&size.0).is_some_and(|size| space > size / 2) {
        let (rack, size) = (rack.clone(), size.0.clone());
        return Err(Refusal::CdcSpaceLarge { space: Bytes(space), rack, size });
    }
    Ok(())
}

fn bytes(text: &str) -> Option<u64> {
    let known = amount(text).filter(|bytes| *bytes >= 1.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "no amount is negative, and `as` ends at the largest u64"
    )]
    known.map(|bytes| bytes as u64)
}

/// Bytes of a segment; what the server reads in another unit counts as the default.
fn segment(config: &BTreeMap<String, Value>) -> u64 {
    let mebibytes = |name: &str| config.get(name).and_then(Value::as_u64);
    let text = config.get("commitlog_segment_size").and_then(Value::as_str);
    let named = text.and_then(|text| text.trim().strip_suffix("MiB")?.trim().parse().ok());
    let found = named.or_else(|| mebibytes("commitlog_segment_size_in_mb"));
    found.map_or(SEGMENT, |mebibytes: u64| mebibytes.saturating_mul(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::a_cluster;
    use palladion_api::reasons::Reason;
    use palladion_api::words::Reasoned;
    use serde_json::json;

    fn rack(cdc: Value, config: Value, change: &Value) -> Result<Option<ServerCdc>, String> {
        let cluster = a_cluster().rack("a", 3).spec(|spec| {
            spec.cdc = serde_json::from_value(cdc).expect("should be its fields");
            spec.config = serde_json::from_value(config).expect("should be settings");
            if let Some(version) = change["version"].as_str() {
                spec.version = version.into();
            }
        });
        let cluster = match change.get("storage") {
            Some(size) => cluster.first_rack_with(&json!({ "storage": { "volumeClaimTemplates": [
                { "spec": { "resources": { "requests": { "storage": size } } } },
            ] } })),
            None => cluster,
        };
        match cluster.validate() {
            Ok(valid) => Ok(valid.racks.first().and_then(|rack| rack.server.cdc)),
            Err(refusal) => {
                assert_eq!(refusal.reason(), Reason::InvalidSpec);
                Err(refusal.to_string())
            }
        }
    }

    #[test]
    fn servers_are_given_what_the_spec_says() {
        let of = |cdc| rack(cdc, json!({}), &json!({}));
        assert_eq!(of(json!(null)), Ok(None));
        assert_eq!(of(json!({})), Ok(None));
        assert_eq!(of(json!({ "mode": "Off", "totalSpace": "1Gi" })), Ok(None));
        let cdc = |total_mib, on_full| Ok(Some(ServerCdc { total_mib, on_full }));
        assert_eq!(of(json!({ "mode": "On" })), cdc(4096, CdcOnFull::Block));
        let dropping = json!({ "mode": "On", "totalSpace": "512Mi", "onFull": "DropOldest" });
        assert_eq!(of(dropping), cdc(512, CdcOnFull::DropOldest));
    }

    #[test]
    fn what_cannot_be_kept_is_refused_with_its_figures() {
        let on = json!({ "mode": "On" });
        let sized = |size: &str| json!({ "mode": "On", "totalSpace": size });
        let dropping = json!({ "onFull": "DropOldest" });
        let (none, small) = (json!({}), json!({ "commitlog_segment_size": "2MiB" }));
        for (cdc, config, change, words) in [
            (dropping, &none, json!({ "version": "4.0.18" }), ["DropOldest", "4.1 or newer"]),
            (sized("0"), &none, none.clone(), ["`cdc.totalSpace`", "not a valid amount"]),
            (sized("127Mi"), &none, none.clone(), ["127 MiB", "128 MiB or more"]),
            (sized("7Mi"), &small, none.clone(), ["four segments of 2 MiB", "8 MiB"]),
            (sized("6Gi"), &none, none.clone(), ["6.0 GiB", "10Gi"]),
            (on.clone(), &none, json!({ "storage": "7Gi" }), ["4.0 GiB", "rack a"]),
            (
                on.clone(),
                &json!({ "commitlog_sync": "periodic" }),
                none.clone(),
                ["commitlog_sync", "killed"],
            ),
            (on.clone(), &json!({ "cdc_enabled": true }), none.clone(), ["cdc_enabled", "`cdc`"]),
            (
                json!({}),
                &json!({ "cdc_block_writes": false }),
                none.clone(),
                ["cdc_block_writes", "`cdc`"],
            ),
        ] {
            let why = rack(cdc, config.clone(), &change).expect_err("should be refused");
            assert!(words.iter().all(|word| why.contains(word)), "{why}");
        }
        assert!(rack(sized("8Mi"), small, &json!({ "storage": "16Mi" })).is_ok());
        assert!(rack(on, json!({}), &json!({ "storage": "8Gi" })).is_ok());
    }

    /// Who set it by hand before there was a field goes on as before.
    #[test]
    fn settings_by_hand_stand_where_the_field_does_not() {
        let by_hand = json!({ "cdc_enabled": true, "cdc_total_space_in_mb": 100 });
        assert_eq!(rack(json!(null), by_hand, &json!({ "version": "4.0.18" })), Ok(None));
    }
}
