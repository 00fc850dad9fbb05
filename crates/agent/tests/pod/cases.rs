//! What a pod does, from outside.

use super::{added, backups, certificates, living, starting};

/// A name and what it runs.
pub type Case = (&'static str, fn());

/// All, in order.
pub fn all() -> impl Iterator<Item = &'static Case> {
    starting::ALL
        .iter()
        .chain(living::ALL)
        .chain(added::ALL)
        .chain(certificates::ALL)
        .chain(backups::all())
}
