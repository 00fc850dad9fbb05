//! Profiles, merged in the order in which a group names them.

use palladion_api::NodeAgentProfileSpec;
use serde_json::{Map, Value, json};

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
    let mut merged: Vec<(String, From<'_>)> = Vec::new();
    for (name, profile) in profiles {
        let mut leaves = Vec::new();
        gather(&json!(profile), "", &mut leaves);
        for (key, value) in leaves {
            match merged.iter_mut().find(|(known, _)| *known == key) {
                None => merged.push((key, (value, name))),
                Some((_, (known, _))) if *known == value => {}
                Some((_, from)) => match on_conflict {
                    OnConflict::LaterWins => *from = (value, name),
                    OnConflict::Refuse => {
                        let (first, second) = (from.1.to_string(), (*name).to_string());
                        let key = key.trim_start_matches('/').replace('/', ".");
                        return Err(Refused::Conflict { key, first, second });
                    }
                },
            }
        }
    }
    let mut all = json!({});
    for (key, (value, _)) in merged {
        put(&mut all, &key, value);
    }
    Ok(all)
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
