//! The cheap look before a turn is taken: what members report by themselves.

use super::datacenters::{self, Elsewhere, Seen};
use super::marks;
use super::proof::Proof;
use super::witness::{known_hosts, rest_of};
use crate::facts::{Facts, MemberFact, lines};
use crate::words::evidence::{Objection, Proven};
use palladion_api::ids::{HostId, MemberName};
use palladion_api::member::{MemberState, RingMember, RingSummary};
use palladion_plan::proof::ProofKind;
use palladion_plan::words::Count;

/// The same as a proof, for maintenance of this member: it needs nobody's
/// answer to a question, since it stops nothing and no turn is taken for it.
pub fn is_quiet_for(facts: &Facts<'_>, member: &MemberFact) -> Result<Proof, Objection> {
    ring_is_quiet(facts)?;
    let members = Count::of(known_hosts(facts).len(), "member");
    Ok(Proof::seen(facts, ProofKind::Quiet, member, &Proven::Quiet { members }))
}

/// The same of a ring that a whole datacenter is lost of, which is to be removed.
pub fn is_quiet_without(
    facts: &Facts<'_>,
    member: &MemberFact,
    datacenter: &str,
) -> Result<Proof, Objection> {
    let all: Vec<&MemberFact> = facts.joined().collect();
    let mut views = views(facts, &all, None, Elsewhere::AllNormal)?;
    views.iter_mut().for_each(|view| view.leave_out(datacenter));
    if let Some(why) = datacenters::objection(facts, views, Elsewhere::AllNormal) {
        return Err(why);
    }
    let members = Count::of(known_hosts(facts).len(), "member");
    Ok(Proof::seen(facts, ProofKind::Quiet, member, &Proven::Quiet { members }))
}

/// The cheap look before a turn is taken: what the members report by
/// themselves. `Err` names what is not as it should be.
pub fn ring_is_quiet(facts: &Facts<'_>) -> Result<(), Objection> {
    ring_is_quiet_but(facts, Elsewhere::AllNormal)
}

/// The same, as far as other datacenters matter to the step.
pub fn ring_is_quiet_but(facts: &Facts<'_>, elsewhere: Elsewhere) -> Result<(), Objection> {
    all_quiet(facts, &facts.joined().collect::<Vec<_>>(), None, elsewhere)
}

/// Nobody joins, leaves or moves, as far as members say so that are up, and these
/// have one schema; who is down may be.
pub fn nobody_moves(facts: &Facts<'_>) -> Result<(), Objection> {
    for member in facts.joined() {
        let Ok(ring) = ring_of(facts, member) else { continue };
        let moves = |odd: &&RingMember| odd.state != MemberState::Normal;
        if let Some(odd) = ring.exceptions.iter().find(moves) {
            return Err(sees(member, odd));
        }
        if !ring.schema_agreed && !lines::explain_schemas(facts) {
            return Err(Objection::Schemas { witness: member.name.clone() });
        }
    }
    Ok(())
}

/// The other datacenters are as a step takes them, as far as these members report.
pub fn elsewhere_is_quiet(
    facts: &Facts<'_>,
    members: &[&MemberFact],
    elsewhere: Elsewhere,
) -> Result<(), Objection> {
    let reports = members.iter().filter_map(|m| Some((m, m.status.ring.as_ref()?)));
    let views: Vec<Seen<'_>> =
        reports.map(|(member, ring)| Seen::of_report(facts, member, ring)).collect();
    datacenters::objection(facts, views, elsewhere).map_or(Ok(()), Err)
}

/// All others are up and normal, and see nobody in trouble but this one: it is to
/// be stopped, whatever it reports itself.
pub fn others_are_quiet(facts: &Facts<'_>, member: &MemberFact) -> Result<(), Objection> {
    let others = facts.joined().filter(|m| m.name != member.name);
    let others = others.collect::<Vec<_>>();
    all_quiet(facts, &others, member.recorded_host_id(), Elsewhere::AllNormal)
}

/// These see nobody in trouble, but for whom the step is about.
fn all_quiet(
    facts: &Facts<'_>,
    members: &[&MemberFact],
    except: Option<&HostId>,
    elsewhere: Elsewhere,
) -> Result<(), Objection> {
    let views = views(facts, members, except, elsewhere)?;
    datacenters::objection(facts, views, elsewhere).map_or(Ok(()), Err)
}

