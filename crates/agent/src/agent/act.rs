//! Act: carry out one action. Makes no choices; what must survive is in the
//! ledger before it is done.

use super::state::{Agent, BeginAsked, Done};
use crate::decide::{Action, Cause, LeaveCall, Start, StopWhy, Then, closed, rebuild, seal};
use crate::launch::{self, Prepared};
use crate::launch_record::LaunchRecord;
use crate::leave;
use crate::render::Door;
use crate::transfer::placed;
use crate::volume::Data;
use crate::volume::ledger::{End, Ledger};
use crate::volume::roles::Note;
use crate::volume::tokens::FirstTokens;
use crate::words::calls::NotKnown;
use crate::words::job::Trouble;
use anyhow::{Context, Result, anyhow, bail};
use jiff::Timestamp;
use palladion_agent_core::launch_record::LaunchRecord as _;
use palladion_agent_core::words::calls::Doing;
use palladion_api::ids::{HostId, Nonce, StaticAddress, VolumeId};
use palladion_api::member::{IntentKind, PermitState};
use std::time::Instant;

impl Agent {
    pub(super) async fn act(&mut self, action: Action) -> Result<()> {
        match action {
            Action::Nothing => Ok(()),
            Action::TakeVolume { successor_of } => self.take_volume(successor_of),
            Action::Ban(ban) => {
                let pod = self.settings.pod.uid.clone();
                self.change_ledger(|ledger| ledger.ban_for_good(ban, pod))
            }
            Action::RecordLeft => self.change_ledger(|ledger| ledger.follow(Then::Left)),
            Action::RecordOther { host_id } => {
                tracing::error!(
                    host_id = host_id.as_str(),
                    "the server came up as somebody else; none starts on this volume again"
                );
                let noted = self.change_ledger(|ledger| ledger.came_up_as = Some(host_id));
                if noted.is_err() {
                    // Without the note none is launched either: a launch is noted first.
                    self.stop(StopWhy::OtherHostId);
                }
                noted
            }
            Action::SettlePermit { nonce, state, message } => {
                let message = message.map(|m| m.to_string());
                tracing::info!(nonce = nonce.as_str(), state = ?state, message, "permit settled");
                self.change_ledger(|ledger| ledger.set_permit(&nonce, state, message))
            }
            Action::SettleIntent { nonce, state, message, then } => {
                let message = message.map(|m| m.to_string());
                tracing::info!(nonce = nonce.as_str(), state = ?state, message, "intent settled");
                self.change_ledger(|ledger| {
                    ledger.set_intent(&nonce, state, message, Timestamp::now());
                    ledger.follow(then);
                })
            }
            Action::RecordNormal { host_id, address } => self.record_normal(host_id, address),
            Action::AskBegin { of } => {
                let nonce = Nonce::new(uuid::Uuid::new_v4());
                tracing::info!(nonce = of.as_str(), "asking whether it may be begun");
                self.asked = Some(BeginAsked { nonce, of, at: Instant::now() });
                Ok(())
            }
            Action::Start(start) => self.start(start).await,
            Action::Stop(why) => {
                self.stop(why);
                Ok(())
            }
            Action::Drain { nonce } => self.drain(nonce),
            Action::Leave { nonce } => self.leave(&nonce),
        }
    }

    /// Change the ledger; what is in memory is what is on the disk.
    pub(super) fn change_ledger(&mut self, change: impl FnOnce(&mut Ledger)) -> Result<()> {
        let mut ledger = self.ledger().cloned().context(NotKnown::Ledger)?;
        change(&mut ledger);
        self.save_ledger(ledger)
    }

    fn save_ledger(&mut self, ledger: Ledger) -> Result<()> {
        let volume = self.volume.as_ref().context(NotKnown::Volume)?;
        volume.save(&ledger)?;
        if let Ok(found) = &mut self.found {
            found.ledger = Some(ledger);
        }
        Ok(())
    }

