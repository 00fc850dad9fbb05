//! Rules of `CassandraMember`. The operator keeps them by construction; they
//! are for the hand that edits a member in the middle of the night.

use kube_core::{Reason, Rule};

use super::{fixed, must};

/// What a member is does not change.
pub fn is_fixed(field: &str) -> Rule {
    fixed(
        format!("oldSelf.{field} == self.{field}"),
        format!("'`{field}` of a member is immutable (%s)'.format([oldSelf.{field}])"),
    )
    .field_path(format!(".{field}"))
}

/// A terminated member's server is never started again.
pub fn terminated_is_final() -> Rule {
    must(
        "oldSelf.run != 'Terminated' || self.run == 'Terminated'",
        "`run` is Terminated, which is final: the member has left the ring",
    )
    .reason(Reason::FieldValueForbidden)
    .field_path(".run")
}

/// Which volume is given up must be said, and only there.
pub fn terminated_names_its_volume() -> Rule {
    must(
        "has(self.volumeID) == (has(self.run) && self.run == 'Terminated')",
        "`run: Terminated` requires `volumeID`, the `spec.volumeID` of the member, because it is final for that volume; no other `run` may have `volumeID`",
    )
}

/// What was given up is not taken back, as long as the member is on that volume.
pub fn termination_of_a_volume_is_final() -> Rule {
    let terminated = |spec: &str| {
        format!(
            "has({spec}.wanted) && has({spec}.wanted.volumeID) && has(self.volumeID) && {spec}.wanted.volumeID == self.volumeID"
        )
    };
    fixed(
        format!("!({}) || ({})", terminated("oldSelf"), terminated("self")),
        "'this member was terminated for volume %s, which is final: replace the member'.format([oldSelf.wanted.volumeID])",
    )
    .field_path(".wanted")
}

/// Whose place is taken must be said, and only there.
pub fn permit_names_whom_it_replaces() -> Rule {
    must(
        "self.kind in ['Replace', 'Readdress'] ? has(self.hostID) && has(self.replaceAddress) : !has(self.replaceAddress)",
        "a Replace permit requires `hostID` and `replaceAddress` of the dead member, and a Readdress permit those that the member had; no other permit may have `replaceAddress`",
    )
}

/// An operation carries what its kind needs.
pub fn operation_is_complete() -> Rule {
    must(
        "(self.kind != 'AlterReplication' || (has(self.replication) && size(self.replication) > 0)) && (self.kind != 'RemoveNode' || has(self.target))",
        "AlterReplication requires `replication`, and RemoveNode requires `target`",
    )
}
