//! Whom the objects of a staged service belong to.

use palladion_api::ids::Uid;
use palladion_plan::Resource;

/// Whom an object belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Owner<'a> {
    /// Its kind.
    pub resource: Resource,
    /// The label that names it.
    pub label: &'static str,
    /// Its name.
    pub name: &'a str,
    /// Its namespace.
    pub namespace: &'a str,
    /// Its uid.
    pub uid: &'a Uid,
}
