//! The datacenter of a ring: its racks, named one by one or one for each zone.

use super::{Placement, Storage};
use crate::ids::RackName;
use crate::rules::cluster as rules;
use crate::zoned_stateful_set::DEFAULT_ZONE_LABEL;
use k8s_openapi::api::core::v1::ResourceRequirements;
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The keyspaces whose replication Cassandra leaves to the user, and the operators keep. All others
/// that have copies in a datacenter are those of clients.
pub const KEPT_KEYSPACES: [&str; 3] = ["system_auth", "system_distributed", "system_traces"];

/// A datacenter.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(
    validation = rules::datacenter_name_is_fixed(),
    validation = rules::racks_or_zones(),
    validation = rules::zones_have_a_template(),
    validation = rules::zones_become_racks_of_their_names(),
    validation = rules::rack_names_are_unique(),
    validation = rules::rack_names_stay_apart_in_dns(),
    validation = rules::has_a_member(),
    validation = rules::removed_racks_are_empty()
)]
#[serde(rename_all = "camelCase")]
pub struct Datacenter {
    /// Name of the datacenter in the ring. Immutable.
    #[x_kube(validation = rules::name_has_known_characters())]
    #[schemars(length(min = 1, max = 48))]
    pub name: String,
    /// The racks; each has a StatefulSet. At most 24. Only a rack with `members: 0` can be removed. Default: those of `zones`.
    #[serde(default)]
    #[schemars(length(max = 24))]
    pub racks: Vec<Rack>,
    /// Zones instead of racks: each becomes a rack of its name, made from `rackTemplate`, whose members run on nodes of that zone only. The members of a zone that is removed leave the ring one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "zones")]
    #[x_kube(validation = rules::zones_are_unique())]
    pub zones: Vec<RackName>,
    /// The node label whose value is a node's zone. Default `topology.kubernetes.io/zone`. Only with `zones`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 317))]
    pub zone_node_label: Option<String>,
    /// The rack of each zone. Only with `zones`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rack_template: Option<RackTemplate>,
    /// The datacenter leaves its ring, which has others: its members take no clients any more, are repaired, and leave one after the other once no keyspace but the three that the operator keeps names the datacenter. As long as a keyspace does, nobody leaves. `members` of the racks stay as they are. Default false. Not for Scylla.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leave: bool,
}

fn zones(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "array",
        "maxItems": 24,
        "items": {
            "type": "string",
            "minLength": 1,
            "maxLength": 48,
            "pattern": "^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$"
        }
    })
}

impl Datacenter {
    /// With a rack in the place of each zone. What does not go together stays as
    /// it is, for whoever refuses it.
    #[must_use]
    pub fn expanded(mut self) -> Self {
        let Some(template) = self.rack_template.take_if(|_| self.racks.is_empty()) else {
            return self;
        };
        let label = self.zone_node_label.take();
        let label = label.as_deref().unwrap_or(DEFAULT_ZONE_LABEL);
        self.racks = self.zones.drain(..).map(|zone| template.in_zone(&zone, label)).collect();
        self
    }

    /// Is there anything of zones that [`Datacenter::expanded`] has left?
    pub fn has_zones(&self) -> bool {
        !self.zones.is_empty() || self.zone_node_label.is_some() || self.rack_template.is_some()
    }
}

