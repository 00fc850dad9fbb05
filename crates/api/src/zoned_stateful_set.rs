//! `ZonedStatefulSet`: one StatefulSet per zone, updates with versions or a
//! canary, restarts on changes of configuration, active and passive pods.
//!
//! Fields that QuarksStatefulSet has keep its names (`docs/sources.md`).

pub mod names;
pub mod probe;
pub mod status;
pub mod template;

use kube_core::Rule;
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use probe::{ActiveProbe, ExecAction, GrpcAction, HttpGetAction, HttpHeader, TcpSocketAction};
pub use status::{PendingConfig, RolloutState, SetStatus, ZonedStatefulSetStatus};
pub use template::{ObjectMetadata, SetSpec, SetTemplate};

/// The node label that holds a node's zone, if the spec names none.
pub const DEFAULT_ZONE_LABEL: &str = "topology.kubernetes.io/zone";

/// Rules over the whole object, its name included.
pub fn root_rules() -> Vec<Rule> {
    let must = |rule: &str, message: &str| Rule::new(rule).message(message);
    vec![
        must(
            "size(self.metadata.name) <= (self.spec.rollout == 'Versioned' ? 40 : 48)",
            "the name is too long: StatefulSets add the zone (`-z15`) and the version (`-v999999`) to it, so it may have at most 40 characters with `rollout: Versioned` and at most 48 otherwise",
        ),
        must(
            "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
            "the name must be a DNS label: lower-case letters, digits and `-`, starting with a letter; pods and Services are named after it",
        ),
    ]
}

/// StatefulSets spread over zones, updated by version or by canary.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "palladion.dev",
    version = "v1alpha1",
    kind = "ZonedStatefulSet",
    namespaced,
    status = "ZonedStatefulSetStatus",
    shortname = "zset",
    category = "palladion",
    derive = "PartialEq",
    derive = "Default",
    scale = r#"{"specReplicasPath":".spec.template.spec.replicas","statusReplicasPath":".status.replicas","labelSelectorPath":".status.selector"}"#,
    crates(kube_core = "::kube_core")
)]
#[kube(
    printcolumn(name = "Ready", type_ = "string", json_path = ".status.pods"),
    printcolumn(name = "Rollout", type_ = "string", json_path = ".status.rollout"),
    printcolumn(name = "Version", type_ = "integer", json_path = ".status.version"),
    printcolumn(name = "Active", type_ = "string", json_path = ".status.activePods"),
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Progressing')].message",
        priority = 1
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(
    validation = Rule::new("self.rollout != 'Versioned' || !has(self.template.spec.volumeClaimTemplates) || size(self.template.spec.volumeClaimTemplates) == 0")
        .message("`rollout: Versioned` creates a second StatefulSet with its own volumes, so it cannot be used with `volumeClaimTemplates`; use `rollout: Partitioned`"),
    validation = Rule::new("self.rollout != 'Recreate' || !has(self.template.spec.persistentVolumeClaimRetentionPolicy) || self.template.spec.persistentVolumeClaimRetentionPolicy.whenScaled != 'Delete'")
        .message("`rollout: Recreate` temporarily scales the StatefulSets to zero, so `persistentVolumeClaimRetentionPolicy.whenScaled: Delete` would delete all data; set it to `Retain`"),
    validation = Rule::new("!has(self.activePassiveProbes) || self.activePassiveProbes.all(c, self.template.spec.template.spec.containers.exists(k, k.name == c))")
        .message("each key of `activePassiveProbes` must be the name of a container of the template"),
    validation = Rule::new("has(oldSelf.template.spec.selector) == has(self.template.spec.selector) && (!has(self.template.spec.selector) || oldSelf.template.spec.selector == self.template.spec.selector)")
        .message("`template.spec.selector` is immutable, because a changed selector would no longer match the running pods; create a new ZonedStatefulSet instead")
)]
#[serde(rename_all = "camelCase")]
pub struct ZonedStatefulSetSpec {
    /// The zones to span, in order: each gets a StatefulSet `<name>-z<index>` with all the template's replicas. Default: none, one StatefulSet `<name>` that may run anywhere. Add new zones at the end: the index belongs to the name of the pods.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "zones")]
    #[x_kube(validation = Rule::new("self.all(z, self.exists_one(y, y == z))").message("each zone may be listed only once"))]
    pub zones: Vec<String>,
    /// The node label whose value is a node's zone. Default `topology.kubernetes.io/zone`; `failure-domain.beta.kubernetes.io/zone` is accepted for nodes that still carry it.
    #[serde(default = "default_zone_label")]
    #[schemars(length(min = 1, max = 317))]
    pub zone_node_label: String,
    /// The StatefulSet of each zone.
    pub template: SetTemplate,
    /// How a change of the template reaches the pods. Default `Partitioned`.
    #[serde(default)]
    pub rollout: Rollout,
    /// How long a rollout may take before it counts as failed.
    #[serde(default)]
    pub canary: Canary,
    /// Roll the pods, as `rollout` says, when the data of a ConfigMap or Secret changes that the template uses in environment variables or volumes. The operator needs the right to read these objects; for Secrets see the how-to page. Default false.
    #[serde(default)]
    pub update_on_config_change: bool,
    /// Probes that select the active pod, by container name. All must pass. Default: none, and no pod is labelled active.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 8))]
    pub active_passive_probes: BTreeMap<String, ActiveProbe>,
    /// How many pods may be active at once. Default `Single`.
    #[serde(default)]
    pub active_passive_mode: ActivePassiveMode,
    /// Set the environment variable REPLICAS in every container: the replicas of each zone when the pod template was written. Scaling does not restart pods to update it. Default true.
    #[serde(default = "yes")]
    pub inject_replicas_env: bool,
    /// Limits for `template.spec.replicas`, also when it is set by `kubectl scale` or a HorizontalPodAutoscaler.
    #[serde(default)]
    pub scaling: Scaling,
    /// Value of the pods' label `palladion.dev/instance-group-name`, for Services to select by. Default: the object's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub instance_group: Option<String>,
    /// Value of the pods' label `palladion.dev/deployment-name`, for Services to select by. Default: the object's namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub deployment: Option<String>,
    /// Which Services the operator creates. Default `Default`.
    #[serde(default)]
    pub services: Services,
    /// While true, the operator writes only the status of this object; active and passive labels stay as they are. Default false.
    #[serde(default)]
    pub paused: bool,
}

