//! From the stored spec to types that cannot be wrong. What the CRD's rules
//! can check is refused at admission; this door refuses the same again for
//! objects that were stored before a rule, and what needs other objects.

use crate::generations::Generations;
use crate::trust;
use crate::words::refusal::{Place, Refusal};
pub use archive::ValidArchive;
pub use backup::ValidBackup;
use k8s_openapi::api::core::v1::{EnvVar, LocalObjectReference, ResourceRequirements};
pub use network::{ValidClients, ValidNetwork};
use palladion_api::cluster::{
    AuthMode, CassandraClusterSpec, ClaimTemplate, ClientTls, ClientTlsMode, DeletionPolicy,
    InternodeTls, InternodeTlsMode, Mode, Placement, Rack, RingOrigin, Sidecar, StatefulSetReplace,
};
use palladion_api::ids::{RackName, Uid};
use palladion_api::runtime::RuntimeSettings;
use palladion_api::server_config::{ClientCertificates, JmxAccess, Opens, ServerConfig};
use palladion_api::{OperatorConfigSpec, labels, names};
use palladion_plan::Object;
pub use ring::ValidElsewhere;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

mod archive;
mod backup;
pub mod cdc;
mod claim;
mod config_map;
mod dropped;
mod memory;
mod name;
mod network;
mod numbers;
mod quantity;
mod ring;
mod security;
mod settings;
pub mod sidecar;
#[cfg(test)]
mod tests;
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
    /// StatefulSets that exist: a ring that runs does not need the class that
    /// its claims were made with.
    pub sets: BTreeSet<String>,
    /// Racks whose set stands although the spec does not name them: name and set.
    pub dropped: Vec<(RackName, String)>,
    /// The newest line that a member has run.
    pub highest_release_line: Option<String>,
    /// The template generations that this release knows.
    pub generations: Generations,
    /// The step of TLS between members that pods are rendered with.
    pub internode_tls: InternodeTlsMode,
    /// The steps that are at most one away from those of pods that exist.
    pub internode_reach: (InternodeTlsMode, InternodeTlsMode),
}

/// The agent's image, by who chose it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentImage {
    /// The spec names it: pods of another one are replaced.
    OfSpec(String),
    /// The default: for pods that are made, or replaced for another reason.
    Default(String),
}

impl AgentImage {
    /// The image.
    pub fn reference(&self) -> &str {
        match self {
            AgentImage::OfSpec(image) | AgentImage::Default(image) => image,
        }
    }
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

/// A spec that can be carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct Valid {
    /// Name of the object.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Its uid.
    pub uid: Uid,
    /// Name of the ring as the server sees it.
    pub ring: String,
    /// Cassandra or Scylla.
    pub mode: Mode,
    /// Version of the server.
    pub version: String,
    /// What servers take while they run.
    pub runtime_settings: RuntimeSettings,
    /// Restarts of the whole ring that were asked for.
    pub restart_token: Option<String>,
    /// Image of the server.
    pub image: String,
    /// Image of the agent.
    pub agent_image: AgentImage,
    /// Name of the datacenter.
    pub datacenter: String,
    /// Racks.
    pub racks: Vec<ValidRack>,
    /// Seeds per rack.
    pub seeds_per_rack: u32,
    /// Least seconds between two starts.
    pub bootstrap_grace_seconds: u32,
    /// How long a Node must be gone before its members are replaced, in seconds.
    pub node_gone_grace_seconds: u32,
    /// Seconds to drain in.
    pub termination_grace_seconds: u32,
    /// When sets are recreated around their pods.
    pub set_replace: StatefulSetReplace,
    /// Secrets to pull images with.
    pub pull_secrets: Vec<LocalObjectReference>,
    /// What happens to the data.
    pub deletion_policy: DeletionPolicy,
    /// Environment of the server.
    pub env: Vec<EnvVar>,
    /// Containers beside the server.
    pub sidecars: Vec<Sidecar>,
    /// Secret with the people's superuser.
    pub superuser_secret: String,
    /// Secret with key, certificate and authorities for clients.
    pub client_tls_secret: Option<String>,
    /// Who signs the certificates for clients, where it is not that Secret.
    pub client_certificates: Option<ClientCertificates>,
    /// How members speak to each other; `None` is in the clear.
    pub internode_tls: Option<InternodeTlsMode>,
    /// Where its backups go.
    pub backup: Option<ValidBackup>,
    /// Where the ring begins, and its seeds in other datacenters.
    pub elsewhere: ValidElsewhere,
    /// Who may connect to its pods; `None` leaves that to others.
    pub network: Option<ValidNetwork>,
    /// Under which addresses clients find members.
    pub clients: ValidClients,
    /// The template generations that it can be rendered in.
    pub generations: Generations,
}

