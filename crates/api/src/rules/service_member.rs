//! Rules of `ServiceMember`. The operator keeps them by construction; they are
//! for the hand that edits a member in the middle of the night.

use kube_core::{Reason, Rule};

pub use super::member::{is_fixed, terminated_is_final};
use super::{fixed, must};

/// RabbitMQ has no server IDs.
pub fn server_id_is_of_zookeeper() -> Rule {
    must(
        "!has(self.serverID) || self.system == 'ZooKeeper'",
        "only members of ZooKeeper have a `serverID`: remove it",
    )
    .field_path(".serverID")
}

/// ZooKeeper has no node names.
pub fn node_name_is_of_rabbitmq() -> Rule {
    must(
        "!has(self.nodeName) || self.system == 'RabbitMQ'",
        "only members of RabbitMQ have a `nodeName`: remove it",
    )
    .field_path(".nodeName")
}

/// Rules of the object as a whole.
pub fn of_the_whole_object() -> Vec<Rule> {
    vec![node_name_changes_with_the_volume()]
}

/// A server ID names one volume for life.
pub fn server_id_changes_with_the_volume() -> Rule {
    changes_with_the_volume(("oldSelf", "self"), "serverID", "false").field_path(".serverID")
}

/// A node name goes with its data. As long as there is none, the domain of a cluster that is
/// created may be corrected.
fn node_name_changes_with_the_volume() -> Rule {
    let is_empty = "has(oldSelf.status) && has(oldSelf.status.volume) && oldSelf.status.volume.state == 'Empty'";
    changes_with_the_volume(("oldSelf.spec", "self.spec"), "nodeName", is_empty)
        .field_path(".spec.nodeName")
}

fn changes_with_the_volume((old, new): (&str, &str), field: &str, or: &str) -> Rule {
    let same_volume =
        format!("has({old}.volumeID) && has({new}.volumeID) && {old}.volumeID == {new}.volumeID");
    fixed(
        format!(
            "!({same_volume}) || !has({old}.{field}) || (has({new}.{field}) && {old}.{field} == {new}.{field}) || {or}"
        ),
        format!(
            "'`{field}` belongs to the volume and cannot change without it (%s)'.format([string({old}.{field})])"
        ),
    )
}

/// By the counter an old copy of a volume is known.
pub fn starts_never_fall() -> Rule {
    let same_volume =
        "has(oldSelf.volumeID) && has(self.volumeID) && oldSelf.volumeID == self.volumeID";
    must(
        format!(
            "!({same_volume}) || !has(oldSelf.starts) || (has(self.starts) && self.starts >= oldSelf.starts)"
        ),
        "`starts` of a volume never decreases: an old copy of the volume is known by it",
    )
    .reason(Reason::FieldValueForbidden)
    .field_path(".starts")
}

/// Others than a joiner know whom to connect to by their own configuration.
pub fn only_a_join_has_peers() -> Rule {
    must(
        "self.kind == 'Join' || !has(self.peers) || size(self.peers) == 0",
        "only a Join permit has `peers`: remove them",
    )
}

/// Of RabbitMQ only a joiner needs the names and flags of others.
pub fn only_a_join_has_nodes() -> Rule {
    let none = |field: &str| format!("(!has(self.{field}) || size(self.{field}) == 0)");
    must(
        format!("self.kind == 'Join' || ({} && {})", none("nodes"), none("flags")),
        "only a Join permit has `nodes` and `flags`: remove them",
    )
}

/// An operation carries what its kind needs, and nothing that it would ignore.
pub fn operation_is_complete() -> Rule {
    must(
        "has(self.reconfig) == (self.kind == 'Reconfig') && has(self.node) == (self.kind in ['Forget', 'MoveReplicas']) && (!has(self.queues) || self.kind == 'Forget') && has(self.definitionsHash) == (self.kind == 'ImportDefinitions')",
        "Reconfig requires `reconfig`, Forget requires `node`, MoveReplicas requires `node`, ImportDefinitions requires `definitionsHash`, and only Forget may have `queues`; no other operation has them",
    )
}
