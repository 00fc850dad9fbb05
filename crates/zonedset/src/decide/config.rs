//! Configuration that the template refers to (QuarksStatefulSet, "Restarting on
//! Config Change"): what it is now, and whether it is time to roll the pods.

use super::draft::Draft;
use crate::build::set::{self, Config};
use crate::facts::{Facts, SetFact};
use crate::resources::{CONFIG_MAP, SECRET};
use crate::validate::Valid;
use crate::words::config::{Unread, Waiting};
use jiff::SignedDuration;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::ZonedStatefulSetSpec;
use palladion_api::zoned_stateful_set::{PendingConfig, ZonedStatefulSetStatus, names};
use palladion_plan::workload::config::{ConfigKind, Need, data_hash, references};
use palladion_plan::{Object, ObjectKey};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Changes that follow the first within this time are rolled out with it
/// (QuarksStatefulSet collects for 10 s; people change several objects by one command).
const GATHER: SignedDuration = SignedDuration::from_secs(5);

/// Objects to watch by name: each reference, and the successor of each
/// versioned Secret.
pub fn watched(
    namespace: &str,
    spec: &ZonedStatefulSetSpec,
    status: &ZonedStatefulSetStatus,
) -> Vec<ObjectKey> {
    if !spec.update_on_config_change {
        return Vec::new();
    }
    let mut keys = Vec::new();
    for (kind, name) in references(&spec.template.spec.template).into_keys() {
        keys.push(key(namespace, kind, &name));
        if let Some(series) = Series::of(kind, &name, status) {
            keys.push(key(namespace, kind, &series.current));
            keys.push(key(namespace, kind, &series.next));
        }
    }
    keys.sort();
    keys.dedup();
    keys
}

fn key(namespace: &str, kind: ConfigKind, name: &str) -> ObjectKey {
    let resource = match kind {
        ConfigKind::ConfigMap => CONFIG_MAP,
        ConfigKind::Secret => SECRET,
    };
    ObjectKey::new(resource, namespace, name)
}

/// A versioned Secret: the newest that is known, and the one that would follow.
struct Series {
    base: String,
    version: u32,
    current: String,
    next: String,
}

impl Series {
    fn of(kind: ConfigKind, name: &str, status: &ZonedStatefulSetStatus) -> Option<Self> {
        let (base, written) = match kind {
            ConfigKind::ConfigMap => return None,
            ConfigKind::Secret => names::versioned_secret(name)?,
        };
        let version = status.secret_versions.get(base).copied().unwrap_or(0).max(written);
        Some(Self {
            base: base.to_string(),
            version,
            current: format!("{base}-v{version}"),
            next: format!("{base}-v{}", version + 1),
        })
    }
}

/// What the references amount to now.
struct Reading {
    config: Config,
    versions: BTreeMap<String, u32>,
}

/// The configuration to make templates from; `None` holds sets back that do not
/// exist yet.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Option<Config> {
    let newest = facts.sets.values().max_by_key(|s| (s.version, s.zone_index));
    let recorded = Config {
        hash: newest.and_then(|s| s.config.clone()),
        renamed: renames(valid, &facts.status.secret_versions),
    };
    draft.more.secret_versions = facts.status.secret_versions.clone();
    if !valid.spec.update_on_config_change {
        return Some(recorded);
    }
    let reading = match read(facts, valid) {
        Ok(reading) => reading,
        Err(unread) => {
            draft.report(unread.clone());
            draft.wait_for(unread);
            return newest.is_some().then_some(recorded);
        }
    };
    let adopt = |draft: &mut Draft, reading: Reading| {
        draft.more.secret_versions.extend(reading.versions);
        Some(reading.config)
    };
    let Some(newest) = newest.filter(|_| reading.config.hash != recorded.hash) else {
        return adopt(draft, reading);
    };
    if rolls_anyway(valid, newest, &recorded) {
        return adopt(draft, reading);
    }
    gather(facts, reading, recorded, draft)
}

/// Wait a little for more changes; then take them all along.
fn gather(
    facts: &Facts<'_>,
    reading: Reading,
    recorded: Config,
    draft: &mut Draft,
) -> Option<Config> {
    let since = facts.status.pending_config.as_ref().map_or(facts.now(), |p| p.since.0);
    let until = since + GATHER;
    if facts.now() >= until {
        draft.more.secret_versions.extend(reading.versions);
        return Some(reading.config);
    }
    let hash = reading.config.hash.unwrap_or_default();
    draft.more.pending_config = Some(PendingConfig { hash, since: Time(since) });
    draft.wait_for(Waiting::More { since }).until(until);
    Some(recorded)
}

/// Does the set change anyway, so that the new configuration may go with it?
fn rolls_anyway(valid: &Valid, newest: &SetFact, recorded: &Config) -> bool {
    let zone = valid.zones.get(newest.zone_index);
    zone.is_some_and(|zone| newest.hash != set::hash(valid, zone, recorded))
}

fn renames(valid: &Valid, versions: &BTreeMap<String, u32>) -> BTreeMap<String, String> {
    let written = references(&valid.spec.template.spec.template);
    let mut renamed = BTreeMap::new();
    for (kind, name) in written.into_keys() {
        if kind != ConfigKind::Secret {
            continue;
        }
        let Some((base, number)) = names::versioned_secret(&name) else {
            continue;
        };
        if let Some(newest) = versions.get(base).filter(|v| **v > number) {
            renamed.insert(name.clone(), format!("{base}-v{newest}"));
        }
    }
    renamed
}

fn read(facts: &Facts<'_>, valid: &Valid) -> Result<Reading, Unread> {
    let mut hashes = Vec::new();
    let mut versions = BTreeMap::new();
    for ((kind, name), need) in references(&valid.spec.template.spec.template) {
        let mut name = name;
        if let Some(series) = Series::of(kind, &name, &facts.status) {
            let next = lookup(facts, &key(&valid.namespace, kind, &series.next))?;
            let follows = next.is_some_and(|o| {
                o.meta.labels.get(names::SECRET_KIND).map(String::as_str)
                    == Some(names::VERSIONED_SECRET)
            });
            name = if follows { series.next } else { series.current };
            if follows || facts.status.secret_versions.contains_key(&series.base) {
                versions.insert(series.base, series.version + u32::from(follows));
            }
        }
        let key = key(&valid.namespace, kind, &name);
        match lookup(facts, &key)? {
            Some(object) => hashes.push(json!([kind.as_str(), name, data_hash(&object.body)])),
            None if need == Need::Optional => hashes.push(json!([kind.as_str(), name, null])),
            None => {
                return Err(Unread::Missing { object: key.to_string() });
            }
        }
    }
    let config = Config {
        hash: Some(palladion_plan::hash::of(&json!(hashes))),
        renamed: renames(valid, &versions),
    };
    Ok(Reading { config, versions })
}

fn lookup<'a>(facts: &'a Facts<'_>, key: &ObjectKey) -> Result<Option<&'a Arc<Object>>, Unread> {
    let object = key.to_string();
    match facts.snapshot.references.get(key).map(palladion_plan::Observed::known) {
        Some(Ok(found)) => Ok(found.as_ref()),
        Some(Err(why)) => Err(Unread::Unreadable { object, why: why.to_string() }),
        None => Err(Unread::Unwatched { object }),
    }
}
