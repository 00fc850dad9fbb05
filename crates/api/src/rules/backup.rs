//! Rules of backups.

use kube_core::{Reason, Rule};

use super::{fixed, must};

/// Nothing of it has been tried against a Scylla server.
pub fn scylla_takes_no_backup() -> Rule {
    must(
        "self.mode != 'scylla' || !has(self.backup)",
        "`backup` applies to Cassandra only: use Scylla Manager instead",
    )
    .field_path(".backup")
}

/// A ring that exists is not restored in place.
pub fn a_ring_begins_with_a_restore() -> Rule {
    fixed(
        "!has(self.backup) || !has(self.backup.restore) || (has(oldSelf.backup) && has(oldSelf.backup.restore) && oldSelf.backup.restore == self.backup.restore)",
        "'`backup.restore` is set when a ring is created, and cannot be set or changed later: to restore tables into this ring use a CassandraRestore with `mode: Tables`; to restore the whole ring create another CassandraCluster'",
    )
    .field_path(".backup.restore")
}

/// A rate lies between its limits.
pub fn limits_leave_a_rate() -> Rule {
    must(
        "!has(self.minimumBytesPerSecond) || !has(self.bytesPerSecond) || self.minimumBytesPerSecond <= self.bytesPerSecond",
        "`minimumBytesPerSecond` must not be more than `bytesPerSecond`: lower it, or raise `bytesPerSecond`",
    )
    .field_path(".minimumBytesPerSecond")
}

/// Each place has its own fields.
pub fn store_is_one_place() -> Rule {
    must(
        "[has(self.s3), has(self.gcs), has(self.azure), has(self.volume)].exists_one(x, x)",
        "backups have one store: set exactly one of `s3`, `gcs`, `azure` and `volume`",
    )
}

/// Nobody sends data in the clear by a typing error.
pub fn plain_transport_is_meant() -> Rule {
    must(
        "(self.transport == 'Plain') == (has(self.endpoint) && self.endpoint.startsWith('http://'))",
        "`transport: Plain` and an `endpoint` that begins with `http://` go together: for TLS, use `https://` and `transport: Tls`",
    )
    .field_path(".transport")
}

/// Each member has its own, and a restore makes others.
pub fn local_keyspaces_are_not_shared() -> Rule {
    must(
        "!has(self.keyspaces) || !self.keyspaces.exists(k, k in ['system', 'system_schema'])",
        "`system` and `system_schema` are local to each member and are not backed up: remove them from `keyspaces`",
    )
    .field_path(".keyspaces")
}

/// A volume needs no credentials.
pub fn credentials_go_with_a_store_that_needs_them() -> Rule {
    must(
        "!has(self.credentialsSecretName) || !has(self.store.volume)",
        "`credentialsSecretName` does not apply to `store.volume`: remove it",
    )
    .field_path(".credentialsSecretName")
}

/// What a backup is of does not change: part of it has been sent, perhaps.
pub fn is_fixed(field: &str) -> Rule {
    fixed(
        format!(
            "has(oldSelf.{field}) == has(self.{field}) && (!has(self.{field}) || oldSelf.{field} == self.{field})"
        ),
        format!("'`{field}` of a backup is immutable: abort this backup and create another'"),
    )
    .field_path(format!(".{field}"))
}

/// What was condemned cannot be brought back.
pub fn expire_is_final() -> Rule {
    must(
        "!oldSelf.expire || self.expire",
        "a backup that expires cannot be kept any more: take another one",
    )
    .reason(Reason::FieldValueForbidden)
    .field_path(".expire")
}

/// What was given up stays so.
pub fn abort_is_final() -> Rule {
    must("!oldSelf.abort || self.abort", "an aborted backup cannot be resumed: create another one")
        .reason(Reason::FieldValueForbidden)
        .field_path(".abort")
}
