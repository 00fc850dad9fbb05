//! Rules of `CassandraTask`.

use kube_core::{Reason, Rule};

use super::{fixed, must};

/// What a task is for does not change: it may have been done in part.
pub fn is_fixed(field: &str) -> Rule {
    fixed(
        format!("oldSelf.{field} == self.{field}"),
        format!("'{field} of a task is fixed: abort this one and make another'"),
    )
    .field_path(format!(".{field}"))
}

/// A task that was taken back stays so.
pub fn abort_is_final() -> Rule {
    must("!oldSelf.abort || self.abort", "a task that was aborted stays so: make another one")
        .reason(Reason::FieldValueForbidden)
        .field_path(".abort")
}
