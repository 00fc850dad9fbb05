//! The agent of one running pod: the real one's decisions, ledger, judgement of
//! the volume and report, over a simulated disk, server and API. What stands
//! here is the loop around them and what the loop remembers.

use super::ring::{Configuration, Disks, Ring};
use super::volume::Volume;
use super::work::{Jobs, Work};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_agent::admin::Reading;
use palladion_agent::decide::clock::Times;
use palladion_agent::decide::elsewhere::Elsewhere;
use palladion_agent::decide::health::Watch;
use palladion_agent::decide::progress::Progress;
use palladion_agent::decide::{
    self, Action, Asked, DrainCall, Facts, LastWords, LeaveCall, Process, Source, SpecFact,
    StopWhy, VolumeFact, backoff,
};
use palladion_agent::init::protocol::Phase as Container;
use palladion_agent::repair::Memory;
use palladion_agent::report::last_words;
use palladion_agent::volume::ledger::{End, Ledger};
use palladion_agent::volume::{Found, SavedMember};
use palladion_agent::words::start::Waiting;
use palladion_api::cluster::{ClientAddresses, InternodeTlsMode};
use palladion_api::ids::{ClientAddress, MemberName, Nonce, PodUid, StaticAddress};
use palladion_api::member::{
    ANSWER_LIFE, AccessProblem, BeginQuestion, CassandraMemberStatus, CertificateProblem, Evidence,
    Liveness, MemberTlsStatus, Operation, ServerState,
};
use palladion_api::runtime::RuntimeSettings;
use palladion_plan::sim::kubernetes::Mount;
use palladion_plan::sim::{Activity, PodRun};
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// From a change of the member to the agent's knowing of it.
pub const LAG: SignedDuration = SignedDuration::from_millis(100);
/// As many actions as the real agent takes in one turn.
const STEPS: usize = 12;

