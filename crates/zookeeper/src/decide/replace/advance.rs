//! The turn of a replacement: room for another volume, another address, the permit of
//! the new server, and the exchange in the configuration.

use super::next::{begin, can_begin_now, question};
use crate::build;
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Question};
use crate::decide::turn::change::{self, Goal};
use crate::decide::turn::lock;
use crate::decide::turn::permit::{self, Course, Permit};
use crate::facts::{Facts, MemberFact, ServiceFact, Voter};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::join::Waiting as OfJoin;
use crate::words::replace::{Doing, Happened, Waiting};
use crate::words::turn::Ended;
use jiff::SignedDuration;
use palladion_api::ids::StaticAddress;
use palladion_api::labels;
use palladion_api::service::ServiceTurn;
use palladion_api::service_member::{DataBeforeServiceStart, Peer};
use palladion_plan::members::lost::{self, Over, PATIENCE};
use palladion_plan::members::turn as shared;
use palladion_plan::proof::ProofKind;
use palladion_plan::words::service::What;
use palladion_plan::workload::upsert::upsert;
use palladion_plan::{Event, Flow, Step, turn};
use serde_json::{Value, json};

/// From a failed start of the new server to the next.
const RETRY: SignedDuration = SignedDuration::from_secs(10);

/// Go on with the turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &ServiceTurn, draft: &mut Draft) {
    let Some(member) = facts.members.get(&turn.member).filter(|m| m.object.is_some()) else {
        return lock::release(facts, turn, Ended::MemberGone, draft);
    };
    if let Some(why) = is_over(facts, valid, turn, member) {
        return lock::release(facts, turn, why, draft);
    }
    match permit::course(turn, member) {
        Course::NotGiven => before_permit(facts, valid, turn, member, draft),
        Course::Open => exchange(facts, turn, member, draft),
        Course::Done => finish(facts, turn, member, draft),
        // The new server votes already, or not: either way another permit starts it.
        Course::PodEnded | Course::Failed | Course::Refused(_) => {
            let next = turn::again(facts.snapshot, turn);
            let doing = Doing::NewTurn { member: member.name.clone() };
            let waiting =
                OfJoin::Starting { member: member.name.clone(), server: member.server_words() };
            let again = turn.since.0 + RETRY;
            if facts.now() < again {
                draft.wait_for(waiting).about(member.subject()).until(again);
                return;
            }
            draft.steps.push(lock::write(facts, &next, doing));
        }
    }
}

