//! Settings that people give to the server: merged, and refused where they are
//! ours to set.

use super::{Input, Refusal, config_map, refuse};
use k8s_openapi::api::core::v1::EnvVar;
use palladion_api::cluster::{CassandraClusterSpec, Mode, Rack};
use palladion_api::reasons::Reason;
use palladion_api::reserved;
use palladion_api::runtime::RuntimeSettings;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Annotations that steer the operator.
const OUR_ANNOTATIONS: &str = "palladion.dev/";

/// Settings and JVM options of a rack: the cluster's, then those of the rack's ConfigMap.
pub fn merge(
    input: &Input<'_>,
    rack: &Rack,
) -> Result<(BTreeMap<String, Value>, Vec<String>), Refusal> {
    let spec = input.spec;
    let mut config = spec.config.clone();
    let mut options = spec.jvm_options.clone();
    check(&config, &options, spec.mode, "the spec", Reason::InvalidSpec)?;
    if let Some(name) = &rack.config_map_name {
        let more = config_map::settings(input, rack, name)?;
        check(
            &more.config,
            &more.options,
            spec.mode,
            &format!("ConfigMap {name}, named by rack {}", rack.name),
            Reason::ConfigMapInvalid,
        )?;
        config.extend(more.config);
        options.extend(more.options);
    }
    Ok((config, options))
}

fn check(
    config: &BTreeMap<String, Value>,
    options: &[String],
    mode: Mode,
    place: &str,
    reason: Reason,
) -> Result<(), Refusal> {
    let taken = |key: &String| reserved::config(key).map(|r| (key.clone(), r.instead));
    if let Some((key, instead)) = config.keys().find_map(taken) {
        return refuse(
            reason,
            format!("setting {key} in {place} is not yours to set: {instead}; take it out"),
        );
    }
    if mode == Mode::Scylla && !options.is_empty() {
        return refuse(
            reason,
            format!("{place} has JVM options and Scylla has no JVM; take them out"),
        );
    }
    for option in options {
        if !option.starts_with('-') {
            return refuse(
                reason,
                format!("JVM option {option} in {place} does not begin with `-`; correct it"),
            );
        }
        if let Some(taken) = reserved::jvm_option(option) {
            return refuse(
                reason,
                format!(
                    "JVM option {option} in {place} is not yours to set: {}; take it out",
                    taken.instead
                ),
            );
        }
    }
    Ok(())
}

/// The environment, without what the pod template sets.
pub fn environment(env: &[EnvVar]) -> Result<Vec<EnvVar>, Refusal> {
    let mut seen = BTreeSet::new();
    for variable in env {
        let name = &variable.name;
        if reserved::env(name) {
            return refuse(
                Reason::InvalidSpec,
                format!("environment variable {name} is set by the operator; take it out of `env`"),
            );
        }
        if !seen.insert(name) {
            return refuse(
                Reason::InvalidSpec,
                format!(
                    "environment variable {name} is twice in `env`, and one of them would be ignored; leave one"
                ),
            );
        }
    }
    Ok(env.to_vec())
}

/// Settings that servers take while they run.
pub fn runtime(spec: &CassandraClusterSpec) -> Result<RuntimeSettings, Refusal> {
    let settings = &spec.runtime_settings;
    if spec.mode == Mode::Scylla && !settings.is_empty() {
        let words = "`runtimeSettings` are Cassandra's; take them out and set `config`";
        return refuse(Reason::InvalidSpec, words.into());
    }
    let is_name = |name: &str| {
        let others = |c: char| c.is_ascii_alphanumeric() || "_.$-".contains(c);
        name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(others)
    };
    match settings.log_levels.keys().find(|name| !is_name(name)) {
        Some(name) => refuse(
            Reason::InvalidSpec,
            format!("`{name}` in `logLevels` is no logger; name a class, a package or ROOT"),
        ),
        None => Ok(settings.clone()),
    }
}

/// Refuse annotations by which the operator would misread its own objects.
pub fn annotations(all: &BTreeMap<String, String>, place: &str) -> Result<(), Refusal> {
    match all.keys().find(|key| key.starts_with(OUR_ANNOTATIONS)) {
        Some(key) => refuse(
            Reason::InvalidSpec,
            format!("annotation {key} in `annotations` of {place} is the operator's; take it out"),
        ),
        None => Ok(()),
    }
}