/// An agent.
#[derive(Clone, Debug)]
pub struct Agent {
    pub pod: PodRun,
    /// The pod's uid, as the agent has it.
    pub(super) uid: PodUid,
    /// The member's name.
    pub(super) member: MemberName,
    pub begun: Timestamp,
    /// What its machine's clock is ahead.
    pub clock: SignedDuration,
    /// The last spec that it knows.
    pub saved: Option<SavedMember>,
    /// Was that read from the API since the agent was started?
    pub source: Source,
    /// What that says of the time.
    pub times: Times,
    /// The version of the object that it was read with.
    pub read_version: String,
    /// When it heard the API server last, and was heard.
    pub in_contact_at: Option<Timestamp>,
    /// The spec as it was read.
    pub read: Value,
    /// The status that it has written last.
    pub reported: Option<CassandraMemberStatus>,
    /// What the server is started with.
    pub configuration: Configuration,
    /// Address of its pod.
    pub pod_ip: IpAddr,
    /// Which address its server is to announce to clients.
    pub client_addresses: Option<ClientAddresses>,
    /// How its server speaks to other members.
    pub internode: InternodeTlsMode,
    /// Version of the server's image.
    pub version: String,
    /// Version of the member protocol that it speaks.
    pub protocol: u32,
    pub(super) found: Option<Found>,
    pub(super) process: Process,
    /// The launch that it knows to run.
    pub(super) tag: Option<String>,
    pub(super) look: Option<Look>,
    /// Since when the server says something else than in that look.
    pub(super) differs: Option<Timestamp>,
    pub(super) progress: Option<Progress>,
    /// What its looks have added up to.
    pub watch: Watch,
    /// Since when the server does not answer.
    pub(super) unanswered: Option<Timestamp>,
    pub(super) stopping: Option<StopWhy>,
    pub(super) leave_call: LeaveCall,
    /// Its last question whether a permit or an intent may be begun, and when it asked.
    pub(super) asked: Option<(BeginQuestion, Timestamp)>,
    pub(super) drain_call: Option<DrainCall>,
    pub(super) last_words: Option<LastWords>,
    /// The operation that runs, and when it ends.
    pub(super) job: Option<(Operation, Timestamp)>,
    /// It waits for the end of an operation that an earlier agent has called for.
    pub(super) settles: bool,
    /// The part of a task that it is at.
    pub(super) work: Option<Work>,
    /// What is noted of such parts on the volume.
    pub(super) notes: Jobs,
    /// Copies that a keyspace had before it was given others.
    pub(super) copies_before: Option<u32>,
    /// What it does for a backup.
    pub(super) moves: super::transfers::Moves,
    /// What it reports of its archive.
    pub(super) archive: Option<palladion_api::backup::ArchiveStatus>,
    /// What it reports of change data capture.
    pub(super) cdc: Option<palladion_api::member::CdcStatus>,
    /// The repository of the ring, as it is noted on its volume.
    pub(super) repository: Option<String>,
    /// What it offers to repair.
    pub(super) offers: Vec<palladion_api::member::Batch>,
    /// What it remembers of repairs.
    pub(super) repairs: Memory,
    /// Nonce of a question, and when it was seen.
    pub(super) question: Option<(Nonce, Timestamp)>,
    pub(super) evidence: Option<Evidence>,
    pub(super) copies: Copies,
    pub(super) access: Option<AccessProblem>,
    /// What a start waits for, where its server needs a certificate and has none.
    pub(super) lacks_certificate: Option<Waiting>,
    /// The launch of the sealed server whose keys it has.
    pub(super) keys: Option<String>,
    /// The launch that runs, where it was started sealed.
    pub(super) sealed: Option<String>,
    /// Is the server that runs closed to clients?
    pub(super) closed: bool,
    /// Does it take no clients, since its member is not rebuilt?
    pub(super) awaits_rebuild: bool,
    pub(super) was_open: bool,
    /// To which time it was started to replay an archived commit log.
    pub(super) rewound: Option<i64>,
    /// What the server that runs announces to clients, where that is not its static address.
    pub(super) announced: Option<ClientAddress>,
    /// What a sealed start waits for.
    pub(super) lacks_users: Option<Waiting>,
    pub(super) tls: Option<MemberTlsStatus>,
    pub(super) certificate_problem: Option<CertificateProblem>,
    pub(super) elsewhere: Elsewhere,
    pub(super) runtime: RuntimeSettings,
    pub(super) state: Option<(ServerState, Time)>,
}

/// Copies of each keyspace, and the schema and size of the ring that they were read for.
#[derive(Clone, Debug, Default)]
pub struct Copies {
    pub of: Option<String>,
    pub members: usize,
    pub counts: BTreeMap<String, u32>,
    pub by_datacenter: BTreeMap<String, BTreeMap<String, u32>>,
    pub uneven: Vec<String>,
}

/// A look at the server.
#[derive(Clone, Debug)]
pub struct Look {
    pub begun: Timestamp,
    pub reading: Reading,
}

/// All that an agent can touch.
pub struct Reach<'a> {
    pub now: Timestamp,
    pub disks: &'a mut Disks,
    pub ring: &'a mut Ring,
    /// Volumes ever taken into use.
    pub volumes: &'a mut usize,
    /// What the API server tells an agent that has not heard yet.
    pub spec_beside_the_ledger: Saved,
}

/// Does the spec beside the ledger count for an agent that has read none?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    Counts,
    /// The API still has its chance.
    CountsNotYet,
}

