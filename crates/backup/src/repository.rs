//! The marker of a repository: whose it is, and whether its objects are sealed.

use serde::{Deserialize, Serialize};

/// The format that this version writes and reads.
pub const FORMAT: u32 = 1;
/// Are the objects of a repository sealed?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sealing {
    /// All but `repository.json`.
    Sealed,
    /// None.
    Plain,
}

/// Whose a repository is: the only object that is never sealed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Repository {
    /// See [`FORMAT`].
    pub format: u32,
    /// Random: not even namesakes share it.
    #[serde(rename = "repositoryID")]
    pub id: String,
    /// The name of the ring.
    pub ring: String,
    /// Its datacenter.
    pub datacenter: String,
    /// Are its objects sealed?
    pub sealing: Sealing,
}
