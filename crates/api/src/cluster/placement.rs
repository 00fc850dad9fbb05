//! Where pods may run, in Kubernetes' own words.

use k8s_openapi::api::core::v1::{
    Affinity, NodeAffinity, NodeSelectorRequirement, NodeSelectorTerm, PodAffinity,
    PodAntiAffinity, Toleration, TopologySpreadConstraint,
};
use serde::{Deserialize, Serialize};

/// Where the members of a rack may run.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Placement {
    /// Node affinity, passed to the pods unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_affinity: Option<NodeAffinity>,
    /// Pod affinity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_affinity: Option<PodAffinity>,
    /// Pod anti-affinity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_anti_affinity: Option<PodAntiAffinity>,
    /// Tolerations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<Toleration>,
    /// Topology spread constraints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topology_spread_constraints: Vec<TopologySpreadConstraint>,
}

impl Placement {
    /// Nodes whose label has this value alone, beside what is asked for already.
    pub fn pin(&mut self, label: &str, value: &str) {
        let affinity = self.node_affinity.get_or_insert_default();
        let required =
            affinity.required_during_scheduling_ignored_during_execution.get_or_insert_default();
        let terms = &mut required.node_selector_terms;
        // One of the terms must match: each has to name the value.
        if terms.is_empty() {
            terms.push(NodeSelectorTerm::default());
        }
        for term in terms {
            term.match_expressions.get_or_insert_default().push(NodeSelectorRequirement {
                key: label.to_string(),
                operator: "In".to_string(),
                values: Some(vec![value.to_string()]),
            });
        }
    }

    /// The affinity of the pod template.
    pub fn affinity(&self) -> Affinity {
        Affinity {
            node_affinity: self.node_affinity.clone(),
            pod_affinity: self.pod_affinity.clone(),
            pod_anti_affinity: self.pod_anti_affinity.clone(),
        }
    }
}
