//! What the agent's actions do to a simulated disk and server. Makes no
//! choices: the ledger changes as the real one's does.

use super::agent::{Agent, Reach};
use super::ring::{BOOT, Phase, Server, Shown};
use palladion_agent::decide::{Action, Cause, DrainCall, LeaveCall, Start, StopWhy, Then};
use palladion_agent::issued::Reads;
use palladion_agent::render::{Door, Entry};
use palladion_agent::volume;
use palladion_agent::volume::ledger::{Ban, Ledger, Membership};
use palladion_api::ids::{Nonce, VolumeId};
use palladion_api::member::{BeginQuestion, DataBeforeStart, MemberState, PermitState};

impl Agent {
    pub(super) fn act(&mut self, action: Action, reach: &mut Reach<'_>) {
        let now = self.clock_at(reach.now);
        match action {
            Action::Nothing => {}
            Action::TakeVolume { successor_of } => {
                *reach.volumes += 1;
                let id = VolumeId::new(format!("volume-{}", reach.volumes));
                if let Some(disk) = reach.disks.get_mut(&self.pod.disk) {
                    disk.content.marker = Some(id.clone());
                    disk.content.owner = Some(self.member.clone());
                    disk.content.ledger = Some(Ledger::new(id, successor_of));
                    disk.content.saved.clone_from(&self.saved);
                    self.found = Some(disk.content.inspect(format!("fs-{}", self.pod.disk)));
                }
            }
            Action::Ban(ban) => {
                let pod = self.uid.clone();
                self.change_ledger(reach, |ledger| ledger.ban_for_good(ban, pod));
            }
            Action::RecordLeft => self.change_ledger(reach, |ledger| ledger.follow(Then::Left)),
            Action::RecordOther { host_id } => {
                self.change_ledger(reach, |ledger| ledger.came_up_as = Some(host_id));
            }
            Action::SettlePermit { nonce, state, message } => {
                let message = message.map(|m| m.to_string());
                self.change_ledger(reach, |ledger| ledger.set_permit(&nonce, state, message));
            }
            Action::SettleIntent { nonce, state, message, then } => {
                let message = message.map(|m| m.to_string());
                self.change_ledger(reach, |ledger| {
                    ledger.set_intent(&nonce, state, message, now);
                    ledger.follow(then);
                });
            }
            Action::RecordNormal { host_id, address } => {
                if let Some(found) = &mut self.found {
                    found.data = volume::Data::Present;
                }
                self.change_ledger(reach, |ledger| ledger.record_normal(host_id, address, now));
            }
            Action::AskBegin { of } => {
                let nonce = Nonce::new(format!("{}-{}", self.uid, reach.now.as_millisecond()));
                self.asked = Some((BeginQuestion { nonce, of }, reach.now));
            }
            Action::Start(start) => {
                if self.asked.take().is_some() {
                    reach.ring.begun_under_lock.push(self.member.to_string());
                }
                self.start(&start, reach);
            }
            Action::Stop(why) => {
                self.stopping = Some(why);
                if why == StopWhy::Rewinds {
                    self.stops_to_rewind();
                }
                reach
                    .ring
                    .told
                    .push(format!("{} drains and stops its server: {why:?}", self.pod.key.name));
                reach.ring.stop_in_order(self.pod.uid.as_str(), reach.now);
            }
            Action::Drain { nonce } => {
                reach.ring.told.push(format!("{} drains its server", self.pod.key.name));
                self.drain_call = Some(DrainCall { nonce, answer: Some(Ok(())) });
                reach.ring.drain(self.pod.uid.as_str(), reach.now);
            }
            Action::Leave { nonce } => {
                if self.asked.take().is_some() {
                    reach.ring.begun_under_lock.push(self.member.to_string());
                }
                self.change_ledger(reach, |ledger| ledger.begin_leave(&nonce, now));
                let (pod, now) = (self.pod.uid.as_str(), reach.now);
                let begun = reach.ring.forget_streamed(pod, reach.disks);
                let begun = begun.and_then(|()| self.may_leave(&nonce, reach.ring));
                let begun =
                    begun.and_then(|force| reach.ring.decommission(pod, force, now, reach.disks));
                self.leave_call = match begun {
                    Ok(()) => LeaveCall::UnderWay,
                    Err(words) => LeaveCall::Answered(Err(words)),
                };
            }
        }
    }

