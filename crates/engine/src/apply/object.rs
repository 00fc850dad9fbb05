//! Server-side apply of an object that is wholly ours, only where it differs.

use crate::apply::fence::{Guard, meets};
use crate::apply::{Applier, Effect, StepError};
use crate::error::ApiError;
use crate::memory::{Applied, Memory};
use crate::request::Conflicts;
use crate::watch::project::projection;
use crate::words::{Controller, NotDone};
use palladion_api::labels;
use palladion_plan::{FailureClass, Keep, ObjectKey, Precondition, Subresource, differ, hash};
use serde_json::{Value, json};

/// An object as it was last seen, in the store or live.
struct Seen {
    object: Value,
    uid: String,
    version: String,
    keep: Keep,
}

impl Seen {
    fn live(object: &Value) -> Self {
        let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_string();
        Self {
            uid: text("uid"),
            version: text("resourceVersion"),
            object: projection(object, Keep::Everything),
            keep: Keep::Everything,
        }
    }
}

/// What a creation has found.
enum Creation {
    /// Nothing: the object is created.
    Done(Effect),
    /// An object of this name.
    Exists(Seen),
}

/// A resourceVersion that no object has: etcd counts from 1 before anything is
/// written. What is applied under it is created where nothing exists, and
/// refused with a conflict where something does.
const OF_NO_OBJECT: &str = "1";

impl Applier<'_> {
    pub(super) async fn apply_object(
        &self,
        key: &ObjectKey,
        object: &Value,
        precondition: &Precondition,
        guard: Guard<'_>,
        memory: &mut Memory,
    ) -> Result<Effect, StepError> {
        let print = hash::of(object);
        let wanted = with_print(object, &print);
        let seen = match self.stored(key, precondition)? {
            Some(seen) => seen,
            None => match self.create(key, &wanted, &print, guard, memory).await? {
                Creation::Done(effect) => return Ok(effect),
                Creation::Exists(seen) => seen,
            },
        };
        meets(&of_any_version(precondition), &seen.uid, &seen.version)?;
        self.ours(key, &seen.object, precondition)?;
        let added = differ::without_added(&seen.object, &wanted)
            .filter(|patch| !is_insisted_on(memory, key, &seen, patch));
        let is_right = says(&seen.object, &wanted) || became(memory, key, &print, &seen);
        if added.is_none() && is_right {
            return Ok(Effect::Nothing);
        }
        // Whoever has nothing to write need not have seen the last change.
        meets(precondition, &seen.uid, &seen.version)?;
        if let Some(patch) = added {
            match self.take_out(key, (&wanted, patch), &seen, guard, memory).await {
                // Nobody hears of a write that changed nothing: what else differs is
                // put right at once.
                Ok(Effect::Nothing) if is_right => return Ok(Effect::Nothing),
                Ok(Effect::Nothing) => {}
                // Without what is ours the rest need not be valid, such as a list that may not
                // be empty: ours goes first, and the next turn takes out.
                Err(error) if !is_right && error.class == FailureClass::Refused => {}
                changed_or_failed => return changed_or_failed,
            }
        }
        let body = pinned(wanted, &seen, precondition);
        self.pass(guard).await?;
        let answer = self.api.apply(key, &body, Conflicts::Take).await;
        remember(memory, key, &print, &answer, seen.keep);
        self.written(key, Some(&seen.version), answer)
    }

    /// Take out of the object, as it was seen, what others have added to it; what
    /// else differs is applied when the answer is seen. What an admission webhook
    /// adds again at once is remembered.
    async fn take_out(
        &self,
        key: &ObjectKey,
        (wanted, patch): (&Value, Value),
        seen: &Seen,
        guard: Guard<'_>,
        memory: &mut Memory,
    ) -> Result<Effect, StepError> {
        let mut body = patch.clone();
        body["metadata"] = json!({ "uid": seen.uid, "resourceVersion": seen.version });
        self.pass(guard).await?;
        let answer = self.api.merge(key, Subresource::None, &body).await;
        if let Ok(object) = &answer {
            let stays = differ::without_added(&projection(object, seen.keep), wanted);
            if stays.as_ref() == Some(&patch) {
                memory.insisted.insert(key.clone(), (seen.uid.clone(), patch));
            }
        }
        self.written(key, Some(&seen.version), answer)
    }

    /// The object from the store.
    fn stored(
        &self,
        key: &ObjectKey,
        precondition: &Precondition,
    ) -> Result<Option<Seen>, StepError> {
        let stored = self.watches.world().stored(key);
        if let Some((record, keep)) = stored {
            let (uid, version) = (record.uid.to_string(), record.version.to_string());
            return Ok(Some(Seen { object: record.value(), uid, version, keep }));
        }
        match precondition {
            Precondition::Absent => Ok(None),
            Precondition::Uid(_) | Precondition::Version { .. } => Err(StepError::gone(key)),
        }
    }

    /// Create what the store does not have, by one request that changes nothing
    /// that exists: one that our watches do not select is somebody else's. An
    /// apply and not a POST: after a POST every field would belong to an update
    /// as well, and none would go when an apply no longer names it.
    async fn create(
        &self,
        key: &ObjectKey,
        wanted: &Value,
        print: &str,
        guard: Guard<'_>,
        memory: &mut Memory,
    ) -> Result<Creation, StepError> {
        let mut body = wanted.clone();
        body["metadata"]["resourceVersion"] = json!(OF_NO_OBJECT);
        let mut answer = self.apply_new(key, &body, guard).await?;
        if answer.as_ref().is_err_and(|error| error.code == Some(409)) {
            self.faults.after_write();
            if let Some(object) = self.api.get(key).await? {
                return Ok(Creation::Exists(Seen::live(&object)));
            }
            // Deleted meanwhile, or a server that compares the version with nothing.
            answer = self.apply_new(key, wanted, guard).await?;
        }
        remember(memory, key, print, &answer, Keep::Everything);
        self.written(key, None, answer).map(Creation::Done)
    }

    async fn apply_new(
        &self,
        key: &ObjectKey,
        body: &Value,
        guard: Guard<'_>,
    ) -> Result<Result<Value, ApiError>, StepError> {
        self.pass(guard).await?;
        Ok(self.api.apply(key, body, Conflicts::Refuse).await)
    }

    /// Is the object ours to write? What belongs to another owner is never touched.
    fn ours(
        &self,
        key: &ObjectKey,
        object: &Value,
        precondition: &Precondition,
    ) -> Result<(), StepError> {
        let foreign = |why| Err(StepError::new(FailureClass::Foreign, why));
        match ownership(object, self.owner.meta.uid.as_str(), self.owner_key) {
            Ownership::Ours => {}
            Ownership::Foreign(controller) => {
                return foreign(NotDone::Foreign { object: key.to_string(), controller });
            }
            Ownership::Unmarked => return foreign(NotDone::Unmarked { object: key.to_string() }),
        }
        let terminating = !object["metadata"]["deletionTimestamp"].is_null();
        if terminating && *precondition == Precondition::Absent {
            let object = key.to_string();
            return Err(StepError::conflict(NotDone::StillTerminating { object }));
        }
        Ok(())
    }
}

