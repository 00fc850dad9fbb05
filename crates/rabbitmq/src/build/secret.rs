//! The Secret with the credentials of a cluster: generated once, before the first start.

use crate::resources::SECRET;
use crate::validate::Valid;
use palladion_api::rabbitmq::{AGENT_PASSWORD_KEY, COOKIE_KEY, PASSWORD_KEY, USERNAME_KEY};
use palladion_plan::members::build;
use palladion_plan::{Generated, ObjectKey};
use serde_json::{Value, json};

/// The name of the user who may do everything in the virtual host.
const USERNAME: &str = "default_user";
/// Digits of the Erlang cookie. Whoever has it rules the nodes.
const COOKIE_DIGITS: usize = 64;
/// Digits of a password.
const PASSWORD_DIGITS: usize = 40;

/// The Secret without the values that nobody may know. It has no owner: with the cluster
/// object it would go, and a cluster that is recreated around its volumes needs it.
pub fn credentials(valid: &Valid) -> (ObjectKey, Value) {
    let mut metadata = build::metadata(valid, &valid.secret, &build::cluster_labels(valid));
    if let Some(metadata) = metadata.as_object_mut() {
        metadata.remove("ownerReferences");
    }
    let object = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata,
        "type": "Opaque",
        "stringData": { USERNAME_KEY: USERNAME },
    });
    (ObjectKey::new(SECRET, &valid.namespace, &valid.secret), object)
}

/// Those values.
pub fn generated() -> Vec<Generated> {
    let value = |key: &str, digits| Generated {
        at: "/stringData".to_string(),
        key: key.to_string(),
        digits,
    };
    vec![
        value(COOKIE_KEY, COOKIE_DIGITS),
        value(AGENT_PASSWORD_KEY, PASSWORD_DIGITS),
        value(PASSWORD_KEY, PASSWORD_DIGITS),
    ]
}
