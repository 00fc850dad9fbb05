//! Rules of the audit log of a ring.

use kube_core::Rule;

use super::must;

/// Nothing of it has been tried against a Scylla server.
pub fn scylla_takes_no_audit() -> Rule {
    must(
        "self.mode != 'scylla' || !has(self.audit)",
        "`audit` applies to Cassandra only: use `config` instead",
    )
    .field_path(".audit")
}

/// A category that is listed twice is a mistake for another one.
pub fn categories_are_unique() -> Rule {
    must("self.all(c, self.exists_one(d, d == c))", "each category is listed once")
}

/// The server reads its list up to each comma, and trims nothing.
pub fn keyspaces_are_names() -> Rule {
    must(
        "self.all(k, k.matches('^[A-Za-z0-9_]+$'))",
        "use names of keyspaces as they are: letters, digits and `_`, without quotes",
    )
}
