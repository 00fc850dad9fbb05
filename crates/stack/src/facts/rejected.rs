//! What the API server did not take the last time, and will not take by being asked again.

use palladion_plan::{FailureClass, ObjectKey, Snapshot};

/// What the API server does not take from us: it rejects it, or somebody else's object has the
/// name.
pub fn rejected(snapshot: &Snapshot) -> impl Iterator<Item = &ObjectKey> {
    let all = snapshot.failure.iter().flat_map(|failure| &failure.all);
    let lasts = |class| matches!(class, FailureClass::Refused | FailureClass::Foreign);
    all.filter(move |failed| lasts(failed.class)).map(|failed| &failed.object)
}
