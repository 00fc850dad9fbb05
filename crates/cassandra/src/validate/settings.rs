//! Settings that people give to the server: merged, and refused where they are
//! ours to set.

use super::{Input, Refusal, config_map, security};
use crate::words::refusal::{BadSetting, Place};
use k8s_openapi::api::core::v1::EnvVar;
use palladion_api::cluster::{CassandraClusterSpec, Mode, Rack};
use palladion_api::reserved;
use palladion_api::runtime::{LogLevel, RuntimeSettings};
use palladion_plan::words::Quoted;
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
    security::check(spec)?;
    security::unambiguous(input, &config, &Place::Spec)
        .map_err(|problem| Refusal::Setting { problem })?;
    check(&config, &options, spec.mode, &Place::Spec)
        .map_err(|problem| Refusal::Setting { problem })?;
    if let Some(name) = &rack.config_map_name {
        let more = config_map::settings(input, rack, name)?;
        let place = Place::ConfigMap { name: name.clone(), rack: rack.name.clone() };
        check(&more.config, &more.options, spec.mode, &place)
            .and_then(|()| security::unambiguous(input, &more.config, &place))
            .map_err(|problem| Refusal::ConfigMapSetting { problem })?;
        config.extend(more.config);
        options.extend(more.options);
    }
    Ok((config, options))
}

fn check(
    config: &BTreeMap<String, Value>,
    options: &[String],
    mode: Mode,
    place: &Place,
) -> Result<(), BadSetting> {
    let place = || place.clone();
    let taken = |key: &String| reserved::config(key).map(|r| (key.clone(), r.instead));
    if let Some((key, instead)) = config.keys().find_map(taken) {
        return Err(BadSetting::Reserved { key, place: place(), instead });
    }
    if mode == Mode::Scylla && !options.is_empty() {
        return Err(BadSetting::OptionsOfScylla { place: place() });
    }
    for option in options.iter().cloned() {
        if !option.starts_with('-') {
            return Err(BadSetting::NoDash { option, place: place() });
        }
        if let Some(taken) = reserved::jvm_option(&option) {
            let instead = taken.instead;
            return Err(BadSetting::ReservedOption { option, place: place(), instead });
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
            return Err(Refusal::OurVariable { name: name.clone() });
        }
        if !seen.insert(name) {
            return Err(Refusal::VariableTwice { name: name.clone() });
        }
    }
    Ok(env.to_vec())
}

/// Settings that servers take while they run.
pub fn runtime(spec: &CassandraClusterSpec) -> Result<RuntimeSettings, Refusal> {
    let settings = &spec.runtime_settings;
    if spec.mode == Mode::Scylla && !settings.is_empty() {
        return Err(Refusal::RuntimeSettingsOfScylla);
    }
    let is_name = |name: &str| {
        let others = |c: char| c.is_ascii_alphanumeric() || "_.$-".contains(c);
        name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(others)
    };
    if let Some(name) = settings.log_levels.keys().find(|name| !is_name(name)) {
        return Err(Refusal::NotALogger { name: Quoted(name.clone()) });
    }
    // The schema refuses it, but that of a newer Palladion may not.
    let unknown = settings.log_levels.iter().find_map(|(name, level)| match level {
        LogLevel::Unknown(level) => Some((name.clone(), *level)),
        LogLevel::Trace
        | LogLevel::Debug
        | LogLevel::Info
        | LogLevel::Warn
        | LogLevel::Error
        | LogLevel::Off => None,
    });
    match unknown {
        Some((name, level)) => Err(Refusal::NotALevel { level, name: Quoted(name) }),
        None => Ok(settings.clone()),
    }
}

/// Refuse annotations by which the operator would misread its own objects.
pub fn annotations(all: &BTreeMap<String, String>, place: Place) -> Result<(), Refusal> {
    match all.keys().find(|key| key.starts_with(OUR_ANNOTATIONS)) {
        Some(key) => Err(Refusal::OurAnnotation { key: key.clone(), place }),
        None => Ok(()),
    }
}
