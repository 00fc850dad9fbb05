//! Merge patches of objects that are not wholly ours.

use crate::apply::fence::{Guard, meets};
use crate::apply::{Applier, Effect, StepError};
use crate::words::NotDone;
use palladion_plan::{FailureClass, Keep, ObjectKey, Precondition, Subresource};
use serde_json::{Value, json};

impl Applier<'_> {
    pub(super) async fn patch(
        &self,
        key: &ObjectKey,
        patch: &Value,
        subresource: Subresource,
        precondition: &Precondition,
        guard: Guard<'_>,
    ) -> Result<Effect, StepError> {
        let stored = self.watches.world().stored(key);
        let version = stored.as_ref().map(|(record, _)| record.version.to_string());
        if let Some((record, keep)) = &stored {
            meets(precondition, &record.uid, &record.version)?;
            if says(&record.value(), patch, *keep) {
                return Ok(Effect::Nothing);
            }
        }
        let mut body = pinned(patch, precondition)?;
        if subresource == Subresource::Status && body["metadata"]["resourceVersion"].is_null() {
            // The status subresource ignores a uid, so the version has to do.
            body["metadata"]["resourceVersion"] =
                json!(self.version_of(key, precondition, &version).await?);
        }
        self.pass(guard).await?;
        let answer = self.api.merge(key, subresource, &body).await;
        self.written(key, version.as_deref(), answer)
    }
}

impl Applier<'_> {
    /// The version of the object that meets the precondition.
    async fn version_of(
        &self,
        key: &ObjectKey,
        precondition: &Precondition,
        stored: &Option<String>,
    ) -> Result<String, StepError> {
        if let Some(version) = stored {
            return Ok(version.clone());
        }
        let live = self.api.get(key).await?;
        let live = live.ok_or_else(|| StepError::gone(key))?;
        let text = |field: &str| live["metadata"][field].as_str().unwrap_or_default();
        meets(precondition, text("uid"), text("resourceVersion"))?;
        Ok(text("resourceVersion").to_string())
    }
}

/// The patch with the identity that the object must still have.
fn pinned(patch: &Value, precondition: &Precondition) -> Result<Value, StepError> {
    let mut body = patch.clone();
    match precondition {
        Precondition::Absent => {
            return Err(StepError::new(FailureClass::Refused, NotDone::PatchOfNothing));
        }
        Precondition::Uid(uid) => body["metadata"]["uid"] = json!(uid),
        Precondition::Version { uid, resource_version } => {
            body["metadata"]["uid"] = json!(uid);
            body["metadata"]["resourceVersion"] = json!(resource_version);
        }
    }
    Ok(body)
}

/// Would the patch change nothing? Only a field that is certain to be in the
/// projection can be missed there.
fn says(stored: &Value, patch: &Value, keep: Keep) -> bool {
    let Value::Object(fields) = patch else {
        return false;
    };
    fields.iter().all(|(name, value)| {
        let whole = name == "metadata" || matches!(keep, Keep::Everything);
        whole && merged(stored.get(name), value)
    })
}

/// Would a patch be sent?
#[cfg(feature = "door")]
pub(crate) fn would_be_sent(stored: Option<(&Value, Keep)>, patch: &Value) -> bool {
    stored.is_none_or(|(stored, keep)| !says(stored, patch, keep))
}

fn merged(stored: Option<&Value>, patch: &Value) -> bool {
    match (stored, patch) {
        (None, Value::Null) => true,
        (Some(Value::Object(have)), Value::Object(want)) => {
            want.iter().all(|(name, value)| merged(have.get(name), value))
        }
        (Some(have), want) => have == want,
        (None, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_that_is_so_already_is_not_sent() {
        let stored = json!({"metadata": {"annotations": {"a": "1"}}, "spec": {"x": 1}});
        let all = Keep::Everything;
        assert!(says(&stored, &json!({"metadata": {"annotations": {"a": "1", "b": null}}}), all));
        assert!(says(&stored, &json!({"spec": {"y": null}}), all));
        assert!(!says(&stored, &json!({"spec": {"x": null}}), all));
        assert!(!says(&stored, &json!({"spec": {"x": 2}}), all));
    }

    #[test]
    fn what_is_not_kept_cannot_be_missed() {
        let stored = json!({"metadata": {}, "spec": {}});
        assert!(!says(&stored, &json!({"spec": {"x": null}}), Keep::Only(&["/spec/y"])));
    }
}
