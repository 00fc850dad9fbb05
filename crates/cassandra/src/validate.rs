//! From the stored spec to types that cannot be wrong. What the CRD's rules
//! can tell is refused at admission; this door refuses the same again for
//! objects that were stored before a rule, and what needs other objects.

use k8s_openapi::api::core::v1::{EnvVar, LocalObjectReference, ResourceRequirements};
use palladion_api::cluster::{
    CassandraClusterSpec, ClaimTemplate, DeletionPolicy, Mode, Placement, Rack,
};
use palladion_api::reasons::Reason;
use palladion_api::server_config::{JMX_EXPORTER_FILE, ServerConfig};
use palladion_api::{OperatorConfigSpec, labels, names};
use palladion_plan::Object;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

mod memory;
mod settings;
mod version;

/// What validation looks at.
pub struct Input<'a> {
    /// The cluster.
    pub owner: &'a Object,
    /// Its spec.
    pub spec: &'a CassandraClusterSpec,
    /// What the process was started with; `agentImage` is the default image of the agent.
    pub settings: &'a BTreeMap<String, String>,
    /// Settings of the operator.
    pub operator_config: Option<&'a OperatorConfigSpec>,
    /// A ConfigMap that the spec names.
    pub config_map: &'a dyn Fn(&str) -> ConfigMapFact,
    /// Storage classes, and which is the default.
    pub storage_classes: Vec<(String, IsDefault)>,
}

/// Is a storage class the default one?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsDefault {
    /// It is.
    Yes,
    /// It is not.
    No,
}

/// What is known of a ConfigMap that a person made.
#[derive(Clone, Debug)]
pub enum ConfigMapFact {
    /// It does not exist.
    Missing,
    /// It exists.
    Present(Arc<Object>),
    /// It could not be read.
    Unknown(String),
}

/// Why a spec cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// A documented reason.
    pub reason: Reason,
    /// Field, object and next step.
    pub message: String,
}

/// A spec that can be carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct Valid {
    /// Name of the object.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Its uid.
    pub uid: String,
    /// Name of the ring as the server sees it.
    pub ring: String,
    /// Cassandra or Scylla.
    pub mode: Mode,
    /// Image of the server.
    pub image: String,
    /// Image of the agent.
    pub agent_image: String,
    /// Name of the datacenter.
    pub datacenter: String,
    /// Racks.
    pub racks: Vec<ValidRack>,
    /// Seeds per rack.
    pub seeds_per_rack: u32,
    /// Least seconds between two starts.
    pub bootstrap_grace_seconds: u32,
    /// Seconds to drain in.
    pub termination_grace_seconds: u32,
    /// Secrets to pull images with.
    pub pull_secrets: Vec<LocalObjectReference>,
    /// What becomes of the data.
    pub deletion_policy: DeletionPolicy,
    /// Environment of the server.
    pub env: Vec<EnvVar>,
}

/// A rack that can be made.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidRack {
    /// Name as the server sees it.
    pub name: String,
    /// Name of its StatefulSet.
    pub set: String,
    /// Wanted members.
    pub members: i32,
    /// The claim, with defaults filled in.
    pub claim: ClaimTemplate,
    /// Resources of the server's container.
    pub resources: Option<ResourceRequirements>,
    /// Where it may run.
    pub placement: Option<Placement>,
    /// What the agent is told.
    pub server: ServerConfig,
    /// Configuration of the JMX exporter.
    pub jmx_exporter: Option<String>,
    /// Annotations of set and pods, the cluster's and the rack's.
    pub annotations: BTreeMap<String, String>,
}

fn refuse<T>(reason: Reason, message: String) -> Result<T, Refusal> {
    Err(Refusal { reason, message })
}

