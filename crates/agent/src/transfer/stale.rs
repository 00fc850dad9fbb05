//! Which snapshots go: those of ours that neither an order nor the record on the
//! volume needs. A tag of anybody else is none of ours, ever.

use palladion_agent_transfer::decide::Record;
use palladion_agent_transfer::settings::Tag;
use palladion_api::backup::{Transfer, TransferTask};
use std::collections::BTreeSet;

/// Of those that are on the disk.
pub fn stale(
    found: BTreeSet<Tag>,
    record: Option<&Record>,
    order: Option<&Transfer>,
) -> BTreeSet<Tag> {
    // Orders of one backup follow each other without a gap: without one it has ended.
    let kept = record.and_then(|record| record.kept.as_ref());
    let needs = |order: &Transfer| order.work.discard.is_none();
    let kept =
        kept.filter(|kept| order.is_some_and(|order| order.backup == kept.backup && needs(order)));
    let kept = kept.map(|kept| kept.tag.as_str());
    let named = order.and_then(named);
    found
        .into_iter()
        .filter(|tag| Some(tag.as_str()) != kept && Some(tag.as_str()) != named)
        .collect()
}

/// The snapshot that an order needs. What is discarded is needed by nobody.
fn named(order: &Transfer) -> Option<&str> {
    match order.work.task()? {
        TransferTask::Snapshot(work) => Some(&work.tag),
        TransferTask::Upload(work) => Some(&work.tag),
        TransferTask::Prepare(_)
        | TransferTask::Describe(_)
        | TransferTask::Finish(_)
        | TransferTask::Verify(_)
        | TransferTask::Discard(_)
        | TransferTask::Catalog(_)
        | TransferTask::Schema(_)
        | TransferTask::Load(_)
        | TransferTask::Tokens(_)
        | TransferTask::Replay(_)
        | TransferTask::Open(_)
        | TransferTask::Settle(_)
        | TransferTask::Expire(_)
        | TransferTask::Sweep(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn tags(names: &[&str]) -> BTreeSet<Tag> {
        names.iter().map(|name| Tag::try_from(name.to_string()).unwrap()).collect()
    }

    fn order(work: Value) -> Transfer {
        let mut order = json!({
            "id": "t", "epoch": 1, "hostID": "h", "volumeID": "v", "backup": "b",
            "repository": {"id": "r", "sealed": false}, "store": {"at": "/s"},
        });
        for (key, value) in work.as_object().unwrap() {
            order[key] = value.clone();
        }
        serde_json::from_value(order).unwrap()
    }

    #[test]
    fn what_an_order_or_the_record_needs_stays() {
        let all = ["palladion-b-1", "palladion-b-2", "palladion-b-3"];
        let kept = json!({
            "id": "t", "epoch": 1, "failures": 0, "failedAt": null, "ended": null,
            "kept": {"backup": "b", "tag": "palladion-b-2"},
        });
        let record: Record = serde_json::from_value(kept).unwrap();
        assert_eq!(stale(tags(&all), None, None), tags(&all));
        assert_eq!(stale(tags(&all), Some(&record), None), tags(&all), "it has ended");
        let prepare = order(json!({"prepare": {}}));
        assert_eq!(stale(tags(&all), Some(&record), Some(&prepare)), tags(&[all[0], all[2]]));
        let snapshot = order(json!({"snapshot": {"tag": all[2], "ttlSeconds": 60}}));
        assert_eq!(stale(tags(&all), Some(&record), Some(&snapshot)), tags(&[all[0]]));
        let discard = json!({"tags": [all[0]], "uploads": [], "writeOutcome": false});
        let discard = order(json!({ "discard": discard }));
        assert_eq!(stale(tags(&all), None, Some(&discard)), tags(&all));
    }
}
