//! A member of a datacenter that was added to a ring: it takes no clients before it has the data
//! of the keyspaces that name its datacenter.

use crate::ids::VolumeId;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
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

/// The order to take no clients any more, since the datacenter leaves its ring. The member stays closed, also after a restart, until an order to take clients replaces this one.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Closing {
    /// The volume that it is for.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
    /// Whether a repair of all ranges of the member was recorded in `pendingMaintenance` after all members of the datacenter were closed. Written with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repair_recorded: bool,
    /// `status.rebuild.closedAt` when the repair was recorded. A member that reports another time has taken clients since, and all members are repaired once more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<Time>,
    /// What the repair covers: the keyspaces that had copies in the datacenter, each with its copies by datacenter. A keyspace that comes later, or gets more copies anywhere, needs another repair.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = MOST_REBUILT))]
    pub repaired: BTreeMap<String, BTreeMap<String, u32>>,
}

impl Closing {
    /// The order for this volume, without a record of a repair.
    pub fn of(volume_id: VolumeId) -> Self {
        Closing { volume_id, repair_recorded: false, closed_at: None, repaired: BTreeMap::new() }
    }
}

/// What a member of a datacenter that was added to a ring, or that leaves it, has on its volume.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RebuildStatus {
    /// Whether the member takes clients, also after a restart.
    pub open: bool,
    /// When the server was last closed to clients because the datacenter leaves. One that was opened by hand since is closed again, at a later time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<Time>,
    /// Keyspaces that were rebuilt from another datacenter, or that the member streamed when it joined a datacenter that had them, each with the number of copies that its datacenter had of it. With more copies the member lacks it again; without any it is forgotten.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = MOST_REBUILT))]
    pub keyspaces: BTreeMap<String, u32>,
}

/// Keyspaces that a member of this datacenter lacks: they have copies there and elsewhere, and were not rebuilt, or when there were fewer copies here. Those that no other datacenter has were written there. `uneven` are those whose copies do not go by datacenter: nothing can be rebuilt of them.
pub fn lacking<'a>(
    datacenter: &str,
    copies: &'a BTreeMap<String, BTreeMap<String, u32>>,
    uneven: &[String],
    rebuilt: &BTreeMap<String, u32>,
) -> Vec<&'a String> {
    let lacks = |(keyspace, of): &(&String, &BTreeMap<String, u32>)| {
        let here = of.get(datacenter).copied().unwrap_or(0);
        let is_elsewhere = of.iter().any(|(name, copies)| name != datacenter && *copies > 0);
        let has = rebuilt.get(*keyspace).is_some_and(|had| here <= *had);
        here > 0 && is_elsewhere && !uneven.contains(keyspace) && !has
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
            ("fewer".to_string(), of(&[("dc1", 3), ("dc2", 1)])),
            ("more".to_string(), of(&[("dc1", 3), ("dc2", 3)])),
            ("rebuilt".to_string(), of(&[("dc1", 3), ("dc2", 2)])),
            ("uneven".to_string(), of(&[("dc1", 3), ("dc2", 2)])),
            ("there".to_string(), of(&[("dc1", 3)])),
            ("zero".to_string(), of(&[("dc1", 3), ("dc2", 0)])),
        ]);
        let rebuilt = ["fewer", "more", "rebuilt"].map(|name| (name.to_string(), 2)).into();
        let uneven = ["uneven".to_string()];
        assert_eq!(lacking("dc2", &copies, &uneven, &rebuilt), ["both", "more"]);
        assert!(lacking("dc2", &BTreeMap::new(), &[], &BTreeMap::new()).is_empty());
    }
}
