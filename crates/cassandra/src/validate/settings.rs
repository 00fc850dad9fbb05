//! Settings that people give to the server: merged, and refused where they are
//! ours to set.

use super::{Input, Refusal, config_map, option_lines, refuse, yaml_map};
use k8s_openapi::api::core::v1::EnvVar;
use palladion_api::cluster::{Mode, Rack};
use palladion_api::reasons::Reason;
use serde_json::Value;
use std::collections::BTreeMap;

/// Settings of `cassandra.yaml` and `scylla.yaml` that are ours: identity,
/// addresses, seeds, tokens and directories.
pub const RESERVED: [&str; 24] = [
    "cluster_name",
    "num_tokens",
    "initial_token",
    "auto_bootstrap",
    "seed_provider",
    "endpoint_snitch",
    "listen_address",
    "listen_interface",
    "listen_on_broadcast_address",
    "broadcast_address",
    "rpc_address",
    "rpc_interface",
    "broadcast_rpc_address",
    "storage_port",
    "ssl_storage_port",
    "native_transport_port",
    "data_file_directories",
    "local_system_data_file_directory",
    "commitlog_directory",
    "hints_directory",
    "saved_caches_directory",
    "cdc_raw_directory",
    "start_native_transport",
    "api_address",
];
/// Environment variables that the pod template sets.
const RESERVED_ENV: [&str; 8] = [
    "POD_NAME",
    "POD_NAMESPACE",
    "POD_UID",
    "POD_IP",
    "POD_REVISION",
    "NODE_NAME",
    "CPU_LIMIT",
    "MEMORY_LIMIT",
];
/// Options that would take a member away from its agent.
const RESERVED_OPTIONS: [&str; 6] = [
    "-Dcassandra.replace_",
    "-Dcassandra.config=",
    "-Dcassandra.jmx",
    "-Dcom.sun.management.jmxremote",
    "-Dcassandra.storagedir=",
    "-Dcassandra.join_ring=",
];

/// Settings and JVM options of a rack: the cluster's, then those of the rack's ConfigMap.
pub fn merge(
    input: &Input<'_>,
    rack: &Rack,
) -> Result<(BTreeMap<String, Value>, Vec<String>), Refusal> {
    let spec = input.spec;
    let mut config = spec.config.clone();
    let mut options = spec.jvm_options.clone();
    check(
        &config,
        &options,
        spec.mode,
        "the spec",
        Reason::InvalidSpec,
    )?;
    if let Some(name) = &rack.config_map_name {
        let map = config_map(input, name, &rack.name)?;
        let file = match spec.mode {
            Mode::Cassandra => "cassandra.yaml",
            Mode::Scylla => "scylla.yaml",
        };
        let of_rack =
            yaml_map(map.str_at(&format!("/data/{file}")).unwrap_or_default()).or_else(|e| {
                refuse(
                    Reason::ConfigMapInvalid,
                    format!(
                        "key {file} of ConfigMap {name}, named by rack {}, cannot be read: {e}",
                        rack.name
                    ),
                )
            })?;
        let more: Vec<String> =
            option_lines(map.str_at("/data/jvm-server.options").unwrap_or_default()).collect();
        check(
            &of_rack,
            &more,
            spec.mode,
            &format!("ConfigMap {name}"),
            Reason::ConfigMapInvalid,
        )?;
        config.extend(of_rack);
        options.extend(more);
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
    if let Some(key) = config.keys().find(|k| RESERVED.contains(&k.as_str())) {
        return refuse(
            reason,
            format!("setting {key} in {place} is set by the operator; take it out"),
        );
    }
    if mode == Mode::Scylla && !options.is_empty() {
        return refuse(
            reason,
            format!("{place} has JVM options and Scylla has no JVM; take them out"),
        );
    }
    let bad = options
        .iter()
        .find(|o| !o.starts_with('-') || RESERVED_OPTIONS.iter().any(|r| o.starts_with(r)));
    match bad {
        Some(option) => refuse(
            reason,
            format!(
                "JVM option {option} in {place} is set by the operator or does not start with `-`; take it out"
            ),
        ),
        None => Ok(()),
    }
}

/// The environment, without what the pod template sets.
pub fn environment(env: &[EnvVar]) -> Result<Vec<EnvVar>, Refusal> {
    match env
        .iter()
        .find(|e| RESERVED_ENV.contains(&e.name.as_str()) || e.name.starts_with("KUBERNETES_"))
    {
        Some(taken) => refuse(
            Reason::InvalidSpec,
            format!(
                "environment variable {} is set by the operator; take it out of `env`",
                taken.name
            ),
        ),
        None => Ok(env.to_vec()),
    }
}
