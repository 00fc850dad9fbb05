//! Taking clients, once a member of a datacenter that was added to a ring has what it lacks: see
//! [`crate::decide::rebuild`].

use super::state::Agent;
use crate::admin::{ByDatacenter, Reading};
use crate::decide::rebuild::{self, Next, Shut};
use crate::report::ring;
use crate::volume::rebuilt::Rebuilt;
use crate::words::calls::{Doing, NotKnown};
use crate::words::job::Trouble;
use anyhow::{Context, Result};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_agent_core::launch_record::LaunchRecord as _;
use palladion_api::cluster::ClientAddresses;
use palladion_api::member::RebuildStatus;
use palladion_api::server_config::Opens;

impl Agent {
    /// When members take clients, where the configuration says so.
    pub(super) fn opens(&self) -> Option<Opens> {
        self.mounted.as_ref().ok()?.config.opens
    }

    /// Which address servers announce to clients, where the configuration says so.
    pub(super) fn client_addresses(&self) -> Option<ClientAddresses> {
        self.mounted.as_ref().ok()?.config.client_addresses
    }

    /// Was the server that runs started without its native transport, and did not take clients
    /// since?
    pub(super) fn awaits_rebuild(&self) -> bool {
        self.launch.as_ref().is_some_and(|launch| launch.awaits_rebuild)
    }

    /// Can the server be given work? One that is not rebuilt takes no clients.
    pub(super) fn is_at_work(&self, reading: &Reading) -> bool {
        reading.serves() || self.awaits_rebuild() && reading.is_full_member()
    }

    /// Follow the order to take clients: first the note, so that the next start is as this one.
    pub(super) async fn follow_opening(&mut self) {
        if let Some(why) = &self.copies.unknown {
            self.trouble = Some(Trouble::Copies { why: why.clone() }.into());
        }
        if let Err(error) = self.note_port() {
            self.trouble = Some(Trouble::Opening { why: format!("{error:#}") }.into());
        }
        let Some(ledger) = self.ledger() else { return };
        let shuts = rebuild::closes(&self.facts(), ledger);
        let lacks = self.lacks();
        let next = rebuild::opens(&self.facts(), ledger, lacks.as_deref());
        let done = match (next, shuts) {
            (Next::Nothing, Shut::Nothing) => Ok(()),
            (Next::Note, _) => self.note_open(),
            (Next::Call, _) => self.take_clients().await,
            (Next::Nothing, Shut::Note) => self.note_shut(),
            (Next::Nothing, Shut::Call) => self.refuse_clients().await,
        };
        if let Err(error) = done {
            self.trouble = Some(Trouble::Opening { why: format!("{error:#}") }.into());
        }
    }

    /// The keyspaces that this member lacks; none where they were not counted for the schema and
    /// the ring as they are.
    fn lacks(&self) -> Option<Vec<&String>> {
        let config = &self.mounted.as_ref().ok()?.config;
        let rebuilt = self.found.as_ref().ok()?.rebuilt.copies();
        let ByDatacenter { copies, uneven } = self.counted_now()?;
        Some(rebuild::in_the_way(&config.datacenter, copies, uneven, &rebuilt))
    }

    /// Copies by datacenter, as counted for the schema and the ring as they are.
    fn counted_now(&self) -> Option<&ByDatacenter> {
        let reading = self.reading().filter(|r| r.schema_agreed == Some(true))?;
        let of = (reading.schema_version.clone(), ring::summary(reading)?.hash);
        let counted = &self.copies;
        let is_fresh = counted.of == of && !counted.by_datacenter.copies.is_empty();
        is_fresh.then_some(&counted.by_datacenter)
    }

    /// Is it noted what this member has? Its datacenter was added, or leaves.
    fn notes_rebuilt(&self) -> bool {
        let is_closed = || self.found.as_ref().is_ok_and(|found| found.rebuilt.closed);
        self.opens().is_some() || is_closed()
    }

