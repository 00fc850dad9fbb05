//! Which member is to be replaced next: one whose volume is provably lost or
//! is marked for replacement, while all the rest is well.

use crate::clients;
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Elsewhere, absence, marks};
use crate::decide::maintenance::{absences, access, hinted, hints, pay};
use crate::decide::objects::replicas;
use crate::decide::turn::lock;
use crate::facts::leaver::failed_halfway;
use crate::facts::words::pod_words;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::evidence::{Objection, Unmarked};
use crate::words::leave;
use crate::words::replace::{Doing, Happened, Held, Problem, Waiting};
use palladion_api::cluster::{Mode, TurnStep};
use palladion_api::ids::{HostId, MemberName};
use palladion_plan::words::Names;
use palladion_plan::{Event, Flow};

/// The first member whose volume is lost, and for which there is a pod.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    let mut waits = Flow::Free;
    for (_, name) in replicas::in_order(facts, valid) {
        let Some(member) = facts.members.get(&name) else {
            continue;
        };
        if let Some(why) = is_over(facts, member) {
            draft.steps.extend(marks::withdraw(member, why, None));
            return Flow::Busy;
        }
        let Some((volume_id, replaced)) = evidence::lost(member) else {
            continue;
        };
        // What is being taken back is no ground for a turn any more.
        if marks::is_withdrawn(member, draft) {
            return Flow::Busy;
        }
        let unwanted = marks::of(member).is_some() && !replicas::is_wanted(valid, member);
        let is_out = absence::is_out(facts, &name, &replaced.host_id);
        let removed = unwanted || is_out;
        let way = if removed { Way::Remove } else { Way::Replace };
        let voters = match is_out {
            true => absence::voters_on_removed(member),
            false => absence::voters(member),
        };
        // A lost member here and one elsewhere would wait for each other.
        let can_go_on =
            evidence::rest_is_quiet(facts, &name, &replaced.host_id, Elsewhere::OneDown)
                .and_then(|()| absence::can_be_proven(facts, member, &replaced.host_id, voters));
        // Of who is out only the record is closed.
        let is_held = |why: &Objection| !(is_out && matches!(why, Objection::Schemas { .. }));
        if let Some(why) = can_go_on.err().filter(is_held) {
            let held = way.held(name.clone(), why);
            if let Some(problem) = held_by_leave(facts, valid, member) {
                draft.report(problem);
            } else if marks::of(member).is_some() {
                draft.report(Problem::Held { held: held.clone() });
            }
            draft.wait_for(Waiting::Held { held }).about(member.subject());
            return Flow::Busy;
        }
        if !removed && waits_for_its_pod(member) {
            let waiting = Waiting::ForPod { member: name.clone(), pod: pod_words(member) };
            draft.wait_for(waiting).about(member.subject());
            // The next one may have a place, and this one none for days.
            waits = Flow::Busy;
            continue;
        }
        // Where no rollout has begun it would wait for this one.
        if !removed && access::is_open_to_all(facts, valid) && facts.joined().any(|m| m.is_sealed())
        {
            draft.wait_for(Waiting::ForRoles { member: name.clone() }).about(member.subject());
            return Flow::Busy;
        }
        // `load_balancers` says so: its successor would wait with the turn.
        if !removed && clients::lacks_address(valid, member) {
            return Flow::Busy;
        }
        let members = match way {
            Way::Remove => facts.not_rebuilt(),
            Way::Replace => Vec::new(),
        };
        if !members.is_empty() {
            let members = Names::of(members);
            draft.wait_for(leave::Waiting::NotRebuilt { member: name, members });
            return waits;
        }
        // Scylla streams from all who hold a range.
        if valid.mode == Mode::Cassandra
            && is_short_of_data(facts, valid, member, &replaced.host_id, draft).is_busy()
        {
            return Flow::Busy;
        }
        let mut turn = lock::new(facts, &name, &volume_id, way.step(), 1);
        turn.replaces = Some(replaced);
        let (doing, event) = way.begins(&name);
        draft.steps.push(lock::take(facts, &turn, doing, Some(Event::normal(event))));
        return Flow::Busy;
    }
    waits
}

