//! The first start: given once, to one volume.

use super::survey::{Found, Survey, nonce, survey};
use crate::decide::draft::Draft;
use crate::decide::turn::{lock, server_id};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::initialize::{Doing, Problem};
use palladion_api::ids::Nonce;
use palladion_api::labels;
use palladion_api::service::{Ask, AskKind, ServiceInitialization, ServiceStep};
use palladion_api::service_member::MemberVolumeState;
use palladion_plan::turn;
use palladion_plan::words::Several;
use serde_json::json;

/// Initialize the ensemble, or say why not yet.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    match survey(facts, valid) {
        Survey::Waiting(waiting, member) => {
            draft.wait_for(waiting).object = member.map(MemberFact::subject);
        }
        Survey::NeverAsked(member) => {
            let claim = member.claim.as_ref().map(|c| c.object.meta.name.clone());
            draft.report(Problem::NeverAsked {
                claim: claim.unwrap_or_default(),
                member: member.name.clone(),
                namespace: valid.namespace.clone(),
            });
        }
        Survey::Doubt(found) => {
            let nonce = nonce(&valid.uid, &found);
            if is_allowed(facts, &nonce) {
                return start(facts, candidate(facts, valid), draft);
            }
            let about = found.iter().filter_map(Found::volume_id).collect();
            let problem = Problem::Doubtful {
                doubts: Several(found.into_iter().map(|f| f.doubt).collect()),
                namespace: valid.namespace.clone(),
                cluster: valid.name.clone(),
                annotation: labels::ALLOW_INITIALIZATION,
                nonce: nonce.clone(),
            };
            let message = problem.to_string();
            draft.more.ask = Some(Ask { kind: AskKind::Initialize, nonce, about, message });
            draft.report(problem);
        }
        Survey::Resume(first) => start(facts, Some(first), draft),
        Survey::Clear => start(facts, candidate(facts, valid), draft),
    }
}

/// Has a person allowed a new ensemble with the nonce that is shown?
fn is_allowed(facts: &Facts<'_>, nonce: &Nonce) -> bool {
    let given = facts.snapshot.owner.meta.annotations.get(labels::ALLOW_INITIALIZATION);
    given.is_some_and(|given| Nonce::new(given) == *nonce)
}

/// The first of those that are wanted, on an empty volume.
fn candidate<'a>(facts: &'a Facts<'_>, valid: &Valid) -> Option<&'a MemberFact> {
    let members = valid.wanted().filter_map(|name| facts.members.get(&name));
    let is_empty = |m: &&MemberFact| {
        m.volume().is_some_and(|v| v.state == MemberVolumeState::Empty)
            && m.object.is_some()
            && m.service().is_some_and(|s| s.address.is_some())
    };
    let mut found = members.filter(is_empty);
    found.next()
}

fn start(facts: &Facts<'_>, first: Option<&MemberFact>, draft: &mut Draft) {
    let Some((first, volume)) = first.and_then(|m| Some((m, m.volume()?))) else {
        return;
    };
    let (name, volume_id) = (&first.name, &volume.volume_id);
    let mut turn = turn::new(facts.snapshot, name, volume_id, ServiceStep::Initialize);
    turn.server_id = server_id::of(facts, first, volume_id);
    turn.question = None;
    let record = ServiceInitialization {
        member: name.clone(),
        volume_id: volume_id.clone(),
        nonce: turn.nonce.clone(),
        served_at: None,
    };
    let doing = Doing::Start { member: name.clone() };
    draft.steps.push(lock::write_with(facts, &turn, vec![("initialized", json!(record))], doing));
}
