//! The first start of a new ring: given once, to one volume, and only if nothing
//! that exists could be an older ring (safety rule 2.4).

use super::doubt::{self, Doubt};
use super::survey::{Survey, survey};
use super::{restored, security};
use crate::clients;
use crate::decide::draft::Draft;
use crate::decide::objects::replicas;
use crate::decide::turn::{failed_start, lock};
use crate::facts::region::{OnRecord, Sharing};
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::initialize::{Doing, Happened, Problem, Waiting};
use crate::words::region;
use palladion_api::cluster::{InitializedElsewhere, RingOrigin, TurnStep};
use palladion_api::ids::Nonce;
use palladion_api::labels;
use palladion_api::member::VolumeState;
use palladion_plan::lock::Claimant;
use palladion_plan::wait::Subject;
use palladion_plan::{Event, Flow, Step};
use serde_json::json;

/// Initialize the ring, or say why not yet.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    if facts.ring_exists() {
        return Flow::Free;
    }
    // Whatever is on record, and whatever a person allows: a ring that exists is joined.
    if valid.elsewhere.origin == RingOrigin::Existing {
        return Flow::Free;
    }
    if facts.status.initialization.is_some()
        && facts.restoring().is_some()
        && restored::is_over(facts)
    {
        restored::report(facts, valid, draft);
        return Flow::Busy;
    }
    if !security::has_credentials(facts, valid) {
        wait_for(Waiting::Credentials, draft);
        return Flow::Busy;
    }
    let elsewhere = match elsewhere(facts, draft) {
        Ok(elsewhere) => elsewhere,
        Err(waiting) => {
            draft.wait_for(waiting);
            return Flow::Busy;
        }
    };
    let seeds = (!valid.elsewhere.seeds.is_empty()).then_some(Doubt::SeedsElsewhere);
    match doubted(survey(facts, valid), elsewhere.into_iter().chain(seeds).collect()) {
        Survey::Waiting(waiting) => wait_for(waiting, draft),
        Survey::NeverAsked(member, claim) => draft.report(Problem::NeverAsked {
            claim: claim.object.meta.name.clone(),
            member: member.name.clone(),
            namespace: valid.namespace.clone(),
        }),
        Survey::Doubt { doubts, begun } => match allowed(facts, &doubts) {
            Ok(()) => match (begun, empty_candidate(facts, valid)) {
                (Some(first), _) => start(facts, valid, first, 2, draft),
                (None, Some(first)) => start(facts, valid, first, 1, draft),
                (None, None) => wait_for(Waiting::NoEmptyVolume, draft),
            },
            Err(nonce) => {
                let (namespace, cluster) = (valid.namespace.clone(), valid.name.clone());
                let annotation = labels::ALLOW_INITIALIZATION;
                draft.report(match &doubts[..] {
                    [Doubt::Elsewhere(Claimant { region, uid })] => {
                        let (region, uid) = (region.clone(), uid.clone());
                        Problem::Elsewhere { region, uid, namespace, cluster, annotation, nonce }
                    }
                    doubts => {
                        let doubts = doubt::words(doubts);
                        Problem::Doubtful { doubts, namespace, cluster, annotation, nonce }
                    }
                });
            }
        },
        Survey::Resume(first) => start(facts, valid, first, 2, draft),
        Survey::Clear(first) => start(facts, valid, first, 1, draft),
    }
    Flow::Busy
}

/// Who else initializes this ring, over all regions. Put on record once it is known, so that
/// nobody asks again: the record beside the lock never changes. Where the lock is not held that
/// is not known yet, and the turn is not given either.
fn elsewhere(facts: &Facts<'_>, draft: &mut Draft) -> Result<Option<Doubt>, region::Waiting> {
    let Sharing::Shared(own) = facts.sharing() else { return Ok(None) };
    match facts.initialized_by() {
        Some((by, _)) if by.uid == own.claimant.uid => Ok(None),
        Some((by, on_record)) => {
            if on_record == OnRecord::No {
                draft.steps.push(record_elsewhere(facts, &by));
            }
            Ok(Some(Doubt::Elsewhere(by)))
        }
        None if facts.held_token().is_none() => Ok(None),
        None => Err(region::Waiting::Recording),
    }
}

