//! What a template sees.

use minijinja::Value;
use minijinja::value::Serde;
use palladion_api::service::Service;
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

/// Everything that a template sees.
#[derive(Clone, Debug)]
pub struct Variables {
    /// The pod that the text is for.
    pub own: Own,
    /// All pods of the service.
    pub nodes: Vec<Peer>,
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
        let of = |name: &'static str, value: Value| (name, value);
        Value::from_pairs([
            of("self", Value::from(Serde(&self.own))),
            of("nodes", Value::from(Serde(&self.nodes))),
            of("ports", Value::from(Serde(&self.ports))),
            of("parameters", Value::from(Serde(&self.parameters))),
            of("component", Value::from(self.component.as_str())),
            of("dependencies", Value::from_pairs(self.dependencies.clone())),
        ])
    }
}

/// What a template sees of a dependency.
pub fn dependency(kind: DependencyKind, name: &str, service: &Service) -> Value {
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