    fn take_volume(&mut self, successor_of: Option<VolumeId>) -> Result<()> {
        let volume = self.volume.as_ref().context(NotKnown::Volume)?;
        let ledger = volume.take(&self.settings.pod.name, successor_of)?;
        tracing::info!(
            volume = ledger.volume_id.as_str(),
            successor_of = ledger.successor_of.as_ref().map(VolumeId::as_str),
            "volume taken into use"
        );
        if let Some(saved) = &self.saved {
            volume.save_member(saved)?;
        }
        self.found = volume.inspect().map_err(|e| format!("{e:#}"));
        Ok(())
    }

    fn record_normal(&mut self, host_id: HostId, address: StaticAddress) -> Result<()> {
        tracing::info!(
            host_id = host_id.as_str(),
            address = address.as_str(),
            "the server is a full member"
        );
        if let Ok(found) = &mut self.found {
            found.data = Data::Present;
        }
        self.change_ledger(|ledger| ledger.record_normal(host_id, address, Timestamp::now()))
    }

    async fn start(&mut self, start: Start) -> Result<()> {
        let mounted = self.mounted.clone().map_err(|why| anyhow!(why))?;
        let spec = self.saved.as_ref().map(|s| s.spec.clone()).context(NotKnown::Spec)?;
        let config = &mounted.config;
        if (&config.ring, &config.datacenter, &config.rack)
            != (&spec.ring, &spec.datacenter, &spec.rack)
        {
            bail!(Trouble::OtherPlace {
                mounted: format!("{}/{}/{}", config.ring, config.datacenter, config.rack),
                member: format!("{}/{}/{}", spec.ring, spec.datacenter, spec.rack),
            });
        }
        if let Cause::Permit { nonce, .. } = &start.cause
            && !self.may_begin_still(nonce)
        {
            return Ok(());
        }
        if let (Cause::Permit { nonce, .. }, Err(why)) =
            (&start.cause, launch::fits(config, &start.identity.entry))
        {
            let why = Some(why.to_string());
            return self.change_ledger(|ledger| {
                ledger.set_permit(nonce, PermitState::Refused, why);
            });
        }
        // First what may fail: a permit is not used up by an image without Java.
        let volume = self.volume.as_ref().context(NotKnown::Volume)?;
        // Not yet the server's: it takes them when it is asked to, and never by a start.
        placed::remove(volume)?;
        let note = self.found.as_ref().map(|found| found.note.clone()).unwrap_or_default();
        let rewind = self.rewind(start.identity.door);
        let volume = self.volume.as_ref().context(NotKnown::Volume)?;
        let (certificate, of) = (&mut self.issued, (volume, note.roles));
        let how = (&start.identity, rewind.as_ref());
        let Prepared { launch, record, keys } =
            launch::prepare(&self.settings, of, certificate, &mounted, how)?;
        let mut ledger = self.ledger().cloned().context(NotKnown::Ledger)?;
        if let Cause::Permit { nonce, data, .. } = &start.cause
            && let Err(error) = volume.prepare(*data, &mut ledger)
        {
            let why = format!("{error:#}");
            tracing::warn!(
                nonce = nonce.as_str(),
                why,
                "the data directories cannot be prepared; permit refused"
            );
            return self.change_ledger(|ledger| {
                ledger.set_permit(nonce, PermitState::Refused, Some(why));
            });
        }
        if let Cause::Permit { nonce, .. } = &start.cause
            && !self.may_begin_still(nonce)
        {
            return Ok(());
        }
        let cause = ledger.use_cause(&start.cause, &start.identity.address);
        ledger.ring = Some(spec.ring.clone());
        ledger.restart_token.clone_from(&spec.restart_token);
        ledger.begin_start(&record.tag, &cause, &record.seeds, Timestamp::now());
        let owner = self.found.as_ref().ok().and_then(|found| found.owner.as_ref());
        if owner != Some(&self.settings.pod.name) {
            volume.note_owner(&ledger, &self.settings.pod.name)?;
        }
        // Before anything of it: whatever ends in between, the next start is sealed, or closed, too.
        let roles = seal::noted_before(&start, &self.guards(), note.roles);
        let closed = closed::noted_before(&start, note.closed);
        let note = Note { roles, closed, ..note };
        let opens = mounted.config.opens;
        if opens.is_some() || self.found.as_ref().is_ok_and(|found| found.rebuilt.closed) {
            let permit = spec.start.as_ref();
            let rebuilt = volume.change_rebuilt(|noted| {
                *noted = rebuild::noted_before(opens, &start.cause, permit, std::mem::take(noted));
            })?;
            if let Ok(found) = &mut self.found {
                found.rebuilt = rebuilt;
            }
        }
        if self.found.as_ref().is_ok_and(|found| found.note != note) {
            volume.save_note(&note)?;
            if let Ok(found) = &mut self.found {
                found.note = note;
            }
        }
        if let (false, Ok(found)) = (closed, &mut self.found) {
            // Of a restore that is over, or was never begun: they would close it by a torn note.
            volume.remove_tokens()?;
            found.tokens = FirstTokens::None;
        }
        if start.identity.door == Door::Sealed {
            self.keys = keys;
        }
        self.asked = None;
        self.save_ledger(ledger)?;
        record.save(&self.settings.pod.launch_file())?;
        self.note_run(&record);
        tracing::info!(cause, seeds = StaticAddress::list(&record.seeds), "starting the server");
        self.metrics.common.server_starts.inc();
        self.last_words = None;
        let answer = self.supervisor.launch(launch).await;
        self.after_launch(record, answer.map_err(anyhow::Error::from)).await
    }

