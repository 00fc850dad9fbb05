//! The object of one service of a Stack: its spec as it stands in the Stack, and
//! what all services have in common, where its kind has a place for that.

use crate::owner::Owner;
use crate::resources;
use palladion_api::stack::{CREATED_BY, Common, STACK, StackKind, StackService};
use serde_json::{Map, Value, json};

/// Was the object created by this Stack, or will it be?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It goes with the Stack, if that is the Stack's policy.
    Created {
        /// It is.
        with_stack: bool,
    },
    /// It was there before.
    Found,
}

/// The object.
pub fn child(owner: Owner<'_>, service: &StackService, common: &Common, origin: Origin) -> Value {
    let resource = resources::of_stack(service.kind);
    let mut metadata = json!({
        "name": service.name,
        "namespace": owner.namespace,
        "labels": { STACK: owner.name },
    });
    if let Origin::Created { with_stack } = origin {
        metadata["annotations"] = json!({ CREATED_BY: owner.uid });
        if with_stack {
            // Not the controller: the service has a mind of its own.
            metadata["ownerReferences"] = json!([{
                "apiVersion": owner.resource.api_version(),
                "kind": owner.resource.kind,
                "name": owner.name,
                "uid": owner.uid,
            }]);
        }
    }
    let mut spec = service.spec.clone();
    if !spec.is_object() {
        spec = Value::Object(Map::new());
    }
    share(&mut spec, service.kind, common);
    json!({
        "apiVersion": resource.api_version(),
        "kind": resource.kind,
        "metadata": metadata,
        "spec": spec,
    })
}

/// What all services have in common; what one says itself counts more.
fn share(spec: &mut Value, kind: StackKind, common: &Common) {
    let number = match kind {
        StackKind::ZookeeperCluster => Some("servers"),
        StackKind::RabbitmqCluster => Some("nodes"),
        StackKind::Component => Some("replicas"),
        StackKind::CassandraCluster
        | StackKind::Registration
        | StackKind::NodeAgentProfile
        | StackKind::NodeAgentGroup => None,
    };
    if let (Some(field), Some(replicas)) = (number, common.replicas) {
        give(spec, &[field], json!(replicas));
    }
    let secrets = json!(common.image_pull_secrets);
    match kind {
        StackKind::ZookeeperCluster | StackKind::RabbitmqCluster => {
            give_list(spec, &["imagePullSecrets"], secrets);
            place(spec, common);
        }
        StackKind::CassandraCluster => {
            give_list(spec, &["imagePullSecrets"], secrets);
            let datacenter = spec.get_mut("datacenter").and_then(Value::as_object_mut);
            for (field, racks) in datacenter.into_iter().flatten() {
                match (field.as_str(), racks) {
                    ("racks", Value::Array(racks)) => {
                        racks.iter_mut().for_each(|rack| place(rack, common));
                    }
                    ("rackTemplate", template) => place(template, common),
                    _ => {}
                }
            }
        }
        StackKind::Component | StackKind::NodeAgentGroup => {
            if common.host_network {
                give(spec, &["network", "addresses"], json!("HostNetwork"));
            }
            let of_pod = |field| ["template", "spec", field];
            give_list(spec, &of_pod("imagePullSecrets"), secrets);
            give_list(spec, &of_pod("tolerations"), json!(common.tolerations));
            if kind == StackKind::Component && !common.node_selector.is_empty() {
                give(spec, &of_pod("nodeSelector"), json!(common.node_selector));
            }
        }
        StackKind::Registration | StackKind::NodeAgentProfile => {}
    }
}

/// The `placement` of what has one: nodes by their labels are an affinity there.
fn place(object: &mut Value, common: &Common) {
    give_list(object, &["placement", "tolerations"], json!(common.tolerations));
    if common.node_selector.is_empty() {
        return;
    }
    let labels = common.node_selector.iter();
    let all: Vec<Value> = labels
        .map(|(key, value)| json!({ "key": key, "operator": "In", "values": [value] }))
        .collect();
    let terms = json!([{ "matchExpressions": all }]);
    let required =
        json!({ "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": terms } });
    give(object, &["placement", "nodeAffinity"], required);
}

fn give_list(object: &mut Value, path: &[&str], list: Value) {
    if list.as_array().is_some_and(|list| !list.is_empty()) {
        give(object, path, list);
    }
}

