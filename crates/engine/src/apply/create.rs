//! Creations of objects that are not ours from then on. They are known by their
//! names: one that exists is what was wanted, and is not touched.

use crate::apply::fence::Guard;
use crate::apply::{Applier, Effect, StepError};
use crate::error::ApiError;
use palladion_plan::{Generated, ObjectKey};
use serde_json::Value;

/// Of a creation: an object of this name exists, as Kubernetes' own code names it.
const CONFLICT: u16 = 409;
const ALREADY_EXISTS: &str = "AlreadyExists";
/// What the API server says of one that has a deletion timestamp.
const BEING_DELETED: &str = "object is being deleted";

impl Applier<'_> {
    pub(super) async fn create_once(
        &self,
        key: &ObjectKey,
        (object, generated): (&Value, &[Generated]),
        guard: Guard<'_>,
    ) -> Result<Effect, StepError> {
        if self.watches.world().stored(key).is_some() {
            return Ok(Effect::Nothing);
        }
        self.pass(guard).await?;
        let object = Generated::filled(object, generated, random_digits);
        let answer = self.api.create(key.resource, &key.namespace, &object).await;
        if answer.as_ref().is_err_and(exists) {
            self.faults.after_write();
            return Ok(Effect::Nothing);
        }
        self.written(key, None, answer)
    }
}

/// Quotas that are asked too often, and a namesake that is being deleted, are answered with the
/// same code, and then there is no object in the end.
fn exists(error: &ApiError) -> bool {
    error.code == Some(CONFLICT)
        && error.reason == ALREADY_EXISTS
        && !error.message.contains(BEING_DELETED)
}

/// So many hexadecimal digits that nobody can guess, from the randomness of the operating
/// system. They go into the request and nowhere else.
fn random_digits(digits: usize) -> String {
    let mut text = String::new();
    while text.len() < digits {
        text.push_str(&uuid::Uuid::new_v4().simple().to_string());
    }
    text.truncate(digits);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn random_values_are_as_long_as_asked_for_and_never_the_same() {
        let at = "/stringData".to_string();
        let value = |key: &str, digits| Generated { at: at.clone(), key: key.into(), digits };
        let all = [value("cookie", 64), value("password", 40)];
        let made = || {
            Generated::filled(&json!({ "stringData": { "username": "u" } }), &all, random_digits)
        };
        let (first, second) = (made(), made());
        for (key, digits) in [("cookie", 64), ("password", 40)] {
            let text = first["stringData"][key].as_str().unwrap_or_default();
            assert_eq!(text.len(), digits);
            assert!(text.bytes().all(|b| b.is_ascii_hexdigit()));
            assert_ne!(first["stringData"][key], second["stringData"][key]);
        }
        assert_ne!(first["stringData"]["cookie"], first["stringData"]["password"]);
        assert_eq!(first["stringData"]["username"], json!("u"));
    }
}
