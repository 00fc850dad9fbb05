//! A member of a datacenter that was added to a ring: it takes no clients before it has the data
//! of the keyspaces that name its datacenter.

use crate::ids::VolumeId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most keyspaces that a member lists as rebuilt.
pub const MOST_REBUILT: usize = 1024;

/// The order to take clients. A member whose volume lacks a keyspace that names its datacenter does not follow it.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Opening {
    /// The volume that it is for. A later volume of the member needs an order of its own.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
}

/// What a member of a datacenter that was added to a ring has on its volume.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RebuildStatus {
    /// Whether the member takes clients, also after a restart.
    pub open: bool,
    /// Keyspaces that were rebuilt from another datacenter, or that the member streamed when it joined a datacenter that had them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_REBUILT))]
    pub keyspaces: Vec<String>,
}

/// Keyspaces that a member of this datacenter lacks: they have copies there and elsewhere, and were not rebuilt. Those that no other datacenter has were written there.
pub fn lacking<'a>(
    datacenter: &str,
    copies: &'a BTreeMap<String, BTreeMap<String, u32>>,
    rebuilt: &[String],
) -> Vec<&'a String> {
    let lacks = |(keyspace, of): &(&String, &BTreeMap<String, u32>)| {
        let is_here = of.get(datacenter).is_some_and(|copies| *copies > 0);
        let is_elsewhere = of.iter().any(|(name, copies)| name != datacenter && *copies > 0);
        is_here && is_elsewhere && !rebuilt.contains(keyspace)
    };
    copies.iter().filter(lacks).map(|(keyspace, _)| keyspace).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keyspace_is_lacked_that_has_copies_here_and_elsewhere_and_was_not_rebuilt() {
        let of = |all: &[(&str, u32)]| all.iter().map(|(n, c)| ((*n).to_string(), *c)).collect();
        let copies = BTreeMap::from([
            ("both".to_string(), of(&[("dc1", 3), ("dc2", 2)])),
            ("here".to_string(), of(&[("dc2", 2)])),
            ("rebuilt".to_string(), of(&[("dc1", 3), ("dc2", 2)])),
            ("there".to_string(), of(&[("dc1", 3)])),
            ("zero".to_string(), of(&[("dc1", 3), ("dc2", 0)])),
        ]);
        assert_eq!(lacking("dc2", &copies, &["rebuilt".into()]), ["both"]);
        assert!(lacking("dc2", &BTreeMap::new(), &[]).is_empty());
    }
}
