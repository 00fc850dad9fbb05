//! Rules of change data capture.

use kube_core::Rule;

use super::must;

/// Nothing of it has been tried against a Scylla server, whose way is another one.
pub fn scylla_takes_no_cdc() -> Rule {
    must(
        "self.mode != 'scylla' || !has(self.cdc)",
        "`cdc` applies to Cassandra only: ScyllaDB writes its changes to tables",
    )
    .field_path(".cdc")
}

/// A server of that line knows no other way than to refuse writes.
pub fn dropping_needs_4_1() -> Rule {
    must(
        "!has(self.cdc) || self.cdc.onFull != 'DropOldest' || !self.version.startsWith('4.0')",
        "`cdc.onFull: DropOldest` requires Cassandra 4.1 or newer: upgrade first, or set `Block`",
    )
    .field_path(".cdc.onFull")
}

/// Without segments there is nothing to mount.
pub fn readers_need_segments() -> Rule {
    must(
        "!has(self.sidecars) || (has(self.cdc) && self.cdc.mode == 'On') || self.sidecars.all(s, !has(s.cdc) || s.cdc == 'Off')",
        "a sidecar with `cdc: ReadWrite` needs `cdc.mode: On`: set it, or remove `cdc` from the sidecar",
    )
    .field_path(".sidecars")
}
