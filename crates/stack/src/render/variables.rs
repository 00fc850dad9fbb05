//! What a template sees.

use minijinja::Value;
use minijinja::value::Serde;
use palladion_api::service::ServiceStatus;
use palladion_api::staged::DependencyKind;
use serde::Serialize;
use serde_json::Map;
use std::collections::BTreeMap;

/// The pod that the text is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Own {
    /// Its name.
    pub name: String,
    /// The number at the end of its name.
    pub ordinal: i32,
    /// The address by which others reach it.
    pub address: String,
    /// Its own address, which changes when it is recreated.
    pub ip: String,
    /// Its node.
    pub node: String,
}

/// A pod of the same service. Its own address is among it only where others
/// reach it by that: else each restart would change the texts of all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Peer {
    /// Its name.
    pub name: String,
    /// The number at the end of its name.
    pub ordinal: i32,
    /// The address by which others reach it.
    pub address: String,
    /// Its own address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip: Option<String>,
}

/// What only groups of node agents have.
#[derive(Clone, Debug, PartialEq)]
pub struct OfGroup {
    /// Their gateway.
    pub gateway: Option<String>,
    /// Their profiles, merged.
    pub profile: serde_json::Value,
}

/// Everything that a template sees.
#[derive(Clone, Debug)]
pub struct Variables {
    /// The pod that the text is for; `None` = the text is for all pods.
    pub own: Option<Own>,
    /// All pods of the service; `None` = there may be any number.
    pub nodes: Option<Vec<Peer>>,
    /// What only groups of node agents have.
    pub group: Option<OfGroup>,
    /// Its ports.
    pub ports: BTreeMap<String, i32>,
    /// Its parameters.
    pub parameters: Map<String, serde_json::Value>,
    /// Its name.
    pub component: String,
    /// Its dependencies, by alias.
    pub dependencies: BTreeMap<String, Value>,
}

impl Variables {
    /// As the template engine has it.
    pub(super) fn value(&self) -> Value {
        let mut all = vec![
            ("ports", Value::from(Serde(&self.ports))),
            ("parameters", Value::from(Serde(&self.parameters))),
            ("component", Value::from(self.component.as_str())),
            ("dependencies", Value::from_pairs(self.dependencies.clone())),
        ];
        // What is not there must be an error, and not nothing.
        all.extend(self.own.iter().map(|own| ("self", Value::from(Serde(own)))));
        all.extend(self.nodes.iter().map(|nodes| ("nodes", Value::from(Serde(nodes)))));
        if let Some(group) = &self.group {
            all.push(("profile", Value::from(Serde(&group.profile))));
            all.extend(group.gateway.iter().map(|way| ("gateway", Value::from(way.as_str()))));
        }
        Value::from_pairs(all)
    }
}

/// What a template sees of a dependency.
pub fn dependency(kind: DependencyKind, name: &str, service: &ServiceStatus) -> Value {
    let addresses: Vec<&str> = service.nodes.iter().map(|n| n.address.as_str()).collect();
    Value::from_pairs([
        ("kind", Value::from(kind.as_str())),
        ("name", Value::from(name)),
        ("nodes", Value::from(Serde(&service.nodes))),
        ("addresses", Value::from(Serde(addresses))),
        ("ports", Value::from(Serde(&service.ports))),
        ("attributes", Value::from(Serde(&service.attributes))),
    ])
}
