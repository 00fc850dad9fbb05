//! What the spec asks for while the server runs: seeds, settings, questions.

use super::state::{Agent, Copies, Counts, Done, Question};
use crate::admin::{self, ByDatacenter, Reading, ServerAdmin};
use crate::decide::elsewhere;
use crate::decide::operation::Worker;
use crate::decide::{Process, Source};
use crate::launch;
use crate::render::{Clients, Door, Entry, Identity};
use crate::report::ring;
use crate::runtime;
use crate::volume::ledger::Membership;
use crate::words::job::Trouble;
use jiff::Timestamp;
use palladion_agent_core::launch_record::LaunchRecord as _;
use palladion_api::cluster::Mode;
use palladion_api::ids::StaticAddress;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Copies that could not be counted are counted again after this.
const COUNT_AGAIN: Duration = Duration::from_secs(5);

/// A server that does not answer a question in this time could not be asked.
const QUESTION_TIME: Duration = Duration::from_secs(8);

impl Agent {
    pub(super) fn worker(&self) -> Worker {
        let at_work = self.job.is_some() || self.task.is_some();
        if at_work { Worker::Busy } else { Worker::Idle }
    }

    /// New seeds of a full member: written to its file and read again, without a restart.
    pub(super) async fn follow_seeds(&mut self) {
        let serves = self.reading().is_some_and(|reading| self.is_at_work(reading));
        let joined = self.ledger().is_some_and(|l| l.membership == Membership::Joined);
        let (true, true, Source::Live) = (serves, joined, self.source()) else {
            return;
        };
        let (Some(saved), Some(launch), Ok(mounted), Some(admin)) =
            (&self.saved, &self.launch, &self.mounted, &self.admin)
        else {
            return;
        };
        // Scylla reads its seeds at its first start only.
        let view = self.reading().and_then(|reading| reading.members.as_deref());
        let seeds = elsewhere::listed(
            &saved.spec,
            &self.elsewhere(),
            view.unwrap_or_default(),
            &launch.seeds,
        );
        // Without a view nobody is known to be a member: that is no reason to forget them.
        let is_blind = view.is_none() && !saved.spec.external_seeds.is_empty();
        if saved.spec.seeds.is_empty()
            || seeds == launch.seeds
            || is_blind
            || mounted.config.mode == Mode::Scylla
        {
            return;
        }
        let Some(address) = saved.spec.address.clone() else {
            return;
        };
        // A sealed server does not serve.
        let door = match (launch.closed, launch.awaits_rebuild) {
            (true, _) => Door::Closed,
            (false, true) => Door::AwaitsRebuild,
            (false, false) => Door::Open,
        };
        let clients = launch.client_address.clone().map_or(Clients::AsMembers, Clients::At);
        let identity = Identity { address, clients, seeds, entry: Entry::Plain, door };
        let mut record = launch.clone();
        record.seeds.clone_from(&identity.seeds);
        let written = launch::write_server_yaml(&self.settings, mounted, &identity);
        let outcome = match written {
            Ok(()) => admin.reload_seeds().await.map_err(anyhow::Error::from),
            Err(error) => Err(error),
        };
        match outcome.and_then(|()| record.save(&self.settings.pod.launch_file())) {
            Ok(()) => {
                tracing::info!(seeds = StaticAddress::list(&record.seeds), "seeds reloaded");
                self.launch = Some(record);
                self.looked = None;
            }
            Err(error) => self.trouble = Some(Trouble::Seeds { why: format!("{error:#}") }.into()),
        }
    }

    /// Runtime settings: told to a server that answers, whatever it is doing. A
    /// join can be slowed down while it streams.
    pub(super) async fn follow_runtime_settings(&mut self) {
        let (Some(saved), Some(launch), Some(admin), true) =
            (&self.saved, &self.launch, &self.admin, self.reading().is_some())
        else {
            return;
        };
        let wanted = &runtime::known(&saved.spec.runtime_settings);
        if *wanted == launch.runtime {
            return;
        }
        let mut record = launch.clone();
        record.runtime.clone_from(wanted);
        let told = async {
            let before = match launch.runtime_before.clone() {
                Some(before) => before,
                None => self.without_job(admin.runtime().await?),
            };
            let change = runtime::change(&before, &launch.runtime, wanted);
            admin.change_runtime(&change).await?;
            record.runtime_before = Some(before);
            record.save(&self.settings.pod.launch_file())
        };
        match told.await {
            Ok(()) => {
                tracing::info!(settings = ?record.runtime, "runtime settings changed");
                self.launch = Some(record);
            }
            Err(error) => {
                let why = format!("{error:#}");
                self.trouble = Some(Trouble::RuntimeSettings { why }.into());
            }
        }
    }