/// Parse the spec, or say what is wrong with it.
pub fn validate(input: &Input<'_>) -> Result<Valid, Refusal> {
    let (spec, meta) = (input.spec, &input.owner.meta);
    version::supported(spec)?;
    unique_names(spec)?;
    let ring = spec.ring_name.clone().unwrap_or_else(|| meta.name.clone());
    let repository = spec.repository.clone().unwrap_or_else(|| match spec.mode {
        Mode::Cassandra => "cassandra".into(),
        Mode::Scylla => "scylladb/scylla".into(),
    });
    let racks = spec
        .datacenter
        .racks
        .iter()
        .map(|r| rack(input, &ring, r))
        .collect::<Result<_, _>>()?;
    Ok(Valid {
        name: meta.name.clone(),
        namespace: meta.namespace.clone(),
        uid: meta.uid.clone(),
        ring,
        mode: spec.mode,
        image: format!("{repository}:{}", spec.version),
        agent_image: agent_image(input)?,
        datacenter: spec.datacenter.name.clone(),
        racks,
        seeds_per_rack: spec.seeds_per_rack,
        bootstrap_grace_seconds: spec.bootstrap_grace_seconds,
        termination_grace_seconds: spec.termination_grace_period_seconds,
        pull_secrets: spec.image_pull_secrets.clone(),
        deletion_policy: spec.deletion_policy,
        env: settings::environment(&spec.env)?,
    })
}

fn agent_image(input: &Input<'_>) -> Result<String, Refusal> {
    let of_cluster = input
        .spec
        .sidecar_image
        .as_ref()
        .map(|i| format!("{}:{}", i.repository, i.version));
    let of_operator = input.operator_config.and_then(|c| c.agent_image.clone());
    let of_release = input.settings.get("agentImage").cloned();
    match of_cluster.or(of_operator).or(of_release) {
        Some(image) => Ok(image),
        None => refuse(
            Reason::InvalidSpec,
            "no image of the agent is known; set `sidecarImage`, or `agentImage` of OperatorConfig default".into(),
        ),
    }
}

fn unique_names(spec: &CassandraClusterSpec) -> Result<(), Refusal> {
    if spec.datacenter.racks.is_empty() {
        return refuse(
            Reason::InvalidSpec,
            "`datacenter.racks` is empty; name at least one rack".into(),
        );
    }
    let mut seen = BTreeSet::new();
    for rack in &spec.datacenter.racks {
        if !seen.insert(names::dns(&rack.name)) {
            return refuse(
                Reason::InvalidSpec,
                format!(
                    "rack {} occurs twice, or differs from another only by case, `_` or `.`; give each rack a name of its own",
                    rack.name
                ),
            );
        }
    }
    Ok(())
}

fn rack(input: &Input<'_>, ring: &str, rack: &Rack) -> Result<ValidRack, Refusal> {
    let (spec, meta) = (input.spec, &input.owner.meta);
    let set = names::rack_set(&meta.name, &spec.datacenter.name, &rack.name);
    if set.len() > names::STATEFUL_SET_NAME_MAX {
        return refuse(
            Reason::InvalidSpec,
            format!(
                "the StatefulSet of rack {} would be named {set}, {} characters long; shorten the names of cluster, datacenter or rack so that it has at most {}",
                rack.name,
                set.len(),
                names::STATEFUL_SET_NAME_MAX
            ),
        );
    }
    if rack.members < 0 {
        return refuse(
            Reason::InvalidSpec,
            format!(
                "rack {} asks for {} members; ask for 0 or more",
                rack.name, rack.members
            ),
        );
    }
    let heap_mib = memory::check(spec, rack)?;
    let (config, jvm_options) = settings::merge(input, rack)?;
    let jmx_exporter = jmx_exporter(input, rack)?;
    let mut annotations = spec.annotations.clone();
    annotations.extend(rack.annotations.clone());
    Ok(ValidRack {
        name: rack.name.clone(),
        set,
        members: rack.members,
        claim: claim(input, rack)?,
        resources: rack.resources.clone(),
        placement: rack.placement.clone(),
        server: ServerConfig {
            mode: spec.mode,
            version: spec.version.clone(),
            ring: ring.to_string(),
            datacenter: spec.datacenter.name.clone(),
            rack: rack.name.clone(),
            num_tokens: spec.num_tokens,
            heap_mib,
            config,
            jvm_options,
            developer_mode: meta
                .annotations
                .get(labels::DEVELOPER_MODE)
                .is_some_and(|v| v == "true"),
            jmx_exporter: jmx_exporter.is_some(),
        },
        jmx_exporter,
        annotations,
    })
}