/// Does the spec name a rack?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RackPlace {
    /// It does.
    Wanted,
    /// It does not any more: its members leave, and nothing of it is rendered.
    Dropped,
}

impl Valid {
    /// Do its servers ask who logs in, by `auth`?
    pub fn asks_for_passwords(&self) -> bool {
        self.racks.iter().any(|rack| rack.server.auth == Some(AuthMode::Password))
    }
}

/// A rack that can be made.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidRack {
    /// Name as the server sees it.
    pub name: RackName,
    /// Name of its StatefulSet.
    pub set: String,
    /// Does the spec name it?
    pub place: RackPlace,
    /// Wanted members.
    pub members: i32,
    /// Restarts of the rack that were asked for.
    pub restart_token: Option<String>,
    /// The claim, with defaults filled in.
    pub claim: ClaimTemplate,
    /// Resources of the server's container.
    pub resources: Option<ResourceRequirements>,
    /// Where it may run.
    pub placement: Option<Placement>,
    /// What the agent is given.
    pub server: ServerConfig,
    /// Configuration of the JMX exporter.
    pub jmx_exporter: Option<String>,
    /// Annotations of set and pods, the cluster's and the rack's.
    pub annotations: BTreeMap<String, String>,
}

/// Parse the spec, or say what is wrong with it.
pub fn validate(input: &Input<'_>) -> Result<Valid, Refusal> {
    let (spec, meta) = (input.spec, &input.owner.meta);
    version::supported(spec)?;
    version::not_back(spec, input.highest_release_line.as_deref())?;
    name::check(&meta.name, spec)?;
    numbers::check(spec)?;
    trust::of(spec)?;
    settings::annotations(&spec.annotations, Place::Spec)?;
    let ring = spec.ring_name.clone().unwrap_or_else(|| meta.name.clone());
    let repository = spec.repository.clone().unwrap_or_else(|| match spec.mode {
        Mode::Cassandra => "cassandra".into(),
        Mode::Scylla => "scylladb/scylla".into(),
    });
    let mut racks: Vec<ValidRack> =
        spec.datacenter.racks.iter().map(|r| rack(input, &ring, r)).collect::<Result<_, _>>()?;
    racks.extend(input.dropped.iter().map(|d| dropped::rack(input, &ring, d)));
    Ok(Valid {
        name: meta.name.clone(),
        namespace: meta.namespace.clone(),
        uid: meta.uid.clone(),
        ring,
        mode: spec.mode,
        version: spec.version.clone(),
        runtime_settings: settings::runtime(spec)?,
        restart_token: spec.restart_token.clone(),
        image: format!("{repository}:{}", spec.version),
        agent_image: agent_image(input)?,
        datacenter: spec.datacenter.name.clone(),
        racks,
        seeds_per_rack: spec.seeds_per_rack,
        bootstrap_grace_seconds: spec.bootstrap_grace_seconds,
        node_gone_grace_seconds: spec.node_gone_grace_seconds,
        termination_grace_seconds: spec.termination_grace_period_seconds,
        set_replace: spec.update_strategy.stateful_set_replace,
        pull_secrets: spec.image_pull_secrets.clone(),
        deletion_policy: spec.deletion_policy,
        env: settings::environment(&spec.env)?,
        sidecars: sidecar::of(spec)?,
        superuser_secret: spec
            .auth
            .as_ref()
            .and_then(|a| a.superuser_secret_name.clone())
            .unwrap_or_else(|| names::superuser_secret(&meta.name)),
        client_tls_secret: client_tls(spec)
            .and_then(|tls| tls.certificates.as_ref())
            .and_then(|source| source.secret_name.clone()),
        client_certificates: client_certificates(spec),
        internode_tls: internode_tls(input),
        backup: backup::of(&meta.name, spec)?,
        elsewhere: ring::of(spec, input.internode_tls, input.internode_reach)?,
        network: network::of(spec)?,
        clients: network::clients(spec)?,
        generations: input.generations,
    })
}

