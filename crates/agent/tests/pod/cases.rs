//! What a pod does, from outside.

use super::{backups, certificates, living, starting};

/// A name and what it runs.
pub type Case = (&'static str, fn());

/// All, in order.
pub fn all() -> impl Iterator<Item = &'static Case> {
    starting::ALL.iter().chain(living::ALL).chain(certificates::ALL).chain(backups::all())
}