fn default_zone_label() -> String {
    DEFAULT_ZONE_LABEL.to_string()
}
fn yes() -> bool {
    true
}

fn zones(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "array",
        "maxItems": 16,
        "items": {
            "type": "string",
            "minLength": 1,
            "maxLength": 63,
            "pattern": "^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
        }
    })
}

/// How a change of the template reaches the pods.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum Rollout {
    /// A second set `<name>[-z<index>]-v<version>` beside the old one, which is deleted when a pod of the new one is ready. For templates without volume claims.
    Versioned,
    /// In place, from the highest pod down: one pod first as a canary, then one after another, zone after zone.
    #[default]
    Partitioned,
    /// All pods of all zones end before the first new one starts.
    Recreate,
}

/// How many pods may be active at once.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum ActivePassiveMode {
    /// At most one; it stays active for as long as its probe passes.
    #[default]
    Single,
    /// Every ready pod whose probe passes.
    AllPassing,
}

/// Which Services the operator creates.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum Services {
    /// `<name>`, headless, by which pods find each other (unless the template names its own `serviceName`); for the ports that the template's containers name: `<name>-ready` for all ready pods, and, with active probes, `<name>-active`.
    #[default]
    Default,
    /// None; create the Service of `serviceName` yourself.
    None,
}

/// How long a rollout may take.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Canary {
    /// Seconds that the first new pod of a zone may take to become ready. After that the rollout stops as `Failed`. Default 300.
    #[serde(default = "default_watch")]
    #[schemars(range(min = 1))]
    pub watch_seconds: u32,
    /// Seconds that the rollout of a zone may take. After that it stops as `Failed`. Default 3600.
    #[serde(default = "default_update_watch")]
    #[schemars(range(min = 1))]
    pub update_watch_seconds: u32,
}

impl Default for Canary {
    fn default() -> Self {
        Self { watch_seconds: default_watch(), update_watch_seconds: default_update_watch() }
    }
}

fn default_watch() -> u32 {
    300
}
fn default_update_watch() -> u32 {
    3600
}

/// Limits for the replicas of each zone.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(
    validation = Rule::new("!has(self.min) || !has(self.max) || self.min <= self.max").message("`scaling.min` must not be greater than `scaling.max`"),
    validation = Rule::new("!self.odd || !has(self.max) || self.max > (has(self.min) ? self.min : 0) || self.max % 2 == 1").message("`scaling.odd` needs an odd number from `scaling.min` to `scaling.max`: raise `scaling.max` or lower `scaling.min`")
)]
#[serde(rename_all = "camelCase")]
pub struct Scaling {
    /// Minimum replicas of each zone; a smaller number is raised to it. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000))]
    pub min: Option<i32>,
    /// Maximum replicas of each zone; a larger number is lowered to it. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000))]
    pub max: Option<i32>,
    /// Use odd numbers only, as quorums need them: an even number above zero is raised by one, or lowered by one if `max` forbids that. Default false.
    #[serde(default)]
    pub odd: bool,
}

impl Scaling {
    /// The replicas of each zone for a number that was asked for.
    pub fn limit(&self, asked: i32) -> i32 {
        let max = self.max.unwrap_or(i32::MAX - 1);
        let number = asked.max(self.min.unwrap_or(0)).min(max).max(0);
        match self.odd && number > 0 && number % 2 == 0 {
            false => number,
            true if number < max => number + 1,
            true => number - 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicas_are_held_within_their_limits() {
        let limits = |min, max, odd| Scaling { min, max, odd };
        assert_eq!(limits(None, None, false).limit(4), 4);
        assert_eq!(limits(Some(2), Some(5), false).limit(1), 2);
        assert_eq!(limits(Some(2), Some(5), false).limit(9), 5);
        assert_eq!(limits(None, None, true).limit(4), 5);
        assert_eq!(limits(None, Some(4), true).limit(4), 3);
        assert_eq!(limits(None, None, true).limit(0), 0);
    }
}