/// What these see of other datacenters, where they see nobody here in trouble.
fn views<'a>(
    facts: &Facts<'_>,
    members: &[&'a MemberFact],
    except: Option<&HostId>,
    elsewhere: Elsewhere,
) -> Result<Vec<Seen<'a>>, Objection> {
    let known = known_hosts(facts).len();
    let without = except.map_or(known, |host_id| rest_of(facts, host_id));
    none_is_stopped(members.iter().copied())?;
    let mut views = Vec::new();
    for member in members {
        let ring = ring_of(facts, member)?;
        let odd =
            ring.exceptions.iter().find(|e| Some(&e.host_id) != except && !facts.is_elsewhere(e));
        if let Some(odd) = odd {
            return Err(sees(member, odd));
        }
        if !ring.schema_agreed && !lines::explain_schemas(facts) {
            return Err(Objection::Schemas { witness: member.name.clone() });
        }
        // Who has started since the others lost that one may not have heard of it.
        let seen = facts.own_members(ring);
        if facts.is_blind(member) {
            // The restart itself brings the agent that says who is elsewhere. All that this one
            // sees are up and normal, whoever they are.
            match elsewhere {
                Elsewhere::OneDown if seen >= known => continue,
                Elsewhere::AllNormal if seen > known => {
                    return Err(unplaced(member, seen, known));
                }
                Elsewhere::OneDown | Elsewhere::AllNormal => {}
            }
        }
        if seen != known && seen != without {
            let (witness, members) = (member.name.clone(), Count::of(seen, "member"));
            return Err(Objection::SeesOnly { witness, members, recorded: known });
        }
        views.push(Seen::of_report(facts, member, ring));
    }
    Ok(views)
}

/// All others are up and normal, and see nobody in trouble but the lost one,
/// and whom else nobody waits for any more.
pub fn rest_is_quiet(
    facts: &Facts<'_>,
    name: &MemberName,
    host_id: &HostId,
    elsewhere: Elsewhere,
) -> Result<(), Objection> {
    let excused = marks::excused(facts, host_id);
    let without = rest_of(facts, host_id);
    let is_other = |m: &&MemberFact| m.name != *name && marks::of(m).is_none();
    none_is_stopped(facts.joined().filter(is_other))?;
    let (mut views, mut differing) = (Vec::new(), None);
    for member in facts.joined().filter(is_other) {
        let ring = ring_of(facts, member)?;
        let odd = ring
            .exceptions
            .iter()
            .find(|e| !excused.contains(&&e.host_id) && !facts.is_elsewhere(e));
        if let Some(odd) = odd {
            return Err(sees(member, odd));
        }
        let knows = facts.own_members(ring) != without;
        if knows && !ring.exceptions.iter().any(|e| e.host_id == *host_id) {
            let (witness, member) = (member.name.clone(), name.clone());
            return Err(Objection::StillUp { witness, member });
        }
        if !ring.schema_agreed {
            differing.get_or_insert(member);
        }
        views.push(Seen::of_report(facts, member, ring));
    }
    match (views.is_empty(), datacenters::objection(facts, views, elsewhere)) {
        (true, _) => return Err(Objection::OnlyMember),
        (false, Some(why)) => return Err(why),
        (false, None) => {}
    }
    // Last: what a person is needed for is said first. A proof asks for it as well, and a turn
    // that is taken without it would end as soon as it is answered, again and again.
    match differing.filter(|_| !lines::explain_schemas(facts)) {
        Some(witness) => Err(Objection::Schemas { witness: witness.name.clone() }),
        None => Ok(()),
    }
}

/// Nobody is stopped because people want it: said before what others see of it.
fn none_is_stopped<'a>(mut members: impl Iterator<Item = &'a MemberFact>) -> Result<(), Objection> {
    match members.find(|m| m.is_stopped()) {
        Some(stopped) => Err(stands_still(stopped)),
        None => Ok(()),
    }
}

/// What a member that is up and normal reports of the ring.
fn ring_of<'a>(facts: &Facts<'_>, member: &'a MemberFact) -> Result<&'a RingSummary, Objection> {
    let name = || member.name.clone();
    if !member.is_normal() {
        return Err(Objection::NotNormal { member: name() });
    }
    if let Some(silence) = facts.silence(member) {
        return Err(Objection::Silent { member: name(), since: silence.since() });
    }
    member.status.ring.as_ref().ok_or_else(|| Objection::NotReported { member: name() })
}

/// Its agent does not say which of them are elsewhere.
fn unplaced(member: &MemberFact, seen: usize, recorded: usize) -> Objection {
    let agent = member.status.agent.as_ref().map(|a| a.version.clone()).unwrap_or_default();
    let members = Count::of(seen, "member");
    Objection::Unplaced { witness: member.name.clone(), members, recorded, agent }
}

fn sees(member: &MemberFact, odd: &RingMember) -> Objection {
    Objection::Sees {
        witness: member.name.clone(),
        address: odd.address.clone(),
        life: odd.liveness.into(),
        part: odd.state.into(),
    }
}

/// Why a member that people have stopped forbids a step.
pub(super) fn stands_still(member: &MemberFact) -> Objection {
    let name = member.name.clone();
    match member.is_terminated() {
        true => Objection::Terminated { member: name },
        false => Objection::Stopped { member: name },
    }
}
