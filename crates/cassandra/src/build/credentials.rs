//! The Secrets with the users of a new ring, which asks for passwords.

use super::common::cluster_labels;
use crate::resources::SECRET;
use crate::validate::Valid;
use palladion_plan::{Generated, ObjectKey};
use serde_json::{Value, json};

/// The user of the agents, a superuser.
pub const AGENTS_USER: &str = "palladion";
/// The superuser of people.
pub const PEOPLES_USER: &str = "admin";
/// Digits of a password.
const DIGITS: usize = 40;

/// A Secret without its password, which nobody may know. It has no owner: with the cluster
/// object it would go, and a ring that is recreated around its volumes has these roles.
pub fn credentials(valid: &Valid, name: &str, user: &str) -> (ObjectKey, Value) {
    let object = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": name,
            "namespace": valid.namespace,
            "labels": cluster_labels(valid),
        },
        "type": "kubernetes.io/basic-auth",
        "stringData": { "username": user },
    });
    (ObjectKey::new(SECRET, &valid.namespace, name), object)
}

/// The password.
pub fn generated() -> Vec<Generated> {
    vec![Generated { at: "/stringData".into(), key: "password".into(), digits: DIGITS }]
}
