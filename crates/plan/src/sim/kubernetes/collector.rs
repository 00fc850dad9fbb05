//! The garbage collector: an object all of whose owners are gone goes too.

use crate::object::ObjectKey;
use crate::plan::{Precondition, Propagation};
use crate::sim::store::{Store, owners, text};
use palladion_api::ids::Uid;
use std::collections::BTreeSet;

/// Delete what nobody owns any more.
pub(super) fn run(store: &mut Store) {
    let alive: BTreeSet<Uid> =
        store.all().map(|(_, o)| Uid::new(text(o, "/metadata/uid"))).collect();
    let orphans: Vec<(ObjectKey, Uid)> = store
        .all()
        .filter(|(_, o)| !o["metadata"]["deletionTimestamp"].is_string())
        .filter(|(_, o)| {
            owners(o).next().is_some()
                && !owners(o).any(|r| alive.contains(&Uid::new(text(r, "/uid"))))
        })
        .map(|(key, o)| (key.clone(), Uid::new(text(o, "/metadata/uid"))))
        .collect();
    for (key, uid) in orphans {
        let _ = store.delete(&key, &Precondition::Uid(uid), Propagation::Background);
    }
}
