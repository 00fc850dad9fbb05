//! Values to try templates with before anything is known: of every declared
//! dependency there are some members, and whatever port and attribute is asked
//! for. What fails with these fails always.

use super::variables::{Own, Peer, Variables};
use minijinja::Value;
use minijinja::value::Object;
use palladion_api::staged::{Dependency, Port};
use serde_json::Map;
use std::sync::Arc;

/// Members of each dependency, and pods at the least.
const MEMBERS: i32 = 3;

/// The node of a pod that has none yet.
pub const NODE: &str = "node";

/// A map that has a value for every key: which ports and attributes a service
/// has, it says itself when it is there.
#[derive(Debug)]
struct Anything(Value);

impl Object for Anything {
    fn get_value(self: &Arc<Self>, _key: &Value) -> Option<Value> {
        Some(self.0.clone())
    }
}

/// Variables to try the templates of a service with.
pub fn placeholders(
    component: &str,
    replicas: i32,
    ports: &[Port],
    parameters: &Map<String, serde_json::Value>,
    dependencies: &[Dependency],
) -> Variables {
    let name = |ordinal: i32| format!("{component}-{ordinal}");
    let peer = |ordinal: i32| Peer {
        name: name(ordinal),
        ordinal,
        address: address(ordinal),
        ip: Some(address(ordinal)),
    };
    Variables {
        own: Some(Own {
            name: name(0),
            ordinal: 0,
            address: address(0),
            ip: address(0),
            node: NODE.to_string(),
        }),
        group: None,
        nodes: Some((0..replicas.max(1)).map(peer).collect()),
        ports: ports.iter().map(|p| (p.name.clone(), p.port)).collect(),
        parameters: parameters.clone(),
        component: component.to_string(),
        dependencies: dependencies.iter().map(|d| (d.alias(), dependency(d))).collect(),
    }
}

/// An address that no pod has, in place of one that is not known yet (RFC 5737).
pub fn address(ordinal: i32) -> String {
    format!("192.0.2.{}", ordinal + 1)
}

fn dependency(dependency: &Dependency) -> Value {
    let members = 0..MEMBERS;
    let node = |ordinal: i32| {
        Value::from_pairs([
            ("name", Value::from(format!("{}-{ordinal}", dependency.name))),
            ("address", Value::from(address(ordinal))),
        ])
    };
    Value::from_pairs([
        ("kind", Value::from(dependency.kind.as_str())),
        ("name", Value::from(dependency.name.as_str())),
        ("nodes", members.clone().map(node).collect::<Value>()),
        ("addresses", members.map(address).collect::<Value>()),
        ("ports", Value::from_object(Anything(Value::from(1)))),
        ("attributes", Value::from_object(Anything(Value::from("value")))),
    ])
}
