//! A member that joined and was killed before anybody had noted it: its ledger
//! says that it was joining, and the ring has it as a full member, down. Its
//! data is the ring's: it comes back with it, and nothing is wiped.

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Verdict, marks};
use crate::decide::turn::lock;
use crate::facts::{Facts, MemberFact};
use palladion_api::cluster::TurnStep;
use palladion_api::ids::{HostId, Nonce, VolumeId};
use palladion_api::member::{Liveness, MemberState, RingMember, VolumeState};

/// Give the turn to a member that the ring knows and its own agent does not.
/// True = something is being done.
pub fn next(facts: &Facts<'_>, draft: &mut Draft) -> bool {
    let Some((member, volume_id)) = facts
        .members
        .values()
        .filter_map(|m| Some((m, unnoticed(m)?)))
        .find(|(m, _)| is_known_by_all(facts, m))
    else {
        return false;
    };
    let turn = lock::new(facts, &member.name, &volume_id, TurnStep::Join, 1);
    draft.steps.push(lock::claim(
        facts,
        Some(&turn),
        None,
        format!("let member {} come back, which joined unnoticed", member.name),
        None,
    ));
    true
}

/// The volume of a member whose join, as far as its agent knows, did not end.
fn unnoticed(member: &MemberFact) -> Option<VolumeId> {
    let is_open = member.spec.as_ref()?.host_id.is_none() && !member.is_gone();
    let volume = member.volume()?;
    (is_open && volume.state == VolumeState::Incomplete).then(|| volume.volume_id.clone())
}

/// The cheap look: every full member reports it, and nothing else.
fn is_known_by_all(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let mut others = evidence::others(facts, &member.name).into_iter().peekable();
    others.peek().is_some()
        && others.all(|other| {
            let odd = other.status.ring.as_ref().map(|r| r.exceptions.as_slice());
            matches!(odd, Some([only]) if is_it(member, only))
        })
}

fn is_it(member: &MemberFact, seen: &RingMember) -> bool {
    let address = member.spec.as_ref().and_then(|s| s.address.as_deref());
    address == Some(seen.address.as_str())
        && seen.state == MemberState::Normal
        && seen.liveness == Liveness::Down
}

/// What proves that the data on this member's volume is that of a full member:
/// the witnesses' fresh views have its address as one, and all else is well.
pub fn proof(
    facts: &Facts<'_>,
    witnesses: &[&MemberFact],
    nonce: &Nonce,
    member: &MemberFact,
) -> Option<String> {
    unnoticed(member)?;
    let mut host_id = None;
    for witness in witnesses {
        let answer = witness.status.evidence.as_ref().filter(|e| e.nonce == *nonce)?;
        let seen = answer.members.as_ref()?.iter().find(|m| is_it(member, m))?;
        if *host_id.get_or_insert(&seen.host_id) != &seen.host_id {
            return None;
        }
    }
    let host_id = host_id?;
    match evidence::verdict(facts, witnesses, nonce, &excused(member, host_id)) {
        Verdict::Good(proof) => Some(format!("it is host ID {host_id} already, down; {proof}")),
        Verdict::Waiting(_) | Verdict::Bad { .. } => None,
    }
}

/// Itself, and whom it has replaced: that one is out of the ring, and the
/// claim does not say so yet.
fn excused<'a>(member: &'a MemberFact, host_id: &'a HostId) -> Vec<&'a HostId> {
    let given_up = marks::of(member).map(|r| &r.host_id);
    std::iter::once(host_id).chain(member.recorded_host_id()).chain(given_up).collect()
}
