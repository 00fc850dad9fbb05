//! Rules of `CassandraTask`.

use kube_core::{Reason, Rule};

use super::{fixed, must};

/// What a task is for does not change: it may have been done in part.
pub fn is_fixed(field: &str) -> Rule {
    fixed(
        format!("oldSelf.{field} == self.{field}"),
        format!("'`{field}` of a task is immutable: abort this task and create another'"),
    )
    .field_path(format!(".{field}"))
}

/// A task that was taken back stays so.
pub fn abort_is_final() -> Rule {
    must("!oldSelf.abort || self.abort", "an aborted task cannot be resumed: create another one")
        .reason(Reason::FieldValueForbidden)
        .field_path(".abort")
}
