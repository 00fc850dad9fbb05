//! Replication of the system keyspaces: Cassandra makes them with
//! SimpleStrategy and factors of 1 to 3; a lost member would lock users out.
//! NetworkTopologyStrategy with min(3, members), then a repair of each member
//! (safety rule 6.2). What is intended is recorded before it is set, so that a
//! change that was left half-way is never taken for done (safety rule 7.5).

mod deserted;
mod elsewhere;
mod had;
mod unbegun;

pub use unbegun::withdraw as withdraw_unbegun;

use crate::decide::draft::Draft;
use crate::decide::evidence;
use crate::decide::turn::{failed_start, lock, region};
use crate::facts::{self, Facts, KNOWS_DATACENTERS, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::evidence::Objection;
use crate::words::maintenance::{Added, Doing, Happened, Problem, Replicating};
use palladion_api::cluster::{KEPT_KEYSPACES, Mode, SystemReplicationChange};
use palladion_api::member::{Operation, OperationKind, OperationState, RepairRanges};
use palladion_plan::{Event, Step};
use serde_json::{Value, json};

/// Roles are here: without a copy nobody logs in.
pub(super) const ROLES: &str = "system_auth";
/// The keyspaces whose replication Cassandra leaves to the person.
const KEYSPACES: [&str; 3] = KEPT_KEYSPACES;
/// More copies help nobody: quorum of three survives one loss.
const MOST_COPIES: usize = 3;
/// What failed is tried again after this long.
const RETRY_AFTER: jiff::SignedDuration = jiff::SignedDuration::from_secs(30);
/// How the ID of every change of replication begins.
const ALTER: &str = "system-keyspaces-";
/// What comes before that in the ID of a repair after it.
const REPAIR: &str = "repair-";

/// Is this one of the keyspaces that are kept here?
pub fn is_one(keyspace: &str) -> bool {
    KEYSPACES.contains(&keyspace)
}

/// Can the system keyspaces be kept by this many members as they are?
pub fn fit(facts: &Facts<'_>, valid: &Valid, members: usize) -> bool {
    valid.mode == Mode::Scylla
        || on_record(facts).is_some_and(|f| f <= factor_for(members))
            && !all_report(facts, |copies| is_more(copies, members))
}

fn factor_for(members: usize) -> u32 {
    u32::try_from(members.min(MOST_COPIES)).unwrap_or(1)
}

fn is_more(copies: u32, members: usize) -> bool {
    usize::try_from(copies).map_or(true, |copies| copies > members)
}

/// Is it known how many copies they have, and is that not being changed?
pub fn are_settled(facts: &Facts<'_>) -> bool {
    on_record(facts).is_some()
}

/// The factor that was set, unless it is being changed.
fn on_record(facts: &Facts<'_>) -> Option<u32> {
    let status = &facts.status;
    let change = status.system_replication_change.as_ref();
    let is_ours = change.is_some_and(|change| change.datacenter.is_none());
    status.system_replication.filter(|_| !is_ours)
}

/// Has the last try to set the replication failed? It is tried again meanwhile.
pub fn is_refused(facts: &Facts<'_>) -> bool {
    facts.status.system_replication_change.is_some()
        && facts.joined().any(|m| {
            let ended = m.status.operation.as_ref();
            ended.is_some_and(|o| o.id.starts_with(ALTER) && o.state == OperationState::Failed)
        })
}

/// A member that is on its way into the ring.
pub(super) fn joining<'a>(facts: &'a Facts<'_>) -> Option<&'a MemberFact> {
    facts.members.values().find(|m| {
        !m.is_gone()
            && m.recorded_host_id().is_none()
            && m.pod.is_some()
            && !failed_start::has_failed_for_good(m)
    })
}

/// Replication as the number of members wants it, once nobody joins.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    // Without clients no agent logs in either: another datacenter names this one.
    if joining(facts).is_some() || valid.mode == Mode::Scylla || !facts.takes_clients() {
        return;
    }
    if elsewhere::extend(facts, valid, draft).is_busy() {
        return;
    }
    set(facts, valid, facts.joined().count(), draft);
}