    /// Count the copies of each keyspace again when schema or ring has changed:
    /// the one look that costs the server more than a moment, taken beside the loop.
    pub(super) fn count_copies(&mut self) {
        let Some(reading) =
            self.reading().filter(|r| self.is_at_work(r) && r.schema_agreed == Some(true))
        else {
            return;
        };
        let datacenters = self.datacenters(reading);
        let Some(summary) = ring::summary(reading) else {
            return;
        };
        let of = (reading.schema_version.clone(), summary.hash);
        let waits = self.copies.tried.is_some_and(|tried| tried.elapsed() < COUNT_AGAIN);
        let is_counted = of == self.copies.of && self.copies.unknown.is_none();
        let is_known = is_counted || self.copies.is_under_way;
        let (false, false, Some(admin)) = (waits, is_known, self.admin.clone()) else {
            return;
        };
        self.remove_leftovers();
        (self.copies.is_under_way, self.copies.tried) = (true, Some(Instant::now()));
        let done = self.done.clone();
        tokio::spawn(async move {
            let counts = counted(admin.as_ref(), datacenters.as_ref()).await;
            let _ = done.send(Done::Counted { of, counts }).await;
        });
    }

    /// The datacenter of each member, where copies are counted by it: a ring that has one reports
    /// nothing more.
    fn datacenters(&self, reading: &Reading) -> Option<BTreeMap<StaticAddress, String>> {
        let known = reading.datacenters();
        let names: BTreeSet<&String> = known.values().collect();
        let is_asked = self.opens().is_some() || names.len() > 1;
        is_asked.then_some(known)
    }

    /// Note what was counted.
    pub(super) fn note_copies(
        &mut self,
        of: (Option<String>, String),
        counts: Result<Counts, admin::Error>,
    ) {
        self.copies.is_under_way = false;
        match counts {
            Ok((counts, by_datacenter)) => {
                let tried = self.copies.tried;
                let (by_datacenter, unknown) = match by_datacenter {
                    Ok(known) => (known, None),
                    Err(error) => {
                        let why = format!("{:#}", anyhow::Error::from(error));
                        (ByDatacenter::default(), Some(why))
                    }
                };
                let tried = tried.filter(|_| unknown.is_some());
                self.copies =
                    Copies { of, counts, by_datacenter, unknown, tried, ..Copies::default() };
                self.forget_rebuilt();
            }
            Err(error) => tracing::debug!(
                error = format!("{:#}", anyhow::Error::from(error)),
                "copies are not counted yet"
            ),
        }
    }

    /// Of a leave that was tried again: looked for when the ring has changed.
    fn remove_leftovers(&self) {
        match self.volume.as_ref().map(crate::volume::Volume::remove_leftovers) {
            Some(Ok(removed)) if removed > 0 => {
                tracing::info!(removed, "snapshots of streamed ranges removed");
            }
            Some(Ok(_)) | None => {}
            Some(Err(error)) => tracing::warn!(
                error = format!("{error:#}"),
                "snapshots of streamed ranges cannot be removed"
            ),
        }
    }

    /// Notice a question, so that the look which answers it is taken after it.
    pub(super) fn notice_question(&mut self) {
        let asked =
            self.saved.as_ref().and_then(|s| s.spec.evidence.as_ref()).map(|e| e.nonce.clone());
        let Some(nonce) = asked.filter(|_| self.source() == Source::Live) else {
            self.question = None;
            return;
        };
        let answered = self.evidence.as_ref().is_some_and(|e| e.nonce == nonce);
        let known = self.question.as_ref().is_some_and(|q| q.nonce == nonce);
        match (answered, known) {
            (true, _) => self.question = None,
            (false, true) => {}
            (false, false) => {
                self.question = Some(Question { nonce, seen: Instant::now() });
                self.looked = None;
            }
        }
    }

    /// Answer a question from a look that was begun after it was seen.
    pub(super) fn answer_question(&mut self) {
        let Some(question) = &self.question else {
            return;
        };
        let fresh = self.look.as_ref().filter(|l| l.begun >= question.seen).map(|l| &l.reading);
        let answer = match (&self.process, fresh) {
            (Process::Running, Some(reading)) => Some(reading),
            (Process::Running, None) if question.seen.elapsed() < QUESTION_TIME => return,
            (Process::Running | Process::Absent | Process::Unknown(_), _) => None,
        };
        let volume = self.volume.as_ref();
        let free = volume.and_then(|volume| match volume.free_bytes() {
            Ok(free) => Some(free),
            Err(error) => {
                tracing::warn!(error = format!("{error:#}"), "how full the disk is, is not known");
                None
            }
        });
        let now = Timestamp::now();
        self.evidence = Some(ring::evidence(&question.nonce, answer, free, now));
        self.question = None;
    }
}

async fn counted(
    admin: &dyn ServerAdmin,
    datacenters: Option<&BTreeMap<StaticAddress, String>>,
) -> Result<Counts, admin::Error> {
    // What keeps a leave or a rack needs no other datacenter.
    let copies = admin.copies().await?;
    let by_datacenter = match datacenters {
        Some(datacenters) => admin.copies_by_datacenter(datacenters, None).await,
        None => Ok(ByDatacenter::default()),
    };
    Ok((copies, by_datacenter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::place::Place;

    /// A member elsewhere that was down when this server started is in no datacenter: what keeps a
    /// leave or a rack here is counted all the same.
    #[tokio::test]
    async fn copies_are_counted_where_a_datacenter_is_not_known() {
        let place = Place::new();
        place.state().no_datacenter = true;
        let known = BTreeMap::new();
        let (copies, by_datacenter) = counted(place.fake.as_ref(), Some(&known)).await.unwrap();
        assert_eq!(copies, [("shop".to_string(), 2)].into());
        assert!(by_datacenter.is_err());
    }
}
