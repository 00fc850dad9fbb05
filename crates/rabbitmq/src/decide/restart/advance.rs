//! The turn of a member that is restarted: proven, ended, back, and caught up.

use super::next::question;
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Agreed, Proof, Question, is_new_line};
use crate::decide::join;
use crate::decide::turn::{lock, postponed};
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::restart::{Doing, Happened, NotBack, Problem, Waiting};
use crate::words::turn::Ended;
use palladion_api::service::ServiceTurn;
use palladion_api::service_member::MemberServerState;
use palladion_plan::members::revisions::{budget_counts_right, is_outdated};
use palladion_plan::proof::ProofKind;
use palladion_plan::words::revisions::{Doing as OfRevision, Happened as OfPod};
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Event, FailureClass, Step};
use serde_json::{Map, json};

/// Go on with the turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &ServiceTurn, draft: &mut Draft) {
    let Some(member) = facts.members.get(&turn.member).filter(|m| m.object.is_some()) else {
        return lock::release(facts, turn, Ended::MemberGone, draft);
    };
    let Some(pod) = member.pod.as_ref().filter(|p| !p.terminating) else {
        let waiting = Waiting::ForPod { member: member.name.clone(), pod: member.pod_words() };
        draft.wait_for(waiting).about(member.subject());
        return;
    };
    let token = valid.token_due(member);
    if !is_outdated(facts, member) && token.is_none() {
        return come_back(facts, turn, member, pod, draft);
    }
    let question = question(facts, member);
    let proven = evidence::prove(facts, turn, &question, ProofKind::AllWell, draft);
    let Some(agreed) = proven else { return };
    if !is_spared(facts, valid, turn, (&question, &agreed), draft) {
        return;
    }
    match facts.newest_revision().filter(|_| is_outdated(facts, member)) {
        Some(newest) => replace_pod(facts, valid, (member, pod), newest, &agreed.proof, draft),
        None => draft.steps.extend(give_token(facts, member, token, &agreed.proof)),
    }
}