    async fn after_launch(&mut self, record: LaunchRecord, answer: Result<()>) -> Result<()> {
        let Err(error) = answer else {
            self.gather().await;
            return Ok(());
        };
        let text = format!("{error:#}");
        self.change_ledger(|ledger| {
            if ledger.last_start().is_some_and(|s| s.tag == record.tag) {
                ledger.end_start(End::Died, Timestamp::now(), None, Some(text.clone()));
            }
        })?;
        self.last_words = Some(crate::decide::LastWords {
            reason: palladion_api::reasons::Reason::ServerFailed,
            text,
        });
        Err(error).context(Doing::StartServer)
    }

    /// Is the answer good still by which this is begun? The process may have been stopped since it
    /// was looked at; then it is asked once more. What needs no answer has asked nothing.
    fn may_begin_still(&self, of: &Nonce) -> bool {
        let asked = self.asked.as_ref().filter(|asked| asked.of == *of);
        asked.is_none_or(|asked| !asked.as_of_now().is_void())
    }

    fn leave(&mut self, nonce: &Nonce) -> Result<()> {
        if !self.may_begin_still(nonce) {
            return Ok(());
        }
        self.asked = None;
        let admin = self.admin.clone().context(NotKnown::Server)?;
        self.change_ledger(|ledger| ledger.begin_leave(nonce, Timestamp::now()))?;
        tracing::info!(nonce = nonce.as_str(), "leaving the ring");
        self.leave_call = LeaveCall::UnderWay;
        let done = self.done.clone();
        let intent = self.saved.as_ref().and_then(|saved| saved.spec.intent.as_ref());
        // Of an intent that is gone, what was begun is called for again, and nothing by force.
        let kind = intent.filter(|intent| intent.nonce == *nonce).map(|intent| intent.kind);
        let kind = kind.unwrap_or(IntentKind::Decommission);
        let datacenter = self.mounted.as_ref().map(|m| m.config.datacenter.clone());
        let datacenter = datacenter.unwrap_or_default();
        tokio::spawn(async move {
            let left = leave::leave(admin.as_ref(), kind, &datacenter).await;
            let answer = left.map_err(|e| format!("{e:#}"));
            let _ = done.send(Done::Left(answer)).await;
        });
        Ok(())
    }
}