    /// Forget what was rebuilt and does not hold any more, as it was just counted.
    pub(super) fn forget_rebuilt(&mut self) {
        let counted = &self.copies.by_datacenter.copies;
        let (true, Ok(mounted), Some(reading)) =
            (self.notes_rebuilt() && !counted.is_empty(), self.mounted.as_ref(), self.reading())
        else {
            return;
        };
        let own = &mounted.config.datacenter;
        let here = rebuild::copies_in(own, counted);
        let members = reading.members.iter().flatten();
        let members = members.filter(|m| m.datacenter.as_ref() == Some(own)).count();
        let members = u32::try_from(members).unwrap_or(u32::MAX);
        let uneven = &self.copies.by_datacenter.uneven;
        let Some(volume) = &self.volume else { return };
        let noted = volume.change_rebuilt(|noted| {
            noted.keyspaces.retain(|name, _| !uneven.contains(name));
            noted.forget(&here, members);
        });
        match (noted, &mut self.found) {
            (Ok(rebuilt), Ok(found)) => found.rebuilt = rebuilt,
            (Ok(_), Err(_)) => {}
            (Err(error), _) => {
                // Counted again, and nothing is opened meanwhile.
                self.copies.by_datacenter = ByDatacenter::default();
                self.copies.unknown = Some(format!("{error:#}"));
            }
        }
    }

    /// That the port was seen up outlives the agent: from then on a call to close it does so.
    fn note_port(&mut self) -> Result<()> {
        let is_open = self.reading().is_some_and(|r| r.native_transport == Some(true));
        let Some(launch) = self.launch.as_mut().filter(|l| is_open && !l.was_open) else {
            return Ok(());
        };
        launch.was_open = true;
        launch.save(&self.settings.pod.launch_file())?;
        Ok(())
    }

    fn note_open(&mut self) -> Result<()> {
        self.change_rebuilt(Rebuilt::opened)?;
        tracing::info!("the member is rebuilt, and is opened to clients");
        Ok(())
    }

    /// On the volume, and in what was found there.
    fn change_rebuilt(&mut self, change: impl FnOnce(&mut Rebuilt)) -> Result<()> {
        let volume = self.volume.as_ref().context(NotKnown::Volume)?;
        let rebuilt = volume.change_rebuilt(change)?;
        if let Ok(found) = &mut self.found {
            found.rebuilt = rebuilt;
        }
        Ok(())
    }

    /// The note comes first: whatever ends in between, the next start is closed. What the member
    /// has is noted with it, so that it is known if the datacenter stays after all; until it is
    /// counted it takes clients.
    fn note_shut(&mut self) -> Result<()> {
        let has = match (self.opens(), self.mounted.as_ref(), self.counted_now()) {
            (Some(_), _, _) => None,
            (None, Ok(mounted), Some(counted)) => {
                let mut here = rebuild::copies_in(&mounted.config.datacenter, &counted.copies);
                here.retain(|keyspace, _| !counted.uneven.contains(keyspace));
                Some(here)
            }
            (None, _, _) => return Ok(()),
        };
        self.change_rebuilt(|noted| noted.shut(has.as_ref(), Timestamp::now()))?;
        tracing::info!("the datacenter leaves its ring, and the member takes no clients");
        Ok(())
    }

    /// The call before the record: one that was not called is called by the next turn. That it was
    /// open until now is noted before both: what it has taken is in no repair of earlier.
    async fn refuse_clients(&mut self) -> Result<()> {
        self.change_rebuilt(|noted| noted.close_at(Timestamp::now()))?;
        let admin = self.admin.clone().context(NotKnown::Server)?;
        admin.stop_native_transport().await.context(Doing::StopNativeTransport)?;
        self.record_awaits_rebuild(true)
    }

    async fn take_clients(&mut self) -> Result<()> {
        let admin = self.admin.clone().context(NotKnown::Server)?;
        admin.start_native_transport().await.context(Doing::StartNativeTransport)?;
        self.record_awaits_rebuild(false)
    }

    /// Beside the server that runs; the next look is due.
    fn record_awaits_rebuild(&mut self, awaits: bool) -> Result<()> {
        let Some(mut record) = self.launch.clone() else { return Ok(()) };
        record.awaits_rebuild = awaits;
        record.save(&self.settings.pod.launch_file())?;
        (self.launch, self.looked) = (Some(record), None);
        Ok(())
    }

    /// What an operation has noted on the volume.
    pub(super) fn read_rebuilt(&mut self) {
        let is_asked = self.notes_rebuilt();
        if let (true, Some(volume), Ok(found)) = (is_asked, &self.volume, &mut self.found) {
            found.rebuilt = volume.rebuilt();
        }
    }

    /// What is reported of it.
    pub(super) fn told_rebuilt(&self) -> Option<RebuildStatus> {
        if !self.notes_rebuilt() {
            return None;
        }
        let rebuilt = &self.found.as_ref().ok()?.rebuilt;
        let closed_at = rebuilt.closed_at.map(Time);
        Some(RebuildStatus { open: rebuilt.open, closed_at, keyspaces: rebuilt.copies() })
    }
}