enum Ownership {
    Ours,
    Foreign(Controller),
    Unmarked,
}

/// Ours is what our owner controls, and what nobody controls and either carries our mark
/// or was given to the owner.
fn ownership(object: &Value, owner_uid: &str, owner: &ObjectKey) -> Ownership {
    let metadata = &object["metadata"];
    let owners = metadata["ownerReferences"].as_array();
    let controller = owners.and_then(|all| all.iter().find(|o| o["controller"] == true));
    match controller {
        Some(controller) if controller["uid"] == owner_uid => Ownership::Ours,
        Some(controller) => {
            let text = |field: &str| controller[field].as_str().unwrap_or_default().to_string();
            let (kind, name, uid) = (text("kind"), text("name"), text("uid"));
            Ownership::Foreign(Controller::Named { kind, name, uid })
        }
        // The owner itself has no controller and needs no mark.
        None if metadata["uid"] == owner_uid => Ownership::Ours,
        None if metadata["labels"][labels::MANAGED_BY] == labels::PALLADION => Ownership::Ours,
        None if metadata["labels"][given_to(owner)] == owner.name => Ownership::Ours,
        None => Ownership::Unmarked,
    }
}

/// The label by which whoever may write an object gives it to an owner of this kind, whose
/// name is the value: `palladion.dev/stack=small`.
fn given_to(owner: &ObjectKey) -> String {
    format!("{}/{}", owner.resource.group, owner.resource.kind.to_ascii_lowercase())
}

fn with_print(object: &Value, print: &str) -> Value {
    let mut wanted = object.clone();
    wanted["metadata"]["annotations"][labels::APPLIED] = json!(print);
    wanted
}

/// Does the object say all that is wanted, and nothing that was wanted once?
/// The print covers the second: it is of the whole object of the last apply.
fn says(seen: &Value, wanted: &Value) -> bool {
    let mut wanted = wanted.clone();
    if let Value::Object(map) = &mut wanted {
        map.remove("apiVersion");
        map.remove("kind");
    }
    differ::contains(seen, &wanted)
}

