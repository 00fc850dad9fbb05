//! What a try of a transfer is made with, and what of restores is left that nobody needs.

use super::state::Agent;
use crate::admin::Reading;
use crate::capabilities::{self, SnapshotLife};
use crate::transfer::{Bench, leftovers};
use crate::words::calls::NotKnown;
use anyhow::{Context, Result};
use palladion_agent_transfer::assign::Own;
use palladion_agent_transfer::decide::{Child, Facts, Kept, Noted};
use palladion_api::backup::Transfer;
use std::path::PathBuf;
use std::time::Duration;

impl Agent {
    /// What restores have left goes, but for what the order that is given still needs: at the
    /// start, and when that changes. Not while a try is under way, which writes there.
    pub(super) fn clear_restores(&mut self, facts: &Facts) {
        let Some(volume) = self.volume.as_ref().filter(|_| facts.child == Child::Absent) else {
            return;
        };
        let ended = match &facts.noted {
            Noted::Record(record) => record.ended.as_ref().map(|_| record.id.as_str()),
            Noted::Nothing | Noted::Unread => None,
        };
        let order = facts.order.as_ref().map(|order| order.id.clone());
        let needed = order.clone().filter(|id| ended != Some(id.as_str()));
        if self.transfers.cleared_for.as_ref() != Some(&(needed.clone(), order.clone())) {
            leftovers::remove(volume, needed.as_deref(), order.as_deref());
            self.transfers.cleared_for = Some((needed, order));
        }
    }

    fn launch_file(&self) -> PathBuf {
        self.settings.pod.launch_file()
    }

    /// What the member says of itself to a child.
    pub(super) fn own(&self, kept: Option<&Kept>) -> Result<Own> {
        let volume = self.volume.as_ref().context(NotKnown::Volume)?;
        let spec = self.saved.as_ref().map(|saved| &saved.spec).context(NotKnown::Spec)?;
        let mounted = self.mounted.as_ref().map_err(|why| anyhow::anyhow!(why.clone()))?;
        Ok(Own {
            parent: i32::try_from(std::process::id()).unwrap_or_default(),
            ring: spec.ring.clone(),
            datacenter: spec.datacenter.clone(),
            rack: spec.rack.as_str().to_string(),
            version: mounted.config.version.clone(),
            credentials_secret: self.settings.backup_secret.clone(),
            volume: volume.root().to_path_buf(),
            data: volume.data_directories(),
            tables: kept.and_then(|kept| kept.tables.clone()),
            keyspaces: kept.and_then(|kept| kept.keyspaces.clone()),
            state: volume.journals(),
        })
    }

    pub(super) fn transfer_bench(&self, order: Transfer) -> Result<Bench> {
        let volume = self.volume.as_ref().context(NotKnown::Volume)?;
        let mounted = self.mounted.as_ref().map_err(|why| anyhow::anyhow!(why.clone()))?;
        let version = &mounted.config.version;
        let row = capabilities::of(version);
        let (mut tokens, mut kept) = (Vec::new(), None);
        if let Some(Noted::Record(record)) = self.transfers.notes.as_ref().map(|n| &n.record) {
            tokens.clone_from(&record.tokens);
            // Those of the time of the snapshot count, whatever the server says now.
            kept = record.kept.as_ref();
            if let Some(kept) = kept.filter(|_| tokens.is_empty()) {
                tokens.clone_from(&kept.tokens);
            }
        }
        let serves = self.reading().is_some_and(Reading::serves);
        Ok(Bench {
            own: self.own(kept)?,
            tokens,
            admin: self.admin.clone().filter(|_| serves),
            cql: self.endpoint(&mounted.config),
            life: row.map_or(SnapshotLife::Unlimited, |row| row.snapshot_life),
            truncating: Duration::from_secs(self.settings.truncate_seconds),
            batch_bytes: self.settings.restore_batch_bytes,
            restores: volume.restores(),
            placed: volume.placed(),
            launch: self.launch.as_ref().map(|l| (l.tag.clone(), self.launch_file())),
            order,
        })
    }
}
