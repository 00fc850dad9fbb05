//! Creations of objects that are not ours from then on. They are known by their
//! names: one that exists is what was wanted, and is not touched.

use crate::apply::fence::Guard;
use crate::apply::{Applier, Effect, StepError};
use palladion_plan::ObjectKey;
use serde_json::Value;

/// Of a creation: an object of this name exists.
const ALREADY_EXISTS: u16 = 409;

impl Applier<'_> {
    pub(super) async fn create_once(
        &self,
        key: &ObjectKey,
        object: &Value,
        guard: Guard<'_>,
    ) -> Result<Effect, StepError> {
        if self.watches.world().stored(key).is_some() {
            return Ok(Effect::Nothing);
        }
        self.pass(guard).await?;
        let answer = self.api.create(key.resource, &key.namespace, object).await;
        if answer.as_ref().is_err_and(|error| error.code == Some(ALREADY_EXISTS)) {
            self.faults.after_write();
            return Ok(Effect::Nothing);
        }
        self.written(key, None, answer)
    }
}