/// Record what is intended, set it, repair, then record that it is done. One
/// step at a time; the operations' IDs carry the nonce of the change, so that
/// going back to a factor is a new change.
pub fn set(facts: &Facts<'_>, valid: &Valid, members: usize, draft: &mut Draft) {
    let factor = factor_for(members);
    if is_set(facts, factor, members) {
        return;
    }
    if waits(facts, draft) {
        return;
    }
    let under_way = facts.status.system_replication_change.clone();
    let is_it = |c: &SystemReplicationChange| c.factor == factor && c.datacenter.is_none();
    let change = match under_way.filter(is_it) {
        Some(change) => change,
        None => intend(facts, factor, draft),
    };
    let joined: Vec<&MemberFact> = facts.joined().collect();
    let job = |part| Job { facts, valid, change: &change, part };
    if !is_altered(&joined, &change) {
        job(Part::Alter).alter(&joined, draft);
    } else if job(Part::Repair).repair_each(&joined, draft) {
        conclude(facts, valid, factor, draft);
    }
}

/// Does a change of replication wait for the ring, or for another region?
fn waits(facts: &Facts<'_>, draft: &mut Draft) -> bool {
    unbegun::withdraw(facts, draft);
    if let Err(why) = evidence::ring_is_quiet(facts) {
        draft.wait_for(Replicating::Quiet { why });
        return true;
    }
    region::waits(facts, draft)
}

/// Is it set to this factor, on record and, as far as they say, for the members?
fn is_set(facts: &Facts<'_>, factor: u32, members: usize) -> bool {
    on_record(facts) == Some(factor)
        && !all_report(facts, |copies| copies < factor)
        && !all_report(facts, |copies| is_more(copies, members))
}

/// Do all full members that have counted report such a number of copies of a
/// system keyspace? One alone may not have counted again yet.
fn all_report(facts: &Facts<'_>, such: impl Fn(u32) -> bool) -> bool {
    let reports = |m: &&MemberFact| m.is_normal() && !m.copies_here().is_empty();
    let is_such = |m: &MemberFact| {
        let mut copies = m.copies_here().into_iter();
        copies.any(|(keyspace, copies)| is_one(keyspace) && such(copies))
    };
    let mut reporting = facts.joined().filter(reports).peekable();
    reporting.peek().is_some() && reporting.all(is_such)
}

fn intend(facts: &Facts<'_>, factor: u32, draft: &mut Draft) -> SystemReplicationChange {
    let nonce = facts.snapshot.nonce.clone();
    let change = SystemReplicationChange { factor, datacenter: None, nonce };
    let doing = Doing::IntendReplication { factor };
    draft.steps.push(record(facts, json!({ "systemReplicationChange": change }), doing));
    change
}

fn conclude(facts: &Facts<'_>, valid: &Valid, factor: u32, draft: &mut Draft) {
    let datacenter = valid.datacenter.clone();
    let done = json!({ "systemReplication": factor, "systemReplicationChange": Value::Null });
    let step = record(facts, done, Doing::RecordReplication { factor });
    // The first time is a part of making the ring.
    let is_changed = facts.status.system_replication.is_some();
    let event = is_changed.then(|| Event::normal(Happened::Replicated { factor, datacenter }));
    draft.steps.push(step.announced(event));
}

/// Write it while nobody else has begun a turn or another change.
fn record(facts: &Facts<'_>, status: Value, doing: Doing) -> Step {
    let pointers = ["/status/turn", "/status/systemReplicationChange"];
    Step::compare_and_set(status, pointers.map(|p| lock::seen(facts, p)).into(), doing)
        .under_lock(facts.lock_fence())
}