    fn start(&mut self, start: &Start, reach: &mut Reach<'_>) {
        let Some(spec) = self.saved.as_ref().map(|s| s.spec.clone()) else {
            return;
        };
        let Some(mut ledger) = self.ledger().cloned() else {
            return;
        };
        let retires = matches!(&start.cause, Cause::Permit { data: DataBeforeStart::Retire, .. });
        let is_banned = match ledger.ban {
            Ban::None => false,
            Ban::Terminated => ledger.membership == Membership::Joined && !retires,
            Ban::GivenUp => true,
        };
        if is_banned {
            let text = format!("{} starts on a volume that was given up", self.pod.key.name);
            reach.ring.breaches.push(text);
        }
        if let Cause::Permit { nonce, data, .. } = &start.cause
            && let Err(why) = self.prepare(*data, &mut ledger, reach)
        {
            return self.change_ledger(reach, |ledger| {
                ledger.set_permit(nonce, PermitState::Refused, Some(why));
            });
        }
        let cause = ledger.use_cause(&start.cause, &start.identity.address);
        let identity = &start.identity;
        let tag = reach.ring.new_tag();
        ledger.ring = Some(spec.ring.clone());
        ledger.restart_token.clone_from(&spec.restart_token);
        ledger.begin_start(&tag, &cause, &identity.seeds, self.clock_at(reach.now));
        self.begin_seal(start, &tag, reach);
        self.begin_rebuilt(start, reach);
        self.change_ledger(reach, |known| *known = ledger);
        if let Some(disk) = reach.disks.get_mut(&self.pod.disk) {
            disk.content.owner = Some(self.member.clone());
        }
        self.last_words = None;
        let member = self.pod.key.name.clone();
        let sealed = match identity.door {
            Door::Open => "",
            Door::Sealed => ", sealed",
            Door::Closed => ", closed",
            Door::AwaitsRebuild => ", without clients",
        };
        reach.ring.told.push(format!("{member} starts its server ({cause}{sealed})"));
        let replace = match &identity.entry {
            Entry::Replace { address, .. } => Some(address.clone()),
            Entry::Plain | Entry::Join | Entry::ResumeLeave | Entry::Restore { .. } => None,
        };
        let restored = match &identity.entry {
            Entry::Restore { tokens } => Some(tokens.clone()),
            Entry::Plain | Entry::Join | Entry::ResumeLeave | Entry::Replace { .. } => None,
        };
        let rewound = self.rewind(identity.door);
        let server = Server {
            member,
            rewound,
            tag,
            disk: self.pod.disk.clone(),
            address: identity.address.clone(),
            client_address: identity.clients.address(self.pod_ip),
            seeds: identity.seeds.clone(),
            replace,
            resumes: identity.entry == Entry::ResumeLeave,
            lineage: None,
            host_id: None,
            phase: Phase::Booting,
            until: reach.now + BOOT,
            configuration: self.configuration.clone(),
            door: identity.door,
            called_shut: identity.door == Door::AwaitsRebuild,
            was_open: false,
            restored,
            internode: self.internode,
            shown: Shown::default(),
            reads: None,
            shown_to_clients: Shown::default(),
            reads_for_clients: None,
            version: self.version.clone(),
            streams: Vec::new(),
            refused: false,
        };
        reach.ring.servers.insert(self.pod.uid.to_string(), server);
        self.place(reach, Reads::AtStart);
        self.process = palladion_agent::decide::Process::Running;
        self.tag = None;
        self.look = None;
    }

    /// What the permit says of data, if the ledger lets it.
    fn prepare(
        &self,
        what: DataBeforeStart,
        ledger: &mut Ledger,
        reach: &mut Reach<'_>,
    ) -> Result<(), String> {
        let space = reach.ring.disk_of(&self.pod.key.name);
        let Some(disk) = reach.disks.get_mut(&self.pod.disk) else {
            return Err("there is no disk".into());
        };
        let found = disk.content.inspect(String::new()).data;
        let removed = match what {
            DataBeforeStart::MustBeEmpty | DataBeforeStart::Keep | DataBeforeStart::Unknown(_) => {
                None
            }
            DataBeforeStart::Wipe => {
                ledger.check_wipe(found).map_err(|why| why.to_string())?;
                disk.content.data.take()
            }
            DataBeforeStart::Retire => {
                let used = if found == volume::Data::Absent { 0 } else { space.data_bytes };
                ledger.check_retire(used, space.free_bytes).map_err(|why| why.to_string())?;
                let old = disk.content.data.take();
                disk.content.retired.extend(old.clone());
                old
            }
        };
        ledger.data_prepared(what);
        let seat = removed.and_then(|data| reach.ring.seats.get(&data.host_id).cloned());
        if seat.is_some_and(|seat| seat.state != MemberState::Joining) {
            let name = &self.pod.key.name;
            reach.ring.breaches.push(format!("{name} removes the data of a full member"));
        }
        Ok(())
    }
}