/// A decommission that failed halfway waits for this one, which waits for it:
/// Cassandra lets nobody join while it sees a member leaving. Only a restart of
/// the leaver ends that, and stops a second member: a person says when.
fn held_by_leave(facts: &Facts<'_>, valid: &Valid, member: &MemberFact) -> Option<Problem> {
    let mut others = facts.members.values().filter(|m| m.name != member.name);
    let leaver = others.find(|m| failed_halfway(m).is_some())?;
    Some(Problem::HeldByLeave {
        leaver: leaver.name.clone(),
        member: member.name.clone(),
        namespace: valid.namespace.clone(),
    })
}

/// Replacement and removal stream each range from one member that is left: not
/// from one that lacks what it should hold, whichever of those that are lost had it.
fn is_short_of_data(
    facts: &Facts<'_>,
    valid: &Valid,
    lost: &MemberFact,
    host_id: &HostId,
    draft: &mut Draft,
) -> Flow {
    let is_lost = |m: &&MemberFact| !m.is_gone() && evidence::lost(m).is_some();
    let all_lost = || facts.members.values().filter(is_lost);
    let record = absences::uncounted(facts, valid)
        .or_else(|| all_lost().find_map(|m| hinted::lost_with(facts, m, hints::window(valid))));
    if let Some(record) = record {
        draft.steps.push(record);
        return Flow::Busy;
    }
    pay::before_replacement(facts, (&lost.name, host_id), draft)
}

/// How the ring gets over the loss of a member.
#[derive(Clone, Copy)]
enum Way {
    /// Another volume takes its place.
    Replace,
    /// It goes.
    Remove,
}

impl Way {
    fn step(self) -> TurnStep {
        match self {
            Way::Replace => TurnStep::Replace,
            Way::Remove => TurnStep::Remove,
        }
    }

    fn held(self, member: MemberName, why: Objection) -> Held {
        match self {
            Way::Replace => Held::Replace { member, why },
            Way::Remove => Held::Remove { member, why },
        }
    }

    fn begins(self, name: &MemberName) -> (Doing, Happened) {
        let member = || name.clone();
        match self {
            Way::Replace => {
                (Doing::BeginReplace { member: member() }, Happened::Begins { member: member() })
            }
            Way::Remove => {
                (Doing::BeginRemove { member: member() }, Happened::Removal { member: member() })
            }
        }
    }
}

/// The record of a volume that is marked has done its work, or is void.
fn is_over(facts: &Facts<'_>, member: &MemberFact) -> Option<Unmarked> {
    let record = marks::of(member)?;
    let spec = member.spec.as_ref()?;
    let is_another = |id: &HostId| *id != record.host_id;
    if spec.host_id.as_ref().is_some_and(is_another) {
        return Some(Unmarked::Replaced);
    }
    // Its claim may be going by now: as long as the pod is there, it serves with its data, and
    // a turn would end as soon as it is taken, again and again. What goes is told.
    let kept = marks::has_old_claim(member) && spec.host_id.is_some();
    let others = evidence::others(facts, &member.name).len();
    let doubts = evidence::seen_up_by(facts, &member.name, &record.host_id).len();
    let lives = member.lives_by_its_own_word(&facts.nodes);
    match doubts {
        _ if !kept || !lives || others == 0 => None,
        // It is cut off: it was down when it was marked, or its mark is older than its word.
        0 => Some(Unmarked::Serves),
        _ => (doubts == others).then_some(Unmarked::UpAgain),
    }
}

/// Its claim is recreated, and nothing can be done before a pod is on it.
fn waits_for_its_pod(member: &MemberFact) -> bool {
    marks::of(member).is_some() && !marks::has_old_claim(member) && member.volume().is_none()
}
