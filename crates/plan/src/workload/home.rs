//! Where a claim's volume is: in a machine that is there, in one that is gone,
//! or anywhere. A local volume is gone with its Node; one on the network is not.

use crate::object::Object;
use serde_json::{Value, json};
use std::sync::Arc;

/// Set by the scheduler on claims that wait for their first pod.
const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
const HOSTNAME: &str = "kubernetes.io/hostname";

/// What minds keep of a PersistentVolume: is it in a machine, and in which?
pub fn project(object: &Value) -> Value {
    let spec = &object["spec"];
    json!({
        "isLocal": spec["local"].is_object() || spec["hostPath"].is_object(),
        "terms": spec["nodeAffinity"]["required"]["nodeSelectorTerms"],
    })
}

/// What minds keep of a Node, besides its labels: is it ready? One function for all of
/// them, so that the process keeps each Node once.
pub fn project_node(object: &Value) -> Value {
    let conditions = object["status"]["conditions"].as_array();
    let ready = conditions.and_then(|all| all.iter().find(|c| c["type"] == "Ready"));
    json!({ "ready": ready.map_or(&Value::Null, |c| &c["status"]) })
}

/// Where a volume is.
#[derive(Debug, PartialEq, Eq)]
pub enum Home {
    /// Not known, on the network, or in a machine whose Node exists.
    NotGone,
    /// In a machine whose Node object does not exist.
    Gone {
        /// Name of that Node.
        node: String,
    },
}

/// Where is the volume of this claim? What is not known is never gone. `nodes` are all
/// Nodes with their labels; `volumes` and the claim are kept by the projections of this
/// module and of [`super::claims`].
pub fn home(nodes: &[Arc<Object>], volumes: &[Arc<Object>], claim: &Object) -> Home {
    let volume = volume(volumes, claim);
    let Some(volume) = volume.filter(|v| v.at("/isLocal") == Some(&Value::Bool(true))) else {
        return Home::NotGone;
    };
    let Some(terms) = volume.at("/terms").and_then(Value::as_array) else {
        return Home::NotGone;
    };
    // An empty list of Nodes is no list: somebody could not read it.
    if nodes.is_empty() || fits_any(nodes, terms) {
        return Home::NotGone;
    }
    let selected = claim.meta.annotations.get(SELECTED_NODE).cloned();
    match selected.or_else(|| terms.iter().find_map(hostname)) {
        Some(node) => Home::Gone { node },
        None => Home::NotGone,
    }
}

/// Is the volume of this claim known to be in a machine whose Node exists?
pub fn is_there(nodes: &[Arc<Object>], volumes: &[Arc<Object>], claim: &Object) -> bool {
    let terms = volume(volumes, claim).and_then(|v| v.at("/terms")).and_then(Value::as_array);
    terms.is_some_and(|terms| fits_any(nodes, terms))
}

fn volume<'a>(volumes: &'a [Arc<Object>], claim: &Object) -> Option<&'a Arc<Object>> {
    let name = claim.str_at("/volume").unwrap_or_default();
    volumes.iter().find(|v| v.meta.name == name)
}

fn fits_any(nodes: &[Arc<Object>], terms: &[Value]) -> bool {
    terms.iter().any(|term| nodes.iter().any(|node| fits(node, term)))
}

fn hostname(term: &Value) -> Option<String> {
    let expressions = term["matchExpressions"].as_array()?;
    let named = expressions.iter().find(|e| e["key"] == HOSTNAME)?;
    named["values"][0].as_str().map(str::to_string)
}

/// Does a Node fit a term? An operator that is not understood fits: then
/// nothing is called gone.
fn fits(node: &Object, term: &Value) -> bool {
    let all = |key: &str, value_of: &dyn Fn(&str) -> Option<String>| {
        let list = term[key].as_array();
        list.into_iter().flatten().all(|e| {
            let value = value_of(e["key"].as_str().unwrap_or_default());
            let listed = || {
                let mut values = e["values"].as_array().into_iter().flatten();
                value.is_some() && values.any(|v| v.as_str() == value.as_deref())
            };
            match e["operator"].as_str().unwrap_or_default() {
                "In" => listed(),
                "NotIn" => !listed(),
                "Exists" => value.is_some(),
                "DoesNotExist" => value.is_none(),
                _ => true,
            }
        })
    };
    all("matchExpressions", &|key| node.meta.labels.get(key).cloned())
        && all("matchFields", &|_| Some(node.meta.name.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Meta;
    use serde_json::json;

    fn node(name: &str) -> Object {
        let meta = Meta {
            name: name.into(),
            labels: [(HOSTNAME.to_string(), name.to_string())].into(),
            ..Meta::default()
        };
        Object { meta, body: Value::Null }
    }

    #[test]
    fn a_node_fits_by_label_by_name_and_where_the_operator_is_not_understood() {
        let by_label = |operator: &str| json!({ "matchExpressions": [{ "key": HOSTNAME, "operator": operator, "values": ["n1"] }] });
        let by_name = json!({ "matchFields": [{ "key": "metadata.name", "operator": "In", "values": ["n1"] }] });
        assert!(fits(&node("n1"), &by_label("In")) && !fits(&node("n2"), &by_label("In")));
        assert!(!fits(&node("n1"), &by_label("NotIn")) && fits(&node("n2"), &by_label("NotIn")));
        assert!(fits(&node("n2"), &by_label("Gt")));
        assert!(fits(&node("n1"), &by_name) && !fits(&node("n2"), &by_name));
    }
}
