//! The turn of a replacement: the old node forgotten, room for another volume, the permit
//! of the new node, and its replicas.

use super::next::{begin, can_begin_now, question};
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Agreed, Question};
use crate::decide::forget;
use crate::decide::join::{self, without_data};
use crate::decide::turn::permit::{self, Course};
use crate::decide::turn::{failing, lock, order};
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::join::Waiting as OfJoin;
use crate::words::replace::{Doing, Happened, Waiting};
use crate::words::turn::Ended;
use jiff::SignedDuration;
use palladion_api::labels;
use palladion_api::service::ServiceTurn;
use palladion_plan::members::lost::{self, Over, PATIENCE};
use palladion_plan::members::turn as shared;
use palladion_plan::proof::ProofKind;
use palladion_plan::{Event, Flow, Step, turn};
use serde_json::{Value, json};

/// From a failed start of the new node to the next.
const RETRY: SignedDuration = SignedDuration::from_secs(10);

/// Go on with the turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &ServiceTurn, draft: &mut Draft) {
    let Some(member) = facts.members.get(&turn.member).filter(|m| m.object.is_some()) else {
        return lock::release(facts, turn, Ended::MemberGone, draft);
    };
    if let Some(why) = is_over(facts, valid, turn, member) {
        return lock::release(facts, turn, why, draft);
    }
    // Its volume is lost as long as it is the old one, whatever the ledger on it says.
    let course = match lost::is_needed(member) {
        true => Course::NotGiven,
        false => permit::course(facts, turn, member),
    };
    match course {
        Course::NotGiven => before_permit(facts, turn, member, draft),
        Course::Open if without_data::is_so(facts, member) => {
            without_data::forget(facts, turn, member, draft);
        }
        Course::Open => {
            let (name, server) = (member.name.clone(), member.server_words());
            let waiting = OfJoin::Starting { member: name, server };
            // Then others may come first.
            let until = (turn.since.0 + PATIENCE).max(facts.now() + RETRY);
            draft.wait_for(waiting).about(member.subject()).until(until);
        }
        Course::Done => finish(facts, turn, member, draft),
        // The new node is in the cluster already, or not: either way another permit
        // starts it.
        Course::PodEnded | Course::Failed | Course::Refused(_) => {
            let again = turn.since.0 + RETRY;
            if facts.now() < again {
                let (name, server) = (member.name.clone(), member.server_words());
                let waiting = OfJoin::Starting { member: name, server };
                draft.wait_for(waiting).about(member.subject()).until(again);
                return;
            }
            let next = turn::again(facts.snapshot, turn);
            let doing = Doing::NewTurn { member: member.name.clone() };
            draft.steps.push(lock::write(facts, &next, doing));
        }
    }
}

/// Why the turn has no work any more: the record that it rests on is taken back, or is of
/// another volume, or the spec asks for no such member.
fn is_over(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &ServiceTurn,
    member: &MemberFact,
) -> Option<Ended> {
    match lost::over(turn, member) {
        Some(Over::TakenBack) => return Some(Ended::NotLost),
        Some(Over::LostToo) => return Some(Ended::LostToo),
        None => {}
    }
    let has_joined = !member.is_marked() && facts.is_named(member);
    let is_begun = has_joined || order::is_under_way(facts, turn);
    (member.ordinal >= valid.size && !is_begun).then_some(Ended::NotWanted)
}

/// End the turn for others, as the new node does not come up. A permit that has failed says
/// what came of it; one in use would be taken up again.
pub fn give_way(facts: &Facts<'_>, turn: &ServiceTurn, draft: &mut Draft) {
    let member = facts.members.get(&turn.member);
    match member.map(|m| permit::course(facts, turn, m)) {
        Some(Course::Failed | Course::Refused(_)) => {
            draft.steps.push(shared::end(facts, turn, Ended::OthersFirst));
        }
        Some(Course::NotGiven | Course::PodEnded | Course::Open | Course::Done) | None => {
            lock::release(facts, turn, Ended::OthersFirst, draft);
        }
    }
}

