//! Profiles, merged in the order in which a group names them.

use palladion_api::NodeAgentProfileSpec;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Why profiles cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Two of them give a key different values.
    Conflict {
        /// The key, with the keys that it is in.
        key: String,
        /// The profile that gave it first.
        first: String,
        /// The profile that gives it another value.
        second: String,
    },
    /// Together they have packets forwarded in user space and in the kernel.
    ModesExclusive {
        /// The profile with the one.
        first: String,
        /// The profile with the other.
        second: String,
    },
}

/// What is done where two profiles give a key different values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnConflict {
    /// It is refused.
    Refuse,
    /// The later one counts.
    LaterWins,
}

/// A value, and which profile it is from.
type From<'a> = (Value, &'a str);

/// Merge profiles, each with its name.
///
/// # Errors
/// Which of them contradict each other.
pub fn merge(
    profiles: &[(&str, &NodeAgentProfileSpec)],
    on_conflict: OnConflict,
) -> Result<Value, Refused> {
    exclusive(profiles)?;
    let mut merged = Leaves::new();
    for (name, profile) in profiles {
        let mut leaves = Vec::new();
        gather(&json!(profile), "", &mut leaves);
        for (key, value) in leaves {
            if merged.get(&key).is_some_and(|(known, _)| *known == value) {
                continue;
            }
            let disputed = disputed(&merged, &key, &value);
            if let (Some(found), OnConflict::Refuse) = (disputed.first(), on_conflict) {
                let first = merged.get(found).map_or("", |(_, first)| first).to_string();
                let shorter = if found.len() <= key.len() { found } else { &key };
                let key = shorter.trim_start_matches('/').replace('/', ".");
                return Err(Refused::Conflict { key, first, second: (*name).to_string() });
            }
            disputed.iter().for_each(|found| drop(merged.remove(found)));
            merged.insert(key, (value, name));
        }
    }
    let mut all = json!({});
    for (key, (value, _)) in merged {
        put(&mut all, &key, value);
    }
    Ok(all)
}

/// Values by path. A profile may have tens of thousands: each looks at those on its way and
/// below it, and not at all of them.
type Leaves<'a> = BTreeMap<String, From<'a>>;

/// The keys that have another value than this one: the same, or one with a value where the
/// other has a map. An empty map goes with what another puts into it.
fn disputed(merged: &Leaves<'_>, key: &str, value: &Value) -> Vec<String> {
    let is_empty = |value: &Value| value.as_object().is_some_and(Map::is_empty);
    let ways = key.match_indices('/').map(|(at, _)| &key[..at]);
    let above = ways.filter(|way| merged.get(*way).is_some_and(|(value, _)| !is_empty(value)));
    let mut found: Vec<String> = above.map(ToString::to_string).collect();
    if merged.contains_key(key) {
        found.push(key.to_string());
    }
    if !is_empty(value) {
        let within = format!("{key}/");
        let below = merged.range(within.clone()..).map(|(below, _)| below);
        found.extend(below.take_while(|below| below.starts_with(&within)).cloned());
    }
    found
}

fn exclusive(profiles: &[(&str, &NodeAgentProfileSpec)]) -> Result<(), Refused> {
    let with = |has: fn(&NodeAgentProfileSpec) -> bool| {
        profiles.iter().find(|(_, profile)| has(profile)).map(|(name, _)| (*name).to_string())
    };
    let dpdk = with(|profile| profile.dpdk_configuration.is_some());
    let kernel = with(|profile| profile.kernel_mode_configuration.is_some());
    match dpdk.zip(kernel) {
        Some((first, second)) => Err(Refused::ModesExclusive { first, second }),
        None => Ok(()),
    }
}

/// The values of a tree with their paths. An empty map is a value: that it is
/// there says something.
fn gather(value: &Value, path: &str, leaves: &mut Vec<(String, Value)>) {
    match value.as_object().filter(|map| !map.is_empty()) {
        Some(map) => {
            for (key, value) in map {
                let key = key.replace('~', "~0").replace('/', "~1");
                gather(value, &format!("{path}/{key}"), leaves);
            }
        }
        None => leaves.push((path.to_string(), value.clone())),
    }
}