/// End the turn for others, as the new server does not come up. A permit that has failed says
/// what came of it; one in use would be taken up again.
pub fn give_way(facts: &Facts<'_>, turn: &ServiceTurn, draft: &mut Draft) {
    let member = facts.members.get(&turn.member);
    match member.map(|m| permit::course(turn, m)) {
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
    let course = permit::course(turn, member);
    let next = lost::given_way_after(facts, valid, turn).filter(|m| can_begin_now(facts, m));
    let Some(next) = next.filter(|_| shared::has_had_its_time(facts, turn, &course)) else {
        return Flow::Free;
    };
    if course == Course::Open {
        draft.steps.extend(shared::withdraw_of_turn(facts, turn, member));
    }
    begin(facts, next, draft)
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
    let is_begun = lock::votes(facts, turn) || change::is_ordered(facts, turn);
    (member.ordinal >= valid.size && !is_begun).then_some(Ended::NotWanted)
}

fn before_permit(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &ServiceTurn,
    member: &MemberFact,
    draft: &mut Draft,
) {
    let name = || member.name.clone();
    let question = question(facts, member);
    if lost::is_needed(member) {
        if member.votes() {
            // Its agent stops it as soon as it hears of the record. Nothing is taken before.
            let server = member.server_words();
            draft.wait_for(Waiting::StillServes { member: name(), server }).about(member.subject());
            return;
        }
        let proven = evidence::prove(facts, turn, &question, ProofKind::Dead, draft);
        let Some(agreed) = proven else { return };
        // From here on the volume does not come back, whatever becomes of its Node.
        if !lost::hold(facts, [member], draft).is_busy() {
            let _ = lost::make(facts, member, &agreed.proof.stated(), draft);
        }
        return;
    }
    let Some(address) = new_address(facts, valid, turn, member, draft) else {
        return;
    };
    let lost = turn.replaces.as_ref().map(|l| &l.volume_id);
    let Some(volume) = member.volume().filter(|v| lost::is_another(v, lost)) else {
        return wait_for_pod(facts, turn, member, draft);
    };
    // A server was given to another volume. Whether that one is lost, too, is said by its
    // agent or by a user; nobody else gets its ID.
    let has_one = member.volume_id().is_some_and(|v| Some(v) != lost && *v != volume.volume_id);
    if has_one {
        let waiting = Waiting::ForPod { member: name(), pod: member.pod_words() };
        draft.wait_for(waiting).about(member.subject());
        return;
    }
    if volume.volume_id != turn.volume_id {
        let mut next = turn::asking(facts.snapshot, turn);
        next.volume_id.clone_from(&volume.volume_id);
        draft.steps.push(lock::write(facts, &next, Doing::NewTurn { member: name() }));
        return;
    }
    let known = facts.configuration().filter(|_| lock::votes(facts, turn));
    if let Some((configuration, proof)) =
        known.and_then(|c| Some((c, evidence::keeps_its_data(facts, turn, member)?)))
    {
        let data = DataBeforeServiceStart::Keep;
        let peers = permit::peers(&configuration, turn);
        let permit = Permit { turn, member, address: &address, peers, data, proof: &proof };
        return permit::give(facts, &permit, draft);
    }
    let question = question.without(turn.server_id);
    let proven = evidence::prove(facts, turn, &question, ProofKind::Dead, draft);
    let Some(agreed) = proven else { return };
    let votes = turn.server_id.is_some_and(|id| agreed.configuration.server(id).is_some());
    let data = match votes {
        true => DataBeforeServiceStart::Keep,
        false => permit::data_before_join(member),
    };
    let mut peers = permit::peers(&agreed.configuration, turn);
    peers.retain(|p| !member.lost_ids().contains(&p.server_id));
    let permit = Permit { turn, member, address: &address, peers, data, proof: &agreed.proof };
    permit::give(facts, &permit, draft);
}

/// Until it has a pod on its new volume. Others go on meanwhile where there is no machine for
/// it, unless its server votes: then all wait for its answer.
fn wait_for_pod(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    let until = turn.since.0 + PATIENCE;
    if facts.now() >= until && !lock::votes(facts, turn) {
        return lock::release(facts, turn, Ended::PodGone, draft);
    }
    let waiting = Waiting::ForPod { member: member.name.clone(), pod: member.pod_words() };
    draft.wait_for(waiting).about(member.subject()).until(until.max(facts.now() + RETRY));
}

/// The address of the new server, once it has one: that of the lost one stays with its
/// Service, since a configuration names it.
fn new_address(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &ServiceTurn,
    member: &MemberFact,
    draft: &mut Draft,
) -> Option<StaticAddress> {
    let name = build::service_name(&member.name, turn.server_id);
    let is_it = |s: &&ServiceFact| s.object.meta.name == name;
    if let Some(service) = member.services.iter().find(is_it) {
        return service.address.clone();
    }
    let object = build::member_service(valid, &member.name, &name, None, false);
    let what = What::MemberService { member: member.name.clone() }.to_string();
    let seen = facts.objects(kinds::SERVICE);
    if let Ok(step) = upsert(kinds::SERVICE, &valid.namespace, seen, object, &what, None) {
        draft.steps.push(step);
    }
    draft.wait_for(Waiting::ForAddress { member: member.name.clone() }).about(member.subject());
    None
}

/// The new server was started: once it follows, it takes the place of the lost one.
fn exchange(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    let (name, server) = (member.name.clone(), member.server_words());
    let (Some(id), Some(address)) = (turn.server_id, member.address()) else {
        return lock::release(facts, turn, Ended::NoServerId, draft);
    };
    if member.view().is_none_or(|v| v.mode.is_none()) {
        let waiting = OfJoin::Starting { member: name, server };
        // Then others may come first.
        let until = (turn.since.0 + PATIENCE).max(facts.now() + RETRY);
        draft.wait_for(waiting).about(member.subject()).until(until);
        return;
    }
    let question = Question { joiner: Some(member), ..question(facts, member) };
    let goal = Goal {
        add: vec![Peer { server_id: id, address: address.clone() }],
        remove: member.lost_ids(),
    };
    if change::bring(facts, turn, &question, ProofKind::Dead, &goal, draft).is_some() {
        let waiting = OfJoin::Completing { member: name, server };
        draft.wait_for(waiting).about(member.subject());
    }
}

fn finish(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    let meta = member.object.as_ref().map(|o| &o.meta);
    let name = || member.name.clone();
    if let Some(meta) = meta {
        // What a user has said was of the volume that is lost.
        let patch = json!({
            "metadata": { "annotations": { labels::REPLACE: Value::Null } },
            "spec": { "start": Value::Null, "replace": Value::Null },
        });
        let doing = Doing::Forget { member: name() };
        let step = Step::patch_as_seen(kinds::MEMBER, meta, patch, doing);
        draft.steps.push(step.fenced(facts.fence()));
    }
    let lost = turn.replaces.as_ref().and_then(|l| l.server_id);
    let event = lost
        .zip(turn.server_id)
        .map(|(old, new)| Event::normal(Happened::Replaced { member: name(), old, new }));
    draft.steps.push(lock::finish(facts, turn, event));
}