impl Agent {
    pub fn new(
        pod: PodRun,
        begun: Timestamp,
        clock: SignedDuration,
        configuration: Configuration,
        version: String,
    ) -> Self {
        Agent {
            uid: pod.uid.clone(),
            member: MemberName::new(&pod.key.name),
            pod,
            begun,
            clock,
            saved: None,
            source: Source::Saved,
            times: Times::default(),
            read_version: String::new(),
            in_contact_at: None,
            read: Value::Null,
            reported: None,
            configuration,
            pod_ip: IpAddr::from([127, 0, 0, 1]),
            client_addresses: None,
            internode: InternodeTlsMode::Off,
            version,
            protocol: palladion_api::member::PROTOCOL,
            found: None,
            process: Process::Absent,
            tag: None,
            look: None,
            differs: None,
            progress: None,
            watch: Watch::default(),
            unanswered: None,
            stopping: None,
            leave_call: LeaveCall::NotMade,
            asked: None,
            drain_call: None,
            last_words: None,
            job: None,
            settles: false,
            work: None,
            notes: Jobs::default(),
            copies_before: None,
            moves: super::transfers::Moves::default(),
            archive: None,
            cdc: None,
            repository: None,
            offers: Vec::new(),
            repairs: Memory::default(),
            question: None,
            evidence: None,
            copies: Copies::default(),
            access: None,
            lacks_certificate: None,
            keys: None,
            sealed: None,
            closed: false,
            awaits_rebuild: false,
            was_open: false,
            rewound: None,
            announced: None,
            lacks_users: None,
            tls: None,
            certificate_problem: None,
            elsewhere: Elsewhere::default(),
            runtime: RuntimeSettings::default(),
            state: None,
        }
    }

    /// One turn: gather, decide, act, answer; what is told is [`Agent::status`].
    pub fn turn(&mut self, reach: &mut Reach<'_>) -> (decide::Decision, Activity) {
        let mut all = self.gather(reach);
        self.follow_progress(reach.now);
        self.follow_floor(reach);
        all = all.and(self.follow_order(reach));
        let mut decision = decide::decide(&self.facts(reach.now));
        for _ in 0..STEPS {
            if decision.action == Action::Nothing {
                break;
            }
            self.act(decision.action.clone(), reach);
            all = all.and(Activity::ACTED);
            decision = decide::decide(&self.facts(reach.now));
        }
        self.follow_spec(reach);
        self.count_copies(reach);
        self.follow_opening(reach);
        self.try_to_log_in(reach);
        all = all.and(self.follow_repairs(reach));
        all = all.and(self.operate(reach)).and(self.work(reach)).and(self.transfer(reach));
        self.follow_archive(reach);
        self.follow_cdc(reach);
        all = all.and(self.answer_question(reach));
        self.watch.follow(decision.state, &self.process, self.clock_at(reach.now));
        let earliest = self
            .ledger()
            .filter(|_| decision.state == ServerState::Failed)
            .and_then(|l| backoff::earliest(&l.starts, self.clock_at(reach.now)));
        let facts = self.facts(reach.now);
        let again = self.ledger().and_then(|l| decide::intent::calls_again_at(&facts, l));
        let void = self.begin_question().map(|(_, at)| *at + ANSWER_LIFE + self.clock);
        let stalled = self.progress.as_ref().map(Progress::stalled_from);
        for time in [earliest, again, stalled, void].into_iter().flatten().map(|t| t - self.clock) {
            if time > reach.now {
                all = all.at(time);
            }
        }
        (decision, all)
    }

    /// What it asks before it begins; nothing once that is begun, or not in the spec any more.
    pub(super) fn begin_question(&self) -> Option<&(BeginQuestion, Timestamp)> {
        let spec = &self.saved.as_ref()?.spec;
        let permit = spec.start.as_ref().map(|permit| &permit.nonce);
        let intent = spec.intent.as_ref().map(|intent| &intent.nonce);
        let asked = self.asked.as_ref()?;
        [permit, intent].contains(&Some(&asked.0.of)).then_some(asked)
    }

    /// Does a join or a leave get on? Looks that would show nothing new count, too.
    fn follow_progress(&mut self, now: Timestamp) {
        let known = self.progress.take();
        let running = self.process == Process::Running;
        let after = || Progress::after(known, self.reading(), self.clock_at(now));
        self.progress = running.then(after).flatten();
    }

    /// What its machine's clock says.
    pub fn clock_at(&self, now: Timestamp) -> Timestamp {
        now + self.clock
    }

