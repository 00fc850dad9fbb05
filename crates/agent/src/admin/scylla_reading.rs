//! A look at a Scylla server: one request for each part, and what they say.

use super::json::strings;
use super::ring::Lists;
use super::scylla::Scylla;
use super::{Error, Figures, Reading};
use palladion_api::ids::{HostId, StaticAddress};
use palladion_api::member::RingMember;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

impl Scylla {
    pub(super) async fn look(&self) -> Result<Reading, Error> {
        let text = |v: Option<Value>| v.and_then(|v| v.as_str().map(str::to_string));
        let mode = text(self.part("/storage_service/operation_mode").await?);
        let native =
            self.part("/storage_service/native_transport").await?.and_then(|v| v.as_bool());
        let gossip = self.part("/storage_service/gossiping").await?.and_then(|v| v.as_bool());
        let host_id = text(self.part("/storage_service/hostid/local").await?);
        let versions = self.part("/storage_proxy/schema_versions").await?;
        let load = self.part("/storage_service/load").await?.and_then(|v| v.as_f64());
        Ok(Reading {
            // A joining Scylla says BOOTSTRAP; for the ring that is joining.
            mode: mode.map(|m| if m == "BOOTSTRAP" { "JOINING".into() } else { m }),
            native_transport: native,
            gossip,
            version: text(self.part("/storage_service/scylla_release_version").await?),
            host_id: host_id.map(HostId::new),
            schema_version: text(self.part("/storage_service/schema_version").await?),
            schema_agreed: versions.as_ref().and_then(Value::as_array).map(|all| {
                all.iter()
                    .filter(|v| v.get("key").and_then(Value::as_str) != Some("UNREACHABLE"))
                    .count()
                    <= 1
            }),
            tokens: self.part("/storage_service/tokens").await?.map(|v| strings(&v)),
            // Of use at its first start only, and its API does not tell them.
            seeds: None,
            members: self.members().await?,
            auto_repair: None,
            figures: Figures { load, ..Figures::default() },
        })
    }

    async fn members(&self) -> Result<Option<Vec<RingMember>>, Error> {
        let live = self.part("/gossiper/endpoint/live").await?;
        let down = self.part("/gossiper/endpoint/down").await?;
        let joining = self.part("/storage_service/nodes/joining").await?;
        let leaving = self.part("/storage_service/nodes/leaving").await?;
        let moving = self.part("/storage_service/nodes/moving").await?;
        let host_ids = self.part("/storage_service/host_id").await?;
        Ok(ring(&[live, down, joining, leaving, moving], host_ids.as_ref()))
    }
}

/// Absent if any of the lists is: a short list would be a lie.
fn ring(lists: &[Option<Value>; 5], host_ids: Option<&Value>) -> Option<Vec<RingMember>> {
    let set = |v: &Option<Value>| -> Option<BTreeSet<StaticAddress>> {
        Some(strings(v.as_ref()?).into_iter().map(StaticAddress::new).collect())
    };
    let [live, down, joining, leaving, moving] = lists;
    let pair = |pair: &Value| {
        Some((
            StaticAddress::new(pair.get("key")?.as_str()?),
            HostId::new(pair.get("value")?.as_str()?),
        ))
    };
    let lists = Lists {
        live: set(live)?,
        down: set(down)?,
        joining: set(joining)?,
        leaving: set(leaving)?,
        moving: set(moving)?,
        gossiped: set(down)?,
        host_ids: host_ids?.as_array()?.iter().filter_map(pair).collect(),
        // A ring of Scylla has one datacenter.
        places: BTreeMap::new(),
    };
    Some(lists.members())
}