/// A rack: one StatefulSet `<cluster>-<datacenter>-<rack>`.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct Rack {
    /// Name of the rack in the ring.
    #[x_kube(validation = rules::name_has_known_characters())]
    #[schemars(length(min = 1, max = 48))]
    pub name: RackName,
    /// Number of members in the rack.
    #[x_kube(validation = rules::members_are_not_negative())]
    #[schemars(range(max = 1000))]
    pub members: i32,
    /// A new value restarts every member of this rack once, one at a time, drained first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128))]
    pub restart_token: Option<String>,
    /// Volumes of each member. Default: one PersistentVolumeClaim `data` of 10Gi in the default storage class.
    #[serde(default)]
    pub storage: Storage,
    /// Resources of the server's container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceRequirements>,
    /// Where the members may run. Default: members prefer different nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// ConfigMap with the keys `cassandra.yaml` (merged over `spec.config`; `scylla.yaml` in mode `scylla`) and `jvm-server.options` (lines added to `spec.jvmOptions`). A change of its data starts a rollout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub config_map_name: Option<String>,
    /// ConfigMap with the key `jmx_exporter_config.yaml`. Adds the Prometheus JMX exporter on port 9180. Not for Scylla.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub jmx_exporter_config_map_name: Option<String>,
    /// Annotations for the StatefulSet and pods of this rack. They override the annotations of the cluster.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[x_kube(validation = rules::annotations_are_not_reserved())]
    #[schemars(extend("maxProperties" = 64))]
    pub annotations: BTreeMap<String, String>,
}

/// What the racks of all zones have in common.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct RackTemplate {
    /// Number of members in each zone.
    #[x_kube(validation = rules::members_are_not_negative())]
    #[schemars(range(max = 1000))]
    pub members: i32,
    /// A new value restarts every member once, one at a time, drained first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128))]
    pub restart_token: Option<String>,
    /// Volumes of each member. Default: one PersistentVolumeClaim `data` of 10Gi in the default storage class.
    #[serde(default)]
    pub storage: Storage,
    /// Resources of the server's container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceRequirements>,
    /// Where the members may run, within their zone. Default: members prefer different nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// ConfigMap with the keys `cassandra.yaml` (merged over `spec.config`; `scylla.yaml` in mode `scylla`) and `jvm-server.options` (lines added to `spec.jvmOptions`). A change of its data starts a rollout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub config_map_name: Option<String>,
    /// ConfigMap with the key `jmx_exporter_config.yaml`. Adds the Prometheus JMX exporter on port 9180. Not for Scylla.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub jmx_exporter_config_map_name: Option<String>,
    /// Annotations for the StatefulSet and pods of these racks. They override the annotations of the cluster.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[x_kube(validation = rules::annotations_are_not_reserved())]
    #[schemars(extend("maxProperties" = 64))]
    pub annotations: BTreeMap<String, String>,
}

impl RackTemplate {
    fn in_zone(&self, zone: &RackName, label: &str) -> Rack {
        let mut placement = self.placement.clone().unwrap_or_default();
        placement.pin(label, zone.as_str());
        Rack {
            name: zone.clone(),
            members: self.members,
            restart_token: self.restart_token.clone(),
            storage: self.storage.clone(),
            resources: self.resources.clone(),
            placement: Some(placement),
            config_map_name: self.config_map_name.clone(),
            jmx_exporter_config_map_name: self.jmx_exporter_config_map_name.clone(),
            annotations: self.annotations.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_zone_is_a_rack_whose_terms_all_name_it() {
        let term =
            |key: &str| json!({ "matchExpressions": [{ "key": key, "operator": "Exists" }] });
        let required = json!({ "nodeSelectorTerms": [term("ssd"), term("nvme")] });
        let datacenter: Datacenter = serde_json::from_value(json!({
            "name": "dc1", "zones": ["z1", "z2"], "zoneNodeLabel": "example.com/hall",
            "rackTemplate": { "members": 2, "placement": { "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": required } } },
        }))
        .expect("it should be there");
        let expanded = datacenter.expanded();
        assert!(!expanded.has_zones());
        let racks = expanded.racks;
        let names: Vec<&str> = racks.iter().map(|r| r.name.as_str()).collect();
        assert_eq!((names, racks[0].members), (vec!["z1", "z2"], 2));
        let affinity =
            serde_json::to_value(racks[1].placement.as_ref().expect("it should be there"))
                .expect("it should be there");
        let terms = &affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
        let zone = json!({ "key": "example.com/hall", "operator": "In", "values": ["z2"] });
        for (term, own) in terms.as_array().expect("it should be there").iter().zip(["ssd", "nvme"])
        {
            assert_eq!(term["matchExpressions"][0]["key"], own);
            assert_eq!(term["matchExpressions"][1], zone);
        }
    }
}