fn record_elsewhere(facts: &Facts<'_>, by: &Claimant) -> Step {
    let other = InitializedElsewhere { region: by.region.clone(), uid: by.uid.clone() };
    let seen = ["/status/turn", "/status/initialization"].map(|at| lock::seen(facts, at));
    let doing = region::Doing::RecordElsewhere { region: by.region.clone() };
    Step::compare_and_set(json!({ "initializedElsewhere": other }), seen.into(), doing)
}

/// What a record beside the region lock, and the spec, add to what was found here.
fn doubted(found: Survey<'_>, more: Vec<Doubt>) -> Survey<'_> {
    if more.is_empty() {
        return found;
    }
    match found {
        Survey::Waiting(_) | Survey::NeverAsked(..) => found,
        Survey::Doubt { mut doubts, begun } => {
            doubts.extend(more);
            Survey::Doubt { doubts, begun }
        }
        // What was begun by a permit was decided before.
        Survey::Resume(first) if more == [Doubt::SeedsElsewhere] => Survey::Resume(first),
        Survey::Resume(first) => Survey::Doubt { doubts: more, begun: Some(first) },
        Survey::Clear(_) => Survey::Doubt { doubts: more, begun: None },
    }
}

fn wait_for(waiting: Waiting, draft: &mut Draft) {
    let member = waiting.member().map(|name| Subject::new(kinds::MEMBER, name));
    draft.wait_for(waiting).object = member;
}

/// Has a person allowed a new ring with the nonce that is shown?
fn allowed(facts: &Facts<'_>, doubts: &[Doubt]) -> Result<(), Nonce> {
    let owner = &facts.snapshot.owner.meta;
    let nonce = doubt::nonce(&owner.uid, doubts);
    match owner.annotations.get(labels::ALLOW_INITIALIZATION) {
        Some(given) if Nonce::new(given) == nonce => Ok(()),
        _ => Err(nonce),
    }
}

fn empty_candidate<'a>(facts: &'a Facts<'_>, valid: &Valid) -> Option<&'a MemberFact> {
    replicas::in_order(facts, valid)
        .into_iter()
        .filter_map(|(_, name)| facts.members.get(&name))
        .filter(|m| replicas::is_wanted(valid, m))
        .find(|m| m.volume().is_some_and(|v| v.state == VolumeState::Empty))
}

fn start(facts: &Facts<'_>, valid: &Valid, first: &MemberFact, attempt: u32, draft: &mut Draft) {
    let Some(volume) = first.volume() else {
        return;
    };
    if !security::can_seal(valid, first) {
        return draft.report(Problem::AgentTooOld { member: first.name.clone() });
    }
    // `load_balancers` says so.
    if clients::lacks_address(valid, first) {
        return;
    }
    if let Some(waiting) = restored::waits(facts, valid, first) {
        return wait_for(waiting, draft);
    }
    if failed_start::has_failed_for_good(first) {
        return failed_start::report_for_good(first, draft);
    }
    let turn = lock::new(facts, &first.name, &volume.volume_id, TurnStep::Initialize, attempt);
    let (member, ring) = (first.name.clone(), valid.ring.clone());
    // Worth an event where a person has allowed it beside what is in doubt.
    let event = facts.snapshot.owner.meta.annotations.contains_key(labels::ALLOW_INITIALIZATION);
    let happened = Happened::Started { member: member.clone(), ring: ring.clone() };
    let event = event.then(|| Event::normal(happened));
    draft.steps.push(lock::take(facts, &turn, Doing::Start { member, ring }, event));
}