/// Would an apply be sent? What is not stored is created.
#[cfg(feature = "door")]
pub(crate) fn would_be_sent(stored: Option<&Value>, object: &Value) -> bool {
    stored.is_none_or(|stored| {
        !says(stored, &with_print(object, &hash::of(object)))
            || differ::without_added(stored, object).is_some()
    })
}

/// Did the last apply of the same object leave it just as it is now? Then the
/// server (or an admission webhook) writes it in its own way, and applying it
/// again would change nothing, for ever.
fn became(memory: &Memory, key: &ObjectKey, print: &str, seen: &Seen) -> bool {
    memory.applied.get(key).is_some_and(|applied| {
        applied.uid == seen.uid
            && applied.wanted == print
            && applied.became == essence(&seen.object)
    })
}

/// Was this added again at once when it was taken out? To take it out again would
/// change nothing, for ever.
fn is_insisted_on(memory: &Memory, key: &ObjectKey, seen: &Seen, patch: &Value) -> bool {
    memory.insisted.get(key).is_some_and(|(uid, kept)| *uid == seen.uid && kept == patch)
}

fn remember(
    memory: &mut Memory,
    key: &ObjectKey,
    print: &str,
    answer: &Result<Value, ApiError>,
    keep: Keep,
) {
    if let Ok(object) = answer {
        let applied = Applied {
            uid: object["metadata"]["uid"].as_str().unwrap_or_default().to_string(),
            wanted: print.to_string(),
            became: essence(&projection(object, keep)),
        };
        memory.applied.insert(key.clone(), applied);
    }
}

/// Hash of what an apply decides: all but status and the server's counters.
fn essence(object: &Value) -> String {
    let mut object = object.clone();
    if let Value::Object(map) = &mut object {
        map.remove("status");
    }
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("generation");
    }
    hash::of(&object)
}

/// The object with the identity that it must still have. One that should not
/// have existed was read for this write.
fn pinned(mut wanted: Value, seen: &Seen, precondition: &Precondition) -> Value {
    wanted["metadata"]["uid"] = json!(seen.uid);
    match precondition {
        Precondition::Uid(_) => {}
        Precondition::Absent => wanted["metadata"]["resourceVersion"] = json!(seen.version),
        Precondition::Version { resource_version, .. } => {
            wanted["metadata"]["resourceVersion"] = json!(resource_version);
        }
    }
    wanted
}

/// The same object, whatever became of it.
fn of_any_version(precondition: &Precondition) -> Precondition {
    match precondition {
        Precondition::Absent => Precondition::Absent,
        Precondition::Uid(uid) | Precondition::Version { uid, .. } => {
            Precondition::Uid(uid.clone())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_plan::Resource;

    fn controlled_by(uid: &str) -> Value {
        json!({"metadata": {"ownerReferences": [{"kind": "K", "name": "n", "uid": uid, "controller": true}]}})
    }

    #[test]
    fn only_what_our_owner_controls_or_what_carries_our_mark_is_ours() {
        let owner = ObjectKey::new(Resource::ours("Stack", "stacks"), "n", "small");
        let ours = |object: &Value| matches!(ownership(object, "me", &owner), Ownership::Ours);
        assert!(ours(&controlled_by("me")));
        assert!(!ours(&controlled_by("you")));
        assert!(!ours(&json!({"metadata": {}})));
        let mut marked = controlled_by("you");
        marked["metadata"]["labels"] = json!({labels::MANAGED_BY: labels::PALLADION});
        assert!(!ours(&marked), "another owner's, though we made it");
        marked["metadata"]["ownerReferences"] = json!([]);
        assert!(ours(&marked));
        let given = |name: &str| json!({"metadata": {"labels": {"palladion.dev/stack": name}}});
        assert!(ours(&given("small")), "its owner gave it away");
        assert!(!ours(&given("other")), "to somebody else");
        let mut controlled = given("small");
        controlled["metadata"]["ownerReferences"] =
            controlled_by("you")["metadata"]["ownerReferences"].clone();
        assert!(!ours(&controlled), "a label takes nothing from a controller");
    }

    #[test]
    fn a_field_that_is_no_longer_wanted_is_a_difference() {
        let (two, one) = (
            json!({"metadata": {}, "data": {"a": "1", "b": "2"}}),
            json!({"metadata": {}, "data": {"a": "1"}}),
        );
        let stored = with_print(&two, &hash::of(&two));
        assert!(says(&stored, &with_print(&two, &hash::of(&two))));
        assert!(!says(&stored, &with_print(&one, &hash::of(&one))));
    }
}
