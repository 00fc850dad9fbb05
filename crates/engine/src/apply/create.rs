//! Creations of objects that are not ours from then on. They are known by their
//! names: one that exists is what was wanted, and is not touched.

use crate::apply::fence::Guard;
use crate::apply::{Applier, Effect, StepError};
use palladion_plan::{Generated, ObjectKey};
use serde_json::Value;

/// Of a creation: an object of this name exists.
const ALREADY_EXISTS: u16 = 409;

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
        if answer.as_ref().is_err_and(|error| error.code == Some(ALREADY_EXISTS)) {
            self.faults.after_write();
            return Ok(Effect::Nothing);
        }
        self.written(key, None, answer)
    }
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