fn put(all: &mut Value, path: &str, value: Value) {
    let mut at = all;
    for key in path.split('/').skip(1) {
        let key = key.replace("~1", "/").replace("~0", "~");
        if !at.is_object() {
            *at = Value::Object(Map::new());
        }
        at = &mut at[key];
    }
    let is_kept = value.as_object().is_some_and(Map::is_empty) && at.is_object();
    if !is_kept {
        *at = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(spec: Value) -> NodeAgentProfileSpec {
        serde_json::from_value(spec).expect("is a profile")
    }

    fn dpdk(mask: &str) -> NodeAgentProfileSpec {
        profile(json!({ "dpdkConfiguration": { "coreMask": mask, "moreConfig": { "a/b": 1 } } }))
    }

    #[test]
    fn profiles_are_merged_key_by_key() {
        let sriov = profile(json!({
            "sriovConfiguration": { "numberOfVfs": 7 },
            "dpdkConfiguration": { "coreMask": "0xf", "1GBHugePages": 4 },
        }));
        let dpdk = dpdk("0xf");
        let merged = merge(&[("a", &dpdk), ("b", &sriov)], OnConflict::Refuse);
        assert_eq!(
            merged,
            Ok(json!({
                "dpdkConfiguration": { "coreMask": "0xf", "1GBHugePages": 4, "moreConfig": { "a/b": 1 } },
                "sriovConfiguration": { "numberOfVfs": 7 },
            }))
        );
    }

    #[test]
    fn another_value_is_refused_by_key_or_counts_if_it_may() {
        let (one, other) = (dpdk("0xf"), dpdk("0xf0"));
        let both = [("a", &one), ("b", &other)];
        let conflict = Refused::Conflict {
            key: "dpdkConfiguration.coreMask".into(),
            first: "a".into(),
            second: "b".into(),
        };
        assert_eq!(merge(&both, OnConflict::Refuse), Err(conflict));
        let merged = merge(&both, OnConflict::LaterWins).expect("may be merged");
        assert_eq!(merged["dpdkConfiguration"]["coreMask"], "0xf0");
    }

    #[test]
    fn a_value_where_another_has_a_map_is_another_value() {
        let flat = profile(json!({ "otherConfig": { "moreConfig": { "a": 1, "c": 3 } } }));
        let deep = profile(json!({ "otherConfig": { "moreConfig": { "a": { "b": 2 } } } }));
        let empty = profile(json!({ "otherConfig": { "moreConfig": { "a": {} } } }));
        for (one, other, key) in [
            (&flat, &deep, "otherConfig.moreConfig.a"),
            (&deep, &flat, "otherConfig.moreConfig.a"),
            (&flat, &empty, "otherConfig.moreConfig.a"),
        ] {
            let both = [("a", one), ("b", other)];
            let (first, second, key) = ("a".to_string(), "b".to_string(), key.to_string());
            let conflict = Refused::Conflict { key, first, second };
            assert_eq!(merge(&both, OnConflict::Refuse), Err(conflict));
        }
        let later = |one, other| merge(&[("a", one), ("b", other)], OnConflict::LaterWins);
        let more = |a: Value| json!({ "otherConfig": { "moreConfig": { "a": a, "c": 3 } } });
        assert_eq!(later(&flat, &deep), Ok(more(json!({ "b": 2 }))));
        assert_eq!(later(&deep, &flat), Ok(more(json!(1))));
        assert_eq!(later(&empty, &deep), merge(&[("b", &deep)], OnConflict::Refuse));
        assert_eq!(later(&deep, &empty), merge(&[("b", &deep)], OnConflict::Refuse));
    }

    /// One profile of 400 KB must not keep the operator from everything else.
    #[test]
    fn many_keys_are_merged_in_about_their_number() {
        let all: Map<String, Value> = (0..40_000).map(|n| (format!("key{n}"), json!(n))).collect();
        let large = profile(json!({ "otherConfig": { "moreConfig": { "a": all } } }));
        let began = std::time::Instant::now();
        let merged = merge(&[("a", &large), ("b", &large)], OnConflict::Refuse);
        assert_eq!(merged, Ok(json!(large)));
        assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
    }

    #[test]
    fn user_space_and_kernel_do_not_go_together_whatever_wins() {
        let kernel = profile(json!({ "kernelModeConfiguration": {} }));
        let dpdk = dpdk("0xf");
        let exclusive = Refused::ModesExclusive { first: "b".into(), second: "a".into() };
        let both = [("a", &kernel), ("b", &dpdk)];
        assert_eq!(merge(&both, OnConflict::LaterWins), Err(exclusive));
        let alone = merge(&[("a", &kernel)], OnConflict::Refuse);
        assert_eq!(alone, Ok(json!({ "kernelModeConfiguration": {} })), "it is there");
        assert_eq!(merge(&[], OnConflict::Refuse), Ok(json!({})));
    }
}