/// Does no queue need the node, and do flags not stand against its next version?
fn is_spared(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &ServiceTurn,
    (question, agreed): (&Question<'_>, &Agreed),
    draft: &mut Draft,
) -> bool {
    let member = question.whom;
    let name = || member.name.clone();
    let disabled = agreed.flags().is_some_and(|flags| !flags.stable_disabled.is_empty());
    if is_new_line(facts, valid) && disabled {
        lock::release(facts, turn, Ended::FlagsFirst, draft);
        return false;
    }
    let need = agreed.need(&member.name, &facts.node_of(member));
    // One that does not run holds up no queue more than it does now. The others see one run
    // whose own agent cannot ask it.
    let runs = member.serves || agreed.see(&facts.node_of(member));
    if runs && !need.is_empty() {
        // One that does not serve keeps everybody from changing anything.
        if member.serves && postponed::has_waited(facts, turn) {
            lock::postpone(facts, turn, Ended::QueuesNeedNode, draft);
            return false;
        }
        let waiting = Waiting::ForQueues { member: name(), queues: (&need).into() };
        evidence::look_again(facts, turn, question, waiting, draft);
        return false;
    }
    true
}

/// The agent drains and stops the node, and starts it again in its pod.
fn give_token(
    facts: &Facts<'_>,
    member: &MemberFact,
    token: Option<String>,
    proof: &Proof,
) -> Option<Step> {
    let meta = &member.object.as_ref()?.meta;
    let patch = json!({ "spec": { "restartToken": token? } });
    let doing = Doing::Restart { member: member.name.clone() };
    Some(
        Step::patch_as_seen(kinds::MEMBER, meta, patch, doing)
            .fenced(facts.fence())
            .proven(proof.stated()),
    )
}

fn replace_pod(
    facts: &Facts<'_>,
    valid: &Valid,
    (member, pod): (&MemberFact, &PodFact),
    newest: &str,
    proof: &Proof,
    draft: &mut Draft,
) {
    let name = || member.name.clone();
    if member.claim.as_ref().is_some_and(|c| c.terminating) {
        draft.wait_for(Waiting::ClaimTerminating { member: name() }).about(member.subject());
        return;
    }
    draft.steps.extend(prepare(facts, valid, member, newest, proof));
    let event = Event::normal(OfPod::NewPod { member: name() });
    let (doing, fence) = (OfRevision::ReplacePod { member: name() }, facts.fence());
    let namespace = valid.namespace.as_str();
    let step =
        pod.removal((kinds::POD, namespace), proof.stated(), doing, Some(fence), Some(event));
    let evicted = pod.is_ready() && budget_counts_right(facts, member);
    draft.steps.push(if evicted { step.evicting() } else { step });
    let failure = facts.snapshot.failure.as_ref();
    if let Some(held) = failure.filter(|f| f.class == FailureClass::Held) {
        let answer = held.message.clone();
        draft.wait_for(Waiting::ForBudget { member: name(), answer }).about(member.subject());
    }
}

/// What the member must know before its next pod starts: that it may, and with which
/// token, so that it is not restarted twice.
fn prepare(
    facts: &Facts<'_>,
    valid: &Valid,
    member: &MemberFact,
    newest: &str,
    proof: &Proof,
) -> Option<Step> {
    let knows = member.spec.as_ref()?.revisions == [newest];
    let mut spec = Map::new();
    if !knows {
        spec.insert("revisions".into(), json!([newest]));
    }
    if let Some(token) = valid.token_due(member) {
        spec.insert("restartToken".into(), token.into());
    }
    let meta = &member.object.as_ref()?.meta;
    let doing = OfRevision::Allow { member: member.name.clone(), revision: newest.to_string() };
    let patch = json!({ "spec": spec });
    (!spec.is_empty()).then(|| {
        Step::patch_as_seen(kinds::MEMBER, meta, patch, doing)
            .fenced(facts.fence())
            .proven(proof.stated())
    })
}

fn come_back(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    member: &MemberFact,
    pod: &PodFact,
    draft: &mut Draft,
) {
    let name = || member.name.clone();
    let asked = member.spec.as_ref().and_then(|s| s.restart_token.as_ref());
    let done = member.server().and_then(|s| s.restart_token.as_ref());
    if member.serves && pod.is_ready() && asked.is_none_or(|asked| done == Some(asked)) {
        return catch_up(facts, turn, member, draft);
    }
    let failed = member.server().is_some_and(|s| s.state == MemberServerState::Failed);
    if pod.is_stuck() || failed {
        let (pod, server) = (member.pod_words(), member.server_words());
        let namespace = facts.snapshot.owner.meta.namespace.clone();
        match asked.is_some() && done != asked {
            true => draft.report(NotBack::Stuck { member: name(), pod, server, namespace }),
            false => draft.report(Problem::Stuck { member: name(), pod, server }),
        }
    }
    let waiting = Waiting::ForServer { member: name(), server: member.server_words() };
    draft.wait_for(waiting).about(member.subject());
}

/// It serves. The next one waits until its replicas have what the others have.
fn catch_up(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    let name = || member.name.clone();
    let question = Question::about(member).without(facts.other_lost_nodes(member));
    // Whoever ended while it was taken in has yet to join, and needs the turn for that.
    let question = question.without(join::stranded(facts).map(|m| facts.node_of(m)));
    let proven = evidence::prove(facts, turn, &question, ProofKind::AllWell, draft);
    let Some(agreed) = proven else { return };
    if !evidence::is_of_this_start(member) {
        let _ = evidence::renew(facts, turn, &question, draft);
        return;
    }
    let waiting = match agreed.behind(&member.name) {
        Some(behind) if behind.is_empty() => {
            let event = Event::normal(Happened::Restarted { member: name() });
            draft.steps.push(lock::finish(facts, turn, Some(event)));
            return;
        }
        Some(behind) => Waiting::CatchingUp { member: name(), queues: (&behind).into() },
        None => Waiting::NotKnown { member: name() },
    };
    evidence::look_again(facts, turn, &question, waiting, draft);
}