/// Does its agent leave the copies of other datacenters as they are?
fn keeps_others(member: &MemberFact) -> bool {
    member.status.agent.as_ref().is_some_and(|agent| agent.protocol >= KNOWS_DATACENTERS)
}

fn wait_for_newer_agent(member: &MemberFact, draft: &mut Draft) {
    let agent = member.status.agent.as_ref().map(|a| a.version.clone()).unwrap_or_default();
    let waiting = Added::AgentTooOld { member: member.name.clone(), agent };
    draft.wait_for(waiting).about(member.subject());
}

/// Has an operation of this change set the replication?
fn is_altered(joined: &[&MemberFact], change: &SystemReplicationChange) -> bool {
    let (alter, repair) = (Part::Alter.id(change), Part::Repair.id(change));
    joined.iter().filter_map(|m| Some((m, ordered(m)?))).any(|(m, operation)| {
        let id = &operation.id;
        is_attempt(id, &repair)
            || is_attempt(id, &alter) && outcome(m, id) == Some(OperationState::Succeeded)
    })
}

fn ordered(member: &MemberFact) -> Option<&Operation> {
    member.spec.as_ref()?.operation.as_ref()
}

fn outcome(member: &MemberFact, id: &str) -> Option<OperationState> {
    member.status.operation.as_ref().filter(|o| o.id == id).map(|o| o.state)
}

/// Is this the ID of a change of replication, or of a repair after one?
fn is_of_change(id: &str) -> bool {
    id.strip_prefix(REPAIR).unwrap_or(id).starts_with(ALTER)
}

/// Is this the ID of the first or of a later attempt?
fn is_attempt(id: &str, first: &str) -> bool {
    id.strip_prefix(first).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// The two parts of a change.
#[derive(Clone, Copy)]
enum Part {
    Alter,
    Repair,
}

impl Part {
    fn kind(self) -> OperationKind {
        match self {
            Part::Alter => OperationKind::AlterReplication,
            Part::Repair => OperationKind::Repair,
        }
    }

    /// The ID of its first attempt on a member.
    fn id(self, change: &SystemReplicationChange) -> String {
        let (factor, nonce) = (change.factor, &change.nonce);
        match self {
            Part::Alter => format!("{ALTER}{factor}-{nonce}"),
            Part::Repair => format!("{REPAIR}{ALTER}{factor}-{nonce}"),
        }
    }
}

/// One part of a change, as operations of members.
struct Job<'a> {
    facts: &'a Facts<'a>,
    valid: &'a Valid,
    change: &'a SystemReplicationChange,
    part: Part,
}

