//! Act: carry out one action. Makes no choices; what must survive is in the ledger
//! before it is done.

use super::state::Agent;
use crate::decide::{Action, LastWords, Start};
use crate::launch::{self, Place, Record};
use crate::volume::Data;
use crate::volume::ledger::{App, End, Entered, Ledger};
use crate::words::agent::Trouble;
use crate::words::calls::NotKnown;
use anyhow::{Context, Result, anyhow, bail};
use jiff::Timestamp;
use palladion_agent_core::launch_record::LaunchRecord as _;
use palladion_agent_core::words::calls::Doing;
use palladion_api::ids::{Nonce, VolumeId};
use palladion_api::member::IntentState;
use palladion_api::reasons::Reason;
use palladion_api::service_member::{ServiceMemberSpec, ServiceSystem};

impl Agent {
    pub(super) async fn act(&mut self, action: Action) -> Result<()> {
        match action {
            Action::Nothing => Ok(()),
            Action::TakeVolume { successor_of } => self.take_volume(successor_of),
            Action::Terminate => {
                let pod = self.settings.pod.uid.clone();
                tracing::info!("no node is started on this data again");
                self.change_ledger(|ledger| ledger.terminate(pod))
            }
            Action::SettlePermit { nonce, state, message } => {
                let message = message.map(|m| m.to_string());
                tracing::info!(nonce = nonce.as_str(), state = ?state, message, "permit settled");
                self.change_ledger(|ledger| ledger.set_permit(&nonce, state, message))
            }
            Action::SettleIntent { nonce, state, message } => {
                let message = message.map(|m| m.to_string());
                tracing::info!(nonce = nonce.as_str(), state = ?state, message, "intent settled");
                self.change_ledger(|ledger| {
                    ledger.set_intent(&nonce, state, message, Timestamp::now());
                })
            }
            Action::BeginLeave { nonce } => {
                tracing::info!(nonce = nonce.as_str(), "leaving the cluster");
                self.change_ledger(|ledger| ledger.begin_leave(&nonce, Timestamp::now()))
            }
            Action::BeginStopApp { nonce } => self.begin_stop_app(&nonce),
            Action::RecordEntered => {
                tracing::info!("the node is in its cluster by its own files");
                self.record_entered()
            }
            Action::RecordMember => self.record_member(),
            Action::RecordServed => self.record_served(),
            Action::Start(start) => self.start(start).await,
            Action::Stop(why) => {
                self.stop(why);
                Ok(())
            }
            Action::Work(work) => self.begin_work(work),
        }
    }

    /// Change the ledger; what is in memory is what is on the disk.
    pub(super) fn change_ledger(&mut self, change: impl FnOnce(&mut Ledger)) -> Result<()> {
        let mut ledger = self.ledger().cloned().context(NotKnown::Ledger)?;
        change(&mut ledger);
        self.volume.save(&ledger)?;
        if let Ok(found) = &mut self.found {
            found.ledger = Some(ledger);
        }
        Ok(())
    }

    fn take_volume(&mut self, successor_of: Option<VolumeId>) -> Result<()> {
        let ledger = self.volume.take(&self.settings.pod.name, successor_of)?;
        tracing::info!(
            volume = ledger.volume_id.as_str(),
            successor_of = ledger.successor_of.as_ref().map(VolumeId::as_str),
            "volume taken into use"
        );
        if let Some(saved) = &self.saved {
            self.volume.save_member(saved)?;
        }
        self.look_over();
        Ok(())
    }

    fn begin_stop_app(&mut self, nonce: &Nonce) -> Result<()> {
        tracing::info!(nonce = nonce.as_str(), "stopping the application of the node");
        self.change_ledger(|ledger| {
            ledger.counter = ledger.counter.saturating_add(1);
            ledger.app = App::Stopped;
            ledger.set_intent(nonce, IntentState::Running, None, Timestamp::now());
        })
    }