fn jmx_exporter(input: &Input<'_>, rack: &Rack) -> Result<Option<String>, Refusal> {
    let Some(name) = &rack.jmx_exporter_config_map_name else {
        return Ok(None);
    };
    if input.spec.mode == Mode::Scylla {
        return refuse(
            Reason::InvalidSpec,
            format!(
                "rack {}: `jmxExporterConfigMapName` is for Cassandra; Scylla serves metrics by itself",
                rack.name
            ),
        );
    }
    let map = config_map(input, name, &rack.name)?;
    match map.str_at(&format!("/data/{JMX_EXPORTER_FILE}")) {
        Some(text) => Ok(Some(text.to_string())),
        None => refuse(
            Reason::ConfigMapInvalid,
            format!(
                "ConfigMap {name}, named by rack {}, has no key `{JMX_EXPORTER_FILE}`; add it",
                rack.name
            ),
        ),
    }
}

fn config_map(input: &Input<'_>, name: &str, rack: &str) -> Result<Arc<Object>, Refusal> {
    match (input.config_map)(name) {
        ConfigMapFact::Present(map) => Ok(map),
        ConfigMapFact::Missing => refuse(
            Reason::ConfigMapMissing,
            format!(
                "ConfigMap {name}, named by rack {rack}, does not exist; create it or take its name out of the spec"
            ),
        ),
        ConfigMapFact::Unknown(why) => refuse(
            Reason::FactUnknown,
            format!("ConfigMap {name}, named by rack {rack}, could not be read: {why}"),
        ),
    }
}

/// Size of the claim of a rack that names none.
const DEFAULT_SIZE: &str = "10Gi";

fn claim(input: &Input<'_>, rack: &Rack) -> Result<ClaimTemplate, Refusal> {
    let templates = &rack.storage.volume_claim_templates;
    if templates.len() > 1 {
        return refuse(
            Reason::InvalidSpec,
            format!(
                "rack {} has {} claim templates; a member has one volume, give one",
                rack.name,
                templates.len()
            ),
        );
    }
    let mut claim = templates.first().cloned().unwrap_or_default();
    claim.metadata.name.get_or_insert_with(|| "data".into());
    claim.spec.access_modes = Some(vec!["ReadWriteOnce".into()]);
    let requests = claim
        .spec
        .resources
        .get_or_insert_default()
        .requests
        .get_or_insert_default();
    requests.entry("storage".into()).or_insert_with(|| {
        k8s_openapi::apimachinery::pkg::api::resource::Quantity(DEFAULT_SIZE.into())
    });
    storage_class(input, rack, claim.spec.storage_class_name.as_deref())?;
    Ok(claim)
}

fn storage_class(input: &Input<'_>, rack: &Rack, wanted: Option<&str>) -> Result<(), Refusal> {
    let known = || {
        input
            .storage_classes
            .iter()
            .map(|(name, _)| name.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    match wanted {
        Some("") => Ok(()), // Volumes that a person binds by hand.
        Some(name) if !input.storage_classes.iter().any(|(n, _)| n == name) => refuse(
            Reason::StorageClassMissing,
            format!(
                "rack {}: storage class {name} does not exist; there are: {}",
                rack.name,
                known()
            ),
        ),
        None if !input
            .storage_classes
            .iter()
            .any(|(_, d)| *d == IsDefault::Yes) =>
        {
            refuse(
                Reason::StorageClassMissing,
                format!(
                    "rack {} names no storage class and there is no default one; there are: {}",
                    rack.name,
                    known()
                ),
            )
        }
        Some(_) | None => Ok(()),
    }
}

/// The lines of an options file that say something.
fn option_lines(text: &str) -> impl Iterator<Item = String> + '_ {
    text.lines()
        .map(str::trim)
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
        .map(str::to_string)
}

/// A YAML text as a map of settings.
fn yaml_map(text: &str) -> Result<BTreeMap<String, Value>, String> {
    if text.trim().is_empty() {
        return Ok(BTreeMap::new());
    }
    serde_yaml::from_str(text).map_err(|e| e.to_string())
}
