//! What an authority is asked for. A mind holds no key and makes no random
//! number: it says what is to be signed, and the engine adds what was made to
//! the patch of the step.

use crate::object::{Meta, ObjectKey, Resource};
use crate::plan::{Precondition, Step, Subresource};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Display;

/// What is made by an authority of the owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Order {
    /// The authority itself, which is made once: where there is one of its name
    /// already, that one. Adds `certificate`, `fingerprint`, `madeAt`, `notAfter`.
    Authority {
        /// How long it is valid.
        life: SignedDuration,
        /// One of its name that was made before is another one: whoever asks for it wants a new
        /// key.
        since: Option<Timestamp>,
    },
    /// A certificate for the object that the patch is for. Adds `certificate`,
    /// `signedAt`, `notAfter`.
    Certificate {
        /// SHA-256 of the certificate of the authority that is to sign.
        fingerprint: String,
        /// The request (PEM).
        request: String,
        /// DNS names.
        names: Vec<String>,
        /// IP addresses.
        addresses: Vec<String>,
        /// How long it is valid.
        life: SignedDuration,
    },
    /// That its key is kept no longer. Adds nothing.
    Forget {
        /// SHA-256 of the certificate of the authority: another one of its name stays.
        fingerprint: String,
    },
}

/// Where what was made is put: a patch and a JSON pointer into it.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The merge patch of the object.
    pub patch: Value,
    /// Where in it what was made is added.
    pub at: &'static str,
}

impl Step {
    /// Have an authority made, and put on record in the owner's status.
    pub fn make_authority(
        resource: Resource,
        owner: &Meta,
        authority: &str,
        life: SignedDuration,
        doing: impl Display,
    ) -> Self {
        Step::Issue {
            key: ObjectKey::new(resource, &owner.namespace, &owner.name),
            authority: authority.to_string(),
            order: Order::Authority { life, since: None },
            patch: json!({ "status": { "authorities": { authority: {} } } }),
            at: format!("/status/authorities/{authority}"),
            subresource: Subresource::Status,
            precondition: Precondition::Uid(owner.uid.clone()),
            doing: doing.to_string(),
            event: None,
        }
    }

    /// Have the next authority made, with what else is put on record of it, as long as nobody has
    /// written to the owner since it was seen.
    pub fn make_next_authority(
        resource: Resource,
        seen: &Meta,
        authority: &str,
        (order, record): (Order, Value),
        doing: impl Display,
    ) -> Self {
        Step::Issue {
            key: ObjectKey::new(resource, &seen.namespace, &seen.name),
            authority: authority.to_string(),
            order,
            patch: json!({ "status": { "authorities": { authority: record } } }),
            at: format!("/status/authorities/{authority}"),
            subresource: Subresource::Status,
            precondition: Precondition::as_seen(seen),
            doing: doing.to_string(),
            event: None,
        }
    }

    /// Have the key of an authority removed, and then its record, as long as nobody has written to
    /// the owner since it was seen.
    pub fn forget_authority(
        resource: Resource,
        seen: &Meta,
        authority: &str,
        fingerprint: &str,
        doing: impl Display,
    ) -> Self {
        Step::Issue {
            key: ObjectKey::new(resource, &seen.namespace, &seen.name),
            authority: authority.to_string(),
            order: Order::Forget { fingerprint: fingerprint.to_string() },
            patch: json!({ "status": { "authorities": { authority: null } } }),
            at: format!("/status/authorities/{authority}"),
            subresource: Subresource::Status,
            precondition: Precondition::as_seen(seen),
            doing: doing.to_string(),
            event: None,
        }
    }

    /// Have a certificate signed for an object as it was seen.
    pub fn certify(
        resource: Resource,
        seen: &Meta,
        authority: &str,
        order: Order,
        into: Placed,
        doing: impl Display,
    ) -> Self {
        Step::Issue {
            key: ObjectKey::new(resource, &seen.namespace, &seen.name),
            authority: authority.to_string(),
            order,
            patch: into.patch,
            at: into.at.to_string(),
            subresource: Subresource::None,
            precondition: Precondition::as_seen(seen),
            doing: doing.to_string(),
            event: None,
        }
    }
}

/// The patch with what was made. What the patch says already stays.
pub fn filled(patch: &Value, at: &str, made: &Value) -> Value {
    let mut patch = patch.clone();
    if let (Some(Value::Object(place)), Value::Object(made)) = (patch.pointer_mut(at), made) {
        for (field, value) in made {
            place.entry(field.clone()).or_insert_with(|| value.clone());
        }
    }
    patch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_is_added_at_its_place_and_changes_nothing_else() {
        let patch = json!({ "spec": { "tls": { "client": { "request": "r" } } } });
        let made = json!({ "certificate": "c", "request": "another" });
        let filled = filled(&patch, "/spec/tls/client", &made);
        let client = json!({ "request": "r", "certificate": "c" });
        assert_eq!(filled, json!({ "spec": { "tls": { "client": client } } }));
        assert_eq!(super::filled(&patch, "/status", &made), patch);
    }
}
