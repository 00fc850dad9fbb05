//! The first member of a datacenter whose ring exists elsewhere. Nothing is initialized, whatever
//! is on record and whatever a person allows: the member joins by seeds elsewhere, on an empty
//! volume, and only if nothing that exists here could be an older ring.

use super::next::candidate;
use crate::decide::draft::Draft;
use crate::decide::evidence::{Proof, records};
use crate::decide::initialize::{Survey, doubts_in_words, survey};
use crate::decide::turn::lock;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::initialize::{Problem, Waiting};
use crate::words::join::Doing;
use palladion_api::cluster::{RingOrigin, Turn, TurnStep};
use palladion_api::member::VolumeState;
use palladion_plan::{Flow, Subject};

/// Agents of this protocol name seeds elsewhere, and say in which datacenter members are.
pub const KNOWS_DATACENTERS: u32 = 13;

/// Give the turn to the first member, or say what it waits for.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    if facts.ring_exists() || valid.elsewhere.origin == RingOrigin::New {
        return Flow::Free;
    }
    if let Err(hindrance) = is_clear(facts, valid) {
        hindrance.tell(draft);
        return Flow::Busy;
    }
    let Some(member) = candidate(facts, valid, draft) else {
        return Flow::Busy;
    };
    let Some(volume) = member.volume() else {
        return Flow::Busy;
    };
    if !knows_datacenters(member) {
        draft.report(Problem::AgentNamesNoSeeds { member: member.name.clone() });
        return Flow::Busy;
    }
    let turn = lock::new(facts, &member.name, &volume.volume_id, TurnStep::Join, 1);
    let doing = Doing::StartElsewhere { member: member.name.clone(), ring: valid.ring.clone() };
    draft.steps.push(lock::take(facts, &turn, doing, None));
    Flow::Busy
}

/// Is this the turn of the first member of such a datacenter?
pub fn is_first(facts: &Facts<'_>, valid: &Valid, turn: &Turn) -> bool {
    let joins = turn.step == TurnStep::Join;
    joins && valid.elsewhere.origin == RingOrigin::Existing && !facts.ring_exists()
}

/// What proves that nothing of an older ring is here, looked at again right before the permit.
pub fn may_join(
    facts: &Facts<'_>,
    valid: &Valid,
    member: &MemberFact,
    draft: &mut Draft,
) -> Option<Proof> {
    match is_clear(facts, valid) {
        Ok(()) if knows_datacenters(member) => Some(records::is_first_here(facts, member)),
        Ok(()) => {
            draft.report(Problem::AgentNamesNoSeeds { member: member.name.clone() });
            None
        }
        Err(hindrance) => {
            hindrance.tell(draft);
            None
        }
    }
}

fn knows_datacenters(member: &MemberFact) -> bool {
    let agent = member.status.agent.as_ref().filter(|_| member.agent_speaks());
    agent.is_some_and(|agent| agent.protocol >= KNOWS_DATACENTERS)
}

/// What keeps the first member from joining.
enum Hindrance {
    Waits(Waiting),
    Reported(Box<Problem>),
}

impl Hindrance {
    fn tell(self, draft: &mut Draft) {
        match self {
            Hindrance::Waits(waiting) => {
                let member = waiting.member().map(|name| Subject::new(kinds::MEMBER, name));
                draft.wait_for(waiting).object = member;
            }
            Hindrance::Reported(problem) => draft.report(*problem),
        }
    }
}

/// Has every volume here been looked at, and may none of them be of an older ring? What an
/// earlier try to join has left is none: it goes with the next one.
fn is_clear(facts: &Facts<'_>, valid: &Valid) -> Result<(), Hindrance> {
    let doubts = match survey(facts, valid) {
        Survey::Waiting(waiting) => return Err(Hindrance::Waits(waiting)),
        Survey::NeverAsked(member, claim) => {
            return Err(Hindrance::Reported(Box::new(Problem::NeverAsked {
                claim: claim.object.meta.name.clone(),
                member: member.name.clone(),
                namespace: valid.namespace.clone(),
            })));
        }
        // A record of an initialization is of another object of this name.
        Survey::Clear(_) | Survey::Resume(_) => return Ok(()),
        Survey::Doubt { doubts, .. } => doubts,
    };
    let may_be_older = |member: &MemberFact| match member.volume().map(|v| v.state) {
        None | Some(VolumeState::Empty | VolumeState::Incomplete | VolumeState::Left) => false,
        Some(
            VolumeState::Joined
            | VolumeState::Lost
            | VolumeState::NotMounted
            | VolumeState::Foreign
            | VolumeState::Unaccounted
            | VolumeState::Unknown,
        ) => true,
    };
    match facts.members.values().any(may_be_older) {
        true => {
            let doubts = doubts_in_words(&doubts);
            Err(Hindrance::Reported(Box::new(Problem::NotEmpty { doubts })))
        }
        false => Ok(()),
    }
}