    fn record_entered(&mut self) -> Result<()> {
        self.change_ledger(|ledger| ledger.entered = Entered::Yes)?;
        // It was looked at before the application of the node has written anything.
        self.look_over();
        Ok(())
    }

    fn record_member(&mut self) -> Result<()> {
        tracing::info!("the node is a member of the cluster");
        if let Ok(found) = &mut self.found {
            // As it is since the node runs: it was empty when it was looked at.
            found.data = Data::Whole;
        }
        self.note_parts(|ledger| ledger.record_member(Timestamp::now()))
    }

    fn record_served(&mut self) -> Result<()> {
        self.note_parts(|ledger| ledger.record_served(Timestamp::now()))
    }

    /// Note which parts of its data a node that serves has: none of them may be gone later.
    fn note_parts(&mut self, change: impl FnOnce(&mut Ledger)) -> Result<()> {
        let node = self.node().context(crate::words::files::Missing::NodeName)?;
        let kinds = self.volume.kinds(&node)?;
        self.change_ledger(|ledger| {
            ledger.parts = kinds;
            change(ledger);
        })
    }

    async fn start(&mut self, start: Start) -> Result<()> {
        let mounted = self.mounted.clone().map_err(|why| anyhow!(why))?;
        let spec = self.saved.as_ref().map(|s| s.spec.clone()).context(NotKnown::Spec)?;
        check(&spec, &mounted.config.cluster)?;
        let image = self.image()?;
        let place = Place {
            volume: &self.volume,
            image: &image,
            credentials: &self.credentials,
            run: &self.settings.pod.run_dir,
            tmp: &self.settings.pod.tmp_dir,
        };
        // First what may fail: a permit is not used up by an image without RabbitMQ.
        let (launch, record) = launch::launch(&place, &mounted, &start)?;
        let mut ledger = self.ledger().cloned().context(NotKnown::Ledger)?;
        let cause = ledger.use_cause(&start.cause, start.node.clone(), &start.address);
        if start.entry.is_kept() {
            ledger.entered = Entered::Asked;
        }
        ledger.app = App::Runs;
        ledger.cluster = Some(spec.cluster.clone());
        ledger.restart_token.clone_from(&spec.restart_token);
        ledger.begin_start(&record.tag, &cause, Timestamp::now());
        let owner = self.found.as_ref().ok().and_then(|found| found.owner.as_ref());
        if owner != Some(&self.settings.pod.name) {
            self.volume.note_owner(&ledger, &self.settings.pod.name)?;
        }
        self.change_ledger(|old| *old = ledger)?;
        record.save(&self.settings.pod.launch_file())?;
        let node = start.node.to_string();
        tracing::info!(cause, node, "starting the node");
        self.metrics.common.server_starts.inc();
        (self.last_words, self.labour.failed) = (None, None);
        let answer = self.supervisor.launch(launch).await;
        self.after_launch(record, answer.map_err(anyhow::Error::from)).await
    }

    async fn after_launch(&mut self, record: Record, answer: Result<()>) -> Result<()> {
        let Err(error) = answer else {
            self.gather().await;
            return Ok(());
        };
        let text = format!("{error:#}");
        self.change_ledger(|ledger| {
            if ledger.last_start().is_some_and(|start| start.tag == record.tag) {
                ledger.end_start(End::Died, Timestamp::now(), None, Some(text.clone()));
            }
        })?;
        self.last_words = Some(LastWords { reason: Reason::ServerFailed, text });
        Err(error).context(Doing::StartServer)
    }
}

/// Is the pod one of this member's?
fn check(spec: &ServiceMemberSpec, mounted: &str) -> Result<()> {
    if spec.system != ServiceSystem::RabbitMQ {
        bail!(Trouble::OtherSystem { system: format!("{:?}", spec.system) });
    }
    if spec.cluster != mounted {
        let (mounted, member) = (mounted.to_string(), spec.cluster.clone());
        bail!(Trouble::OtherCluster { mounted, member });
    }
    Ok(())
}