/// Give a value to a field that has none. What on the way to it is of another shape is for
/// the kind's own rules to refuse.
fn give(object: &mut Value, path: &[&str], value: Value) {
    let mut at = object;
    for field in path {
        if at.is_null() {
            *at = Value::Object(Map::new());
        }
        let Some(map) = at.as_object_mut() else {
            return;
        };
        at = map.entry(*field).or_insert(Value::Null);
    }
    if at.is_null() {
        *at = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(kind: StackKind, spec: Value) -> Value {
        let common = json!({
            "replicas": 3, "hostNetwork": true, "imagePullSecrets": [{ "name": "mirror" }],
            "nodeSelector": { "a": "b" }, "tolerations": [{ "operator": "Exists" }],
        });
        let common: Common = serde_json::from_value(common).expect("is what is common");
        let mut spec = spec;
        share(&mut spec, kind, &common);
        spec
    }

    #[test]
    fn each_kind_gets_what_it_has_a_place_for() {
        let mirror = json!([{ "name": "mirror" }]);
        let placement = of_the_nodes();
        assert_eq!(
            shared(StackKind::ZookeeperCluster, json!({})),
            json!({ "servers": 3, "imagePullSecrets": mirror, "placement": placement })
        );
        let rabbit = shared(StackKind::RabbitmqCluster, json!({}));
        let wanted = json!({ "nodes": 3, "imagePullSecrets": mirror, "placement": placement });
        assert_eq!(rabbit, wanted);
        assert_eq!(shared(StackKind::Registration, json!({ "x": 1 })), json!({ "x": 1 }));
        let component = shared(StackKind::Component, json!({}));
        assert_eq!(component["network"]["addresses"], "HostNetwork");
        assert_eq!(component["template"]["spec"]["nodeSelector"], json!({ "a": "b" }));
        assert_eq!(component["template"]["spec"]["tolerations"][0]["operator"], "Exists");
        let group = shared(StackKind::NodeAgentGroup, json!({}));
        assert!(group["template"]["spec"].get("nodeSelector").is_none(), "its nodes are its own");
    }

    /// Nodes with this label, as an affinity says it.
    fn of_the_nodes() -> Value {
        let term =
            json!({ "matchExpressions": [{ "key": "a", "operator": "In", "values": ["b"] }] });
        let terms = json!({ "nodeSelectorTerms": [term] });
        json!({
            "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": terms },
            "tolerations": [{ "operator": "Exists" }],
        })
    }

    #[test]
    fn clusters_have_their_nodes_in_their_placement() {
        let ring = |datacenter| {
            shared(StackKind::CassandraCluster, json!({ "datacenter": datacenter }))["datacenter"]
                .clone()
        };
        let own = json!({ "tolerations": [{ "key": "x" }] });
        let racks = ring(json!({ "racks": [{ "name": "a" }, { "name": "b", "placement": own }] }));
        assert_eq!(racks["racks"][0]["placement"], of_the_nodes());
        let of_b = &racks["racks"][1]["placement"];
        assert_eq!(of_b["tolerations"], own["tolerations"], "its own count more");
        assert_eq!(of_b["nodeAffinity"], of_the_nodes()["nodeAffinity"]);
        assert!(racks.get("rackTemplate").is_none());
        let zones = ring(json!({ "zones": ["x"], "rackTemplate": { "members": 1 } }));
        assert_eq!(zones["rackTemplate"]["placement"], of_the_nodes());
        // What is none of its kind is its own to refuse.
        assert_eq!(ring(json!({ "racks": 3 })), json!({ "racks": 3 }));
    }

    /// One that panics here would hold up all services of its Stack, and leave owner
    /// references that a policy has taken back.
    #[test]
    fn what_is_of_another_shape_is_left_for_its_kind_to_refuse() {
        let shapes = [json!([]), json!([{ "spec": {} }]), json!("x"), json!(3), json!(true)];
        for kind in crate::resources::KINDS {
            for shape in &shapes {
                for field in [
                    "template",
                    "network",
                    "placement",
                    "datacenter",
                    "servers",
                    "imagePullSecrets",
                ] {
                    let spec = shared(kind, json!({ field: shape }));
                    assert_eq!(&spec[field], shape, "{field} of {kind:?}");
                }
                let of_pod = shared(kind, json!({ "template": { "spec": shape } }));
                assert_eq!(&of_pod["template"]["spec"], shape);
                let rack = json!({ "datacenter": { "racks": [shape], "rackTemplate": shape } });
                assert_eq!(shared(kind, rack.clone())["datacenter"], rack["datacenter"]);
            }
        }
    }

    #[test]
    fn what_a_service_says_itself_counts_more() {
        let own = json!({ "replicas": 1, "network": { "addresses": "PodIP" } });
        let spec = shared(StackKind::Component, own);
        assert_eq!(
            (&spec["replicas"], &spec["network"]["addresses"]),
            (&json!(1), &json!("PodIP"))
        );
        let nothing = Common::default();
        let mut spec = json!({});
        share(&mut spec, StackKind::ZookeeperCluster, &nothing);
        assert_eq!(spec, json!({}));
    }
}