    /// Note what the object says of the time, as it is read now. The API server notes when it
    /// is changed; of changes from before the agent was started, that of a note of its absence
    /// is known here, which is written after ten minutes.
    pub fn note_times(&mut self, live: &Value, now: Timestamp) {
        let note = &live["metadata"]["annotations"][palladion_api::labels::DOWN_SINCE];
        let version = live["metadata"]["resourceVersion"].as_str().unwrap_or_default();
        let down_since: Option<Timestamp> = note.as_str().and_then(|since| since.parse().ok());
        let before = down_since.map(|since| since + SignedDuration::from_mins(10));
        self.times.down_since = down_since;
        if self.read_version != version {
            let is_first = self.read_version.is_empty();
            self.times.written = if is_first { before } else { Some(now) };
            self.read_version = version.to_string();
        }
    }

    pub fn ledger(&self) -> Option<&Ledger> {
        let found = self.found.as_ref()?;
        found.ledger.as_ref().filter(|_| found.marker.is_some())
    }

    /// What the server said last.
    pub fn reading(&self) -> Option<&Reading> {
        self.look.as_ref().map(|l| &l.reading)
    }

    pub fn facts(&self, now: Timestamp) -> Facts<'_> {
        Facts {
            now: self.clock_at(now),
            pod_uid: &self.uid,
            member: &self.member,
            revision: &self.pod.revision,
            spec: self.saved.as_ref().map(|s| SpecFact {
                spec: &s.spec,
                source: self.source,
                times: match self.source {
                    Source::Live => self.times,
                    Source::Saved => Times::default(),
                },
            }),
            volume: match &self.found {
                Some(found) => VolumeFact::Found(found),
                None => VolumeFact::Unreadable("the volume was not looked at yet"),
            },
            process: self.process.clone(),
            container: if self.pod.ending { Container::Ending } else { Container::Serving },
            reading: self.reading(),
            progress: self.progress.as_ref(),
            stopping: self.stopping,
            leave_call: &self.leave_call,
            drain_call: self.drain_call.as_ref(),
            last_words: self.last_words.as_ref(),
            closed: self.closed,
            rewinds: self.wants_rewind(),
            opens: self.opens(),
            client_addresses: self.client_addresses,
            awaits_rebuild: self.awaits_rebuild,
            was_open: self.was_open,
            asked: self.asked.as_ref().map(|(question, at)| Asked {
                nonce: question.nonce.clone(),
                of: question.of.clone(),
                age: now.duration_since(*at),
            }),
            lacks_certificate: self.lacks_certificate.clone(),
            seal: self.seal(),
            elsewhere: self.elsewhere.clone(),
        }
    }

    /// Process, volume, spec, question, server: in the order of the real one.
    fn gather(&mut self, reach: &mut Reach<'_>) -> Activity {
        if self.pod.ending {
            // preStop: the server is drained, and its container ends.
            reach.ring.stop_in_order(self.pod.uid.as_str(), reach.now);
        }
        self.gather_process(reach);
        if self.process != Process::Running || self.found.is_none() {
            self.found = Some(self.inspect(reach));
        }
        self.keep_spec(reach);
        self.look_elsewhere(reach);
        self.notice_question(reach.now);
        self.close_start(reach);
        self.look(reach)
    }

    fn gather_process(&mut self, reach: &mut Reach<'_>) {
        self.lacks_users = reach.ring.login.lacks_users();
        self.sealed = reach.ring.sealed_launch(self.pod.uid.as_str());
        self.closed = reach.ring.is_closed(self.pod.uid.as_str());
        let server = reach.ring.servers.get(self.pod.uid.as_str());
        self.awaits_rebuild = server.is_some_and(|s| s.called_shut);
        self.was_open = server.is_some_and(|s| s.was_open);
        self.announced = server.and_then(|s| s.client_address.clone());
        self.rewound = reach.ring.rewound(self.pod.uid.as_str());
        let Some(server) = reach.ring.servers.get(self.pod.uid.as_str()) else {
            self.process = Process::Absent;
            (self.tag, self.look, self.differs) = (None, None, None);
            if self.leave_call == LeaveCall::UnderWay {
                let words = "the connection to the server was closed".to_string();
                self.leave_call = LeaveCall::Answered(Err(words));
            }
            return;
        };
        self.process = Process::Running;
        if self.tag.as_ref() != Some(&server.tag) {
            self.tag = Some(server.tag.clone());
            self.look = None;
        }
        if let Some(answer) = reach.ring.answers.remove(self.pod.uid.as_str())
            && self.leave_call == LeaveCall::UnderWay
        {
            self.leave_call = LeaveCall::Answered(answer);
            self.look = None;
        }
    }

    fn inspect(&self, reach: &Reach<'_>) -> Found {
        match reach.disks.get(&self.pod.disk) {
            Some(disk) if disk.mount == Mount::Mounted => {
                disk.content.inspect(format!("fs-{}", self.pod.disk))
            }
            Some(_) | None => Volume::nothing("fs-root".to_string()),
        }
    }

    /// The spec beside the ledger counts where the API tells none; a live one is kept there.
    fn keep_spec(&mut self, reach: &mut Reach<'_>) {
        let known = self.ledger().map(|l| l.ring.clone());
        let Some(disk) = reach.disks.get_mut(&self.pod.disk).filter(|d| d.mount == Mount::Mounted)
        else {
            return;
        };
        match (&self.saved, known) {
            (None, Some(_)) if reach.spec_beside_the_ledger == Saved::Counts => {
                self.saved.clone_from(&disk.content.saved);
            }
            (Some(saved), Some(ring))
                if self.source == Source::Live
                    && ring.as_ref().is_none_or(|r| *r == saved.spec.ring)
                    && disk.content.saved.as_ref() != Some(saved) =>
            {
                disk.content.saved = Some(saved.clone());
            }
            (None | Some(_), _) => {}
        }
    }

    /// Every name is an address here; a seed elsewhere answers when it is up.
    fn look_elsewhere(&mut self, reach: &Reach<'_>) {
        let Some(saved) = &self.saved else {
            return;
        };
        let seeds = saved.spec.external_seeds.iter();
        let addresses: Vec<_> = seeds.map(|seed| StaticAddress::new(seed.as_str())).collect();
        let is_up = |address: &&StaticAddress| {
            let mut elsewhere = reach.ring.elsewhere.values();
            elsewhere.any(|m| m.address == **address && m.liveness == Liveness::Up)
        };
        let answers = addresses.iter().find(is_up).cloned();
        self.elsewhere = Elsewhere { addresses, answers, ..Elsewhere::default() };
    }

    /// Note in the ledger how the server ended.
    fn close_start(&mut self, reach: &mut Reach<'_>) {
        if self.process != Process::Absent {
            return;
        }
        let open = self.ledger().and_then(Ledger::last_start).is_some_and(|s| s.end == End::Open);
        if !open {
            self.stopping = None;
            return;
        }
        let ended = reach.ring.exits.remove(self.pod.uid.as_str());
        let container = if self.pod.ending { Container::Ending } else { Container::Serving };
        let end = decide::end_of(self.stopping, container, ended.as_ref());
        let code = ended.as_ref().map(|e| e.code);
        let log: Vec<String> = ended.into_iter().map(|e| e.message).collect();
        let words = (end == End::Died).then(|| last_words::of(&log, code));
        let at = self.clock_at(reach.now);
        self.change_ledger(reach, |ledger| {
            ledger.end_start(end, at, code, words.as_ref().map(|w| w.text.clone()));
        });
        self.stopping = None;
        self.last_words = words;
    }

    /// Change the ledger; what is in memory is what is on the disk.
    pub(super) fn change_ledger(
        &mut self,
        reach: &mut Reach<'_>,
        change: impl FnOnce(&mut Ledger),
    ) {
        let Some(ledger) = self.found.as_mut().and_then(|f| f.ledger.as_mut()) else {
            return;
        };
        change(ledger);
        if let Some(disk) = reach.disks.get_mut(&self.pod.disk) {
            disk.content.ledger = Some(ledger.clone());
        }
    }
}
