//! Servers started again, and what they run with.

use std::collections::BTreeMap;

use palladion_e2e::{Ring, wait_for};
use serde_json::Value;

use super::{RESTARTS_IN, SOON};

pub(super) fn starts(ring: &Ring<'_>) -> BTreeMap<String, String> {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_string();
    let members = ring.members().expect("members");
    members
        .iter()
        .map(|m| (text(&m["metadata"]["name"]), text(&m["status"]["startHistory"][0]["startedAt"])))
        .collect()
}

/// Members whose server was started since.
pub(super) fn restarted(
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
) -> Vec<String> {
    after
        .iter()
        .filter(|(name, start)| before.get(*name) != Some(start))
        .map(|(name, _)| name.clone())
        .collect()
}

pub(super) fn wait_restarted(ring: &Ring<'_>, before: &BTreeMap<String, String>, members: usize) {
    wait_for("servers to be started again", RESTARTS_IN, || {
        Ok((restarted(before, &starts(ring)).len() >= members).then_some(()))
    })
    .expect("restarted");
    ring.wait_settled().expect("settled");
}

/// Everything is as it should be: same members, all rows.
pub(super) fn well(ring: &Ring<'_>, ids: &[(String, String)]) {
    ring.wait_ready(u32::try_from(ids.len()).expect("few members")).expect("all ready");
    ring.wait_settled().expect("settled");
    assert_eq!(ring.host_ids().expect("host IDs"), ids, "no other members");
    ring.check_data().expect("all rows");
}

/// Wait until the operator has answered the newest spec, and does nothing more.
pub(super) fn wait_answered(ring: &Ring<'_>) {
    wait_for("the newest spec to be answered", SOON, || {
        let cluster = ring.cluster()?;
        let seen = &cluster["status"]["observedGeneration"];
        Ok((*seen == cluster["metadata"]["generation"]).then_some(()))
    })
    .expect("answered");
}