/// Pass the turn on to another one that gave way before, where this one has had its time and
/// nobody else can go on: what failed then may start now.
pub fn pass_on(facts: &Facts<'_>, valid: &Valid, turn: &ServiceTurn, draft: &mut Draft) -> Flow {
    let Some(member) = facts.members.get(&turn.member) else {
        return Flow::Free;
    };
    let course = permit::course(facts, turn, member);
    let next = lost::given_way_after(facts, valid, turn).filter(|m| can_begin_now(facts, m));
    let next = next.filter(|m| failing::until(facts, m).is_none());
    let Some(next) = next.filter(|_| shared::has_had_its_time(facts, turn, &course)) else {
        return Flow::Free;
    };
    if course == Course::Open {
        draft.steps.extend(shared::withdraw_of_turn(facts, turn, member));
    }
    begin(facts, next, draft)
}

fn before_permit(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    if lost::is_needed(member) {
        return make_room(facts, turn, member, draft);
    }
    let name = || member.name.clone();
    let lost = turn.replaces.as_ref().map(|l| &l.volume_id);
    let Some(volume) = member.volume().filter(|v| lost::is_another(v, lost)) else {
        return wait_for_pod(facts, turn, member, draft);
    };
    if volume.volume_id != turn.volume_id {
        let mut next = turn::asking(facts.snapshot, turn);
        next.volume_id.clone_from(&volume.volume_id);
        draft.steps.push(lock::write(facts, &next, Doing::NewTurn { member: name() }));
        return;
    }
    if without_data::is_so(facts, member) {
        return without_data::forget(facts, turn, member, draft);
    }
    if join::goes_on(member) {
        let (name, server) = (name(), member.server_words());
        let waiting = OfJoin::Starting { member: name, server };
        draft.wait_for(waiting).about(member.subject());
        return;
    }
    if permit::give_again(facts, turn, member, draft).is_busy() {
        return;
    }
    let question = question(facts, member);
    if is_out(facts, turn, &question, draft).is_none() {
        return;
    }
    let _ = join::permitted(facts, turn, member, &question, ProofKind::Dead, draft);
}

/// Until it has a pod on its new volume. Others go on meanwhile where there is no machine for
/// it, unless its node has joined: then all wait for its answer.
fn wait_for_pod(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    let until = turn.since.0 + PATIENCE;
    let has_joined = !member.is_marked() && facts.is_named(member);
    if facts.now() >= until && !has_joined {
        return lock::release(facts, turn, Ended::PodGone, draft);
    }
    let waiting = Waiting::ForPod { member: member.name.clone(), pod: member.pod_words() };
    draft.wait_for(waiting).about(member.subject()).until(until.max(facts.now() + RETRY));
}

/// The old node goes out of the queues and out of the cluster; then its claim goes, and
/// the pod that keeps it.
fn make_room(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    if member.serves {
        // Its agent stops it as soon as it hears of the record. Nothing is taken before.
        let (name, server) = (member.name.clone(), member.server_words());
        let waiting = Waiting::StillServes { member: name, server };
        draft.wait_for(waiting).about(member.subject());
        return;
    }
    let question = question(facts, member);
    if let Some(agreed) = is_out(facts, turn, &question, draft) {
        let _ = lost::make(facts, member, &agreed.proof.stated(), draft);
    }
}

/// Is the old node out of the queues that can do without it, and out of the cluster, as all
/// answer? Asked again when there is another volume: a person may have deleted the claim
/// before the node was out.
fn is_out(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    question: &Question<'_>,
    draft: &mut Draft,
) -> Option<Agreed> {
    if order::is_open(facts, turn, question, draft) {
        return None;
    }
    let agreed = evidence::prove(facts, turn, question, ProofKind::Dead, draft)?;
    forget::is_forgotten(facts, turn, question, &agreed, draft).then_some(agreed)
}

fn finish(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    let name = || member.name.clone();
    if join::complete(facts, turn, member, draft).is_none() {
        return;
    }
    if let Some(meta) = member.object.as_ref().map(|o| &o.meta) {
        // What a user has said was of the volume that is lost.
        let patch = json!({
            "metadata": { "annotations": { labels::REPLACE: Value::Null } },
            "spec": { "start": Value::Null, "replace": Value::Null },
        });
        let doing = Doing::Forget { member: name() };
        let step = Step::patch_as_seen(kinds::MEMBER, meta, patch, doing);
        draft.steps.push(step.fenced(facts.fence()));
    }
    let event = Event::normal(Happened::Replaced { member: name() });
    draft.steps.push(lock::finish(facts, turn, join::announced(member, Some(event))));
}
