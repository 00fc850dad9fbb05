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
        give(spec, field, json!(replicas));
    }
    let secrets = json!(common.image_pull_secrets);
    match kind {
        StackKind::CassandraCluster | StackKind::ZookeeperCluster | StackKind::RabbitmqCluster => {
            give_list(spec, "imagePullSecrets", secrets);
        }
        StackKind::Component | StackKind::NodeAgentGroup => {
            if common.host_network {
                give(&mut spec["network"], "addresses", json!("HostNetwork"));
            }
            let pod = &mut spec["template"]["spec"];
            give_list(pod, "imagePullSecrets", secrets);
            give_list(pod, "tolerations", json!(common.tolerations));
            if kind == StackKind::Component && !common.node_selector.is_empty() {
                give(pod, "nodeSelector", json!(common.node_selector));
            }
        }
        StackKind::Registration | StackKind::NodeAgentProfile => {}
    }
}

fn give_list(object: &mut Value, field: &str, list: Value) {
    if list.as_array().is_some_and(|list| !list.is_empty()) {
        give(object, field, list);
    }
}

fn give(object: &mut Value, field: &str, value: Value) {
    if object[field].is_null() {
        object[field] = value;
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
        assert_eq!(
            shared(StackKind::ZookeeperCluster, json!({})),
            json!({ "servers": 3, "imagePullSecrets": mirror })
        );
        let rabbit = shared(StackKind::RabbitmqCluster, json!({}));
        assert_eq!(rabbit, json!({ "nodes": 3, "imagePullSecrets": mirror }));
        assert_eq!(shared(StackKind::Registration, json!({ "x": 1 })), json!({ "x": 1 }));
        let component = shared(StackKind::Component, json!({}));
        assert_eq!(component["network"]["addresses"], "HostNetwork");
        assert_eq!(component["template"]["spec"]["nodeSelector"], json!({ "a": "b" }));
        assert_eq!(component["template"]["spec"]["tolerations"][0]["operator"], "Exists");
        let group = shared(StackKind::NodeAgentGroup, json!({}));
        assert!(group["template"]["spec"].get("nodeSelector").is_none(), "its nodes are its own");
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