/// What the spec says of TLS for clients.
fn client_tls(spec: &CassandraClusterSpec) -> Option<&ClientTls> {
    spec.tls.as_ref()?.client.as_ref()
}

/// What the spec says of TLS between members.
pub(crate) fn internode(spec: &CassandraClusterSpec) -> Option<&InternodeTls> {
    spec.tls.as_ref()?.internode.as_ref()
}

/// Does the operator sign the certificates of servers that serve TLS?
pub(crate) fn client_certificates(spec: &CassandraClusterSpec) -> Option<ClientCertificates> {
    let tls = client_tls(spec).filter(|tls| tls.mode != ClientTlsMode::Off)?;
    let by_operator = tls.certificates.as_ref()?.operator.as_ref();
    by_operator.map(|_| ClientCertificates::Operator)
}

/// How members speak to each other, where it is not in the clear: rings that never asked for it
/// are rendered as before.
fn internode_tls(input: &Input<'_>) -> Option<InternodeTlsMode> {
    Some(input.internode_tls).filter(|mode| *mode != InternodeTlsMode::Off)
}

/// What the agents are given of `auth`.
fn auth(spec: &CassandraClusterSpec) -> Option<AuthMode> {
    spec.auth.as_ref().map(|a| a.mode)
}

/// Whoever shares the loopback address of a server reaches its JMX.
fn jmx(spec: &CassandraClusterSpec) -> Option<JmxAccess> {
    (!spec.sidecars.is_empty()).then_some(JmxAccess::Password)
}

fn agent_image(input: &Input<'_>) -> Result<AgentImage, Refusal> {
    if let Some(image) = &input.spec.sidecar_image {
        return Ok(AgentImage::OfSpec(format!("{}:{}", image.repository, image.version)));
    }
    let of_operator = input.operator_config.and_then(|c| c.agent_image.clone());
    let of_release = input.settings.get("agentImage").cloned();
    of_operator.or(of_release).map(AgentImage::Default).ok_or(Refusal::NoAgentImage)
}

/// When members take clients, where that is not at once.
fn opens(spec: &CassandraClusterSpec) -> Option<Opens> {
    match spec.ring.map(|ring| ring.origin)? {
        RingOrigin::New => None,
        RingOrigin::Existing => Some(Opens::WhenRebuilt),
    }
}

fn rack(input: &Input<'_>, ring: &str, rack: &Rack) -> Result<ValidRack, Refusal> {
    let (spec, meta) = (input.spec, &input.owner.meta);
    let set = names::rack_set(&meta.name, &spec.datacenter.name, &rack.name);
    quantity::check(rack)?;
    let heap_mib = memory::check(spec, rack)?;
    let (config, jvm_options) = settings::merge(input, rack)?;
    archive::fits(spec, &config)?;
    let cdc = cdc::of(spec, &config)?;
    let jmx_exporter = config_map::jmx_exporter(input, rack)?;
    settings::annotations(&rack.annotations, Place::Rack { rack: rack.name.clone() })?;
    let mut annotations = spec.annotations.clone();
    annotations.extend(rack.annotations.clone());
    let claim = claim::check(input, rack, &set)?;
    cdc::fits(cdc, &rack.name, &claim)?;
    Ok(ValidRack {
        name: rack.name.clone(),
        place: RackPlace::Wanted,
        members: rack.members,
        restart_token: rack.restart_token.clone(),
        claim,
        set,
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
            auth: auth(spec),
            client_tls: client_tls(spec).map(|tls| tls.mode),
            internode_tls: internode_tls(input),
            client_certificates: client_certificates(spec),
            jmx: jmx(spec),
            audit: spec.audit.clone(),
            archive: archive::links(spec),
            cdc,
            opens: opens(spec),
            client_addresses: network::announced(spec),
        },
        jmx_exporter,
        annotations,
    })
}
