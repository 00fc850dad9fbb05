//! What a user is asked, and the turn to remove one stranger.

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Question};
use crate::decide::turn::lock;
use crate::facts::{Facts, MemberFact, Voter};
use crate::words::remove::{Doing, Problem, Waiting};
use palladion_api::ids::Nonce;
use palladion_api::labels;
use palladion_api::service::{AskKind, LostMember, ServiceStep};
use palladion_api::zookeeper::ServerId;
use palladion_plan::members::ask;
use palladion_plan::words::Names;
use palladion_plan::{Flow, hash, turn};
use serde_json::json;

/// Ask a user, or begin with the first.
pub fn next(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    let strangers = facts.strangers();
    let (Some(first), Some(member)) = (strangers.first(), speaker(facts)) else {
        return Flow::Free;
    };
    if !is_allowed(facts, &strangers) {
        ask(facts, &strangers, draft);
        return Flow::Free;
    }
    if let Err(why) = evidence::is_quiet(facts, &question(facts, member, &strangers)) {
        let waiting = Waiting::ForEnsemble { id: *first, why };
        draft.wait_for(waiting).about(member.subject());
        return Flow::Busy;
    }
    let Some(volume) = member.volume_id() else {
        return Flow::Free;
    };
    let mut turn = turn::new(facts.snapshot, &member.name, volume, ServiceStep::Remove);
    turn.replaces = Some(LostMember {
        volume_id: Default::default(),
        server_id: Some(*first),
        node_name: None,
        address: None,
        claim_uid: None,
    });
    draft.steps.push(lock::write(facts, &turn, Doing::Start { id: *first }));
    Flow::Busy
}

/// The member in whose name it is done: the first that votes.
fn speaker<'a>(facts: &'a Facts<'_>) -> Option<&'a MemberFact> {
    facts.enrolled().find(|m| m.votes())
}

/// All members must answer whose volumes are not lost: these are replaced once no stranger
/// is in the way. Of the strangers nobody knows whether they can.
pub(super) fn question<'a>(
    facts: &Facts<'_>,
    member: &'a MemberFact,
    strangers: &[ServerId],
) -> Question<'a> {
    let question = Question::about(member).without(strangers.iter().copied());
    let removed = strangers.iter().copied().collect();
    Question { removed, ..question.without(facts.lost_servers()) }
}

/// It stands for these servers and for no others.
fn nonce(facts: &Facts<'_>, strangers: &[ServerId]) -> Nonce {
    Nonce::new(hash::of(&json!([facts.snapshot.owner.meta.uid, strangers])))
}

pub(super) fn is_allowed(facts: &Facts<'_>, strangers: &[ServerId]) -> bool {
    let given = facts.snapshot.owner.meta.annotations.get(labels::ALLOW_REMOVE);
    given.is_some_and(|given| Nonce::new(given) == nonce(facts, strangers))
}

fn ask(facts: &Facts<'_>, strangers: &[ServerId], draft: &mut Draft) {
    let owner = &facts.snapshot.owner.meta;
    let nonce = nonce(facts, strangers);
    let problem = Problem::Unknown {
        servers: Names::of(strangers),
        namespace: owner.namespace.clone(),
        cluster: owner.name.clone(),
        annotation: labels::ALLOW_REMOVE,
        nonce: nonce.clone(),
    };
    let about = strangers.iter().map(ToString::to_string);
    draft.more.ask = Some(ask::of(AskKind::Remove, nonce, about, &problem.to_string()));
    draft.report(problem);
}
