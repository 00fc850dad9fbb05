//! A restore as it is stored.

use crate::decide::transfers::{self, Asked, Kind};
use crate::facts::Facts;
use crate::resources as kinds;
use palladion_api::ids::Uid;
use palladion_api::restore::{CassandraRestoreSpec, CassandraRestoreStatus, RestorePhase};
use palladion_plan::{Object, Resource};
use serde::Deserialize;
use serde_json::Value;

/// `CassandraRestore`.
pub struct Restores;

impl Kind for Restores {
    const RESOURCE: Resource = kinds::RESTORE;
    type Spec = CassandraRestoreSpec;
    type Status = CassandraRestoreStatus;

    fn is_final(phase: &Value) -> bool {
        RestorePhase::deserialize(phase).is_ok_and(RestorePhase::is_final)
    }
}

/// A restore as it is stored.
pub type Restore<'a> = Asked<'a, Restores>;

/// The object of the restore that is under way.
pub type Found<'a> = transfers::Found<'a, Restores>;

/// Has it ended?
pub fn is_over(object: &Object) -> bool {
    transfers::is_over::<Restores>(object)
}

/// The restores of this cluster that have not ended, in the order in which they come.
pub fn open<'a>(facts: &'a Facts<'_>) -> Vec<Restore<'a>> {
    transfers::open(facts)
}

/// The one with this uid.
pub fn of_uid<'a>(facts: &'a Facts<'_>, uid: &Uid) -> Found<'a> {
    transfers::of_uid(facts, uid)
}
