//! Entries of the Secret whose owner is gone, which are removed when an entry is
//! added: else what deleted owners have left would fill it one day. A key cannot be
//! had again, so only what the API server says of the owner itself is evidence.

use super::{Entry, Kept};
use crate::apply::Applier;
use jiff::Timestamp;
use k8s_openapi::ByteString;
use palladion_plan::{FailureClass, ObjectKey, hash};
use serde_json::json;

/// Owners that are read for one new entry: more than one, so that the Secret gets
/// smaller where many were deleted; and not all, which may be hundreds.
const ASKED: usize = 16;

impl Applier<'_> {
    /// The names of entries whose owner does not exist any more. Those are asked for
    /// whose turn it is by the clock, so that in time it is everybody's.
    pub(super) async fn left_over(&self, kept: &Kept, now: Timestamp) -> Vec<String> {
        let mut all = self.of_this_kind(kept);
        let count = i64::try_from(all.len()).unwrap_or(i64::MAX).max(1);
        all.rotate_left(usize::try_from(now.as_second().rem_euclid(count)).unwrap_or(0));
        let mut gone = Vec::new();
        for (place, entry) in all.into_iter().take(ASKED) {
            let key = ObjectKey::new(self.owner_key.resource, &entry.namespace, &entry.owner);
            match self.api.is_gone(&key, &entry.uid).await {
                Ok(true) => gone.push(place),
                Ok(false) => {}
                // This one may not be read, but another one may.
                Err(error) if error.class() == FailureClass::Refused => {}
                Err(_) => break,
            }
        }
        gone
    }

    /// The entries of owners of this owner's kind, which is in their names. Others, and what
    /// cannot be read, are not known.
    fn of_this_kind(&self, kept: &Kept) -> Vec<(String, Entry)> {
        let kind = self.owner_key.resource.kind;
        let data = kept.object["data"].as_object().into_iter().flatten();
        let read = data.filter_map(|(place, stored)| {
            let bytes: ByteString = serde_json::from_value(stored.clone()).ok()?;
            let entry: Entry = serde_json::from_slice(&bytes.0).ok()?;
            let of = hash::of(&json!([kind, entry.namespace, entry.owner, entry.uid]));
            let is_its_own = *place == format!("{of}.{}", entry.authority);
            is_its_own.then(|| (place.clone(), entry))
        });
        read.collect()
    }
}