impl Job<'_> {
    /// One member changes the replication: whoever was last told to, since two
    /// changes on two members could end in either order.
    fn alter(&self, joined: &[&MemberFact], draft: &mut Draft) {
        let was_told = |m: &&&MemberFact| ordered(m).is_some_and(|o| o.id.starts_with(ALTER));
        // One that takes no clients takes no statement either; what it was told it may be at.
        let takes = |m: &&&MemberFact| !m.awaits_rebuild() && !m.is_shut();
        let is_open = |m: &&&MemberFact| {
            let outcome = ordered(m).and_then(|o| outcome(m, &o.id));
            matches!(outcome, None | Some(OperationState::Running | OperationState::Unknown))
        };
        let told = joined.iter().filter(|m| !m.awaits_rebuild()).find(was_told);
        let told = told.filter(|m| takes(m) || is_open(m));
        let Some(member) = told.or(joined.iter().find(takes)) else {
            draft.wait_for(Replicating::Closed { factor: self.change.factor });
            return;
        };
        match self.facts.may_have_others() && !keeps_others(member) {
            true => wait_for_newer_agent(member, draft),
            false => {
                self.advance(member, draft);
            }
        }
    }

    /// Have all members been repaired?
    fn repair_each(&self, joined: &[&MemberFact], draft: &mut Draft) -> bool {
        joined.iter().all(|member| self.advance(member, draft))
    }

    /// Order it, wait for it, and order it again if it failed. Is it done?
    fn advance(&self, member: &MemberFact, draft: &mut Draft) -> bool {
        let first = self.part.id(self.change);
        let Some(operation) = ordered(member).filter(|o| is_attempt(&o.id, &first)) else {
            self.order(member, first, draft);
            return false;
        };
        let (factor, operation, name) = (self.change.factor, &operation.id, || member.name.clone());
        let kind = || self.part.kind().into();
        let waiting = match outcome(member, operation) {
            Some(OperationState::Succeeded) => return true,
            Some(OperationState::Failed | OperationState::Interrupted) => {
                self.failed(member, &first, draft);
                return false;
            }
            None => Replicating::Requested { factor, operation: kind(), member: name() },
            Some(OperationState::Running | OperationState::Unknown) => {
                Replicating::Running { factor, operation: kind(), member: name() }
            }
        };
        draft.wait_for(waiting).about(member.subject());
        false
    }

    /// Its agent would not begin: nobody can log in there.
    fn closed(&self, member: &MemberFact, draft: &mut Draft) {
        let (factor, operation) = (self.change.factor, self.part.kind().into());
        let why = Objection::ClosedToClients { member: member.name.clone() };
        let waiting = Replicating::Postponed { factor, operation, why };
        draft.wait_for(waiting).about(member.subject());
    }

    fn failed(&self, member: &MemberFact, first: &str, draft: &mut Draft) {
        let (facts, factor, name) = (self.facts, self.change.factor, || member.name.clone());
        let kind = || self.part.kind().into();
        let status = member.status.operation.as_ref();
        let why = status.and_then(|o| o.message.clone()).unwrap_or_default();
        draft.report(Problem::NotReplicated { factor, operation: kind(), member: name(), why });
        let ended = status.and_then(|o| o.finished_at.as_ref()).map_or(facts.now(), |t| t.0);
        let asked = ordered(member).and_then(|o| o.requested_at.as_ref()).map(|t| t.0);
        let again = facts.again(ended, asked, RETRY_AFTER);
        if facts.now() < again {
            let waiting = Replicating::Retried { factor, operation: kind(), member: name() };
            draft.wait_for(waiting).about(member.subject()).until(again);
            return;
        }
        self.order(member, format!("{first}-{}", facts.snapshot.nonce), draft);
    }

    fn order(&self, member: &MemberFact, id: String, draft: &mut Draft) {
        if member.is_shut() {
            return self.closed(member, draft);
        }
        let Some(object) = &member.object else { return };
        let mut operation = Operation::of(id, self.part.kind());
        operation.keyspaces = KEYSPACES.map(str::to_string).to_vec();
        match self.part {
            Part::Alter => {
                let datacenter = self.change.datacenter.as_ref().unwrap_or(&self.valid.datacenter);
                operation.replication.insert(datacenter.clone(), self.change.factor);
            }
            // The primary ranges of its members are those of the whole ring only where it has no
            // other datacenter.
            Part::Repair if self.facts.may_have_others() => operation.ranges = RepairRanges::All,
            Part::Repair => {}
        }
        let operation = facts::operation_of(self.facts, member, &operation);
        let patch = json!({ "spec": { "operation": operation } });
        let (kind, name) = (|| self.part.kind().into(), || member.name.clone());
        let factor = self.change.factor;
        draft
            .wait_for(Replicating::Starting { factor, operation: kind(), member: name() })
            .about(member.subject());
        let doing = Doing::StartOperation { factor, operation: kind(), member: name() };
        let quiet = evidence::is_quiet_for(self.facts, member).ok().map(|proof| proof.stated());
        let step = Step::patch_as_seen(kinds::MEMBER, &object.meta, patch, doing);
        draft.steps.push(step.proven(quiet).fenced(self.facts.fence_under_lock()));
    }
}
