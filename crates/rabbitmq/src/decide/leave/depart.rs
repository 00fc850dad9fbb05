//! A leaver that serves: its queues first, then its application, then its name.

use super::unmoved;
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Agreed, Question};
use crate::decide::forget::{Asked, ask, is_allowed, nonce_of};
use crate::decide::turn::order::{self, Job};
use crate::decide::turn::{failing, lock};
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::words::leave::{Doing, Problem, Waiting};
use crate::words::turn::{Ended, InVain};
use jiff::SignedDuration;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::labels;
use palladion_api::member::IntentState;
use palladion_api::rabbitmq::NodeName;
use palladion_api::service::{FailingOperation, ServiceTurn};
use palladion_api::service_member::{
    ForgetQueues, NodeQueues, QueueNames, ServiceIntent, ServiceIntentKind,
};
use palladion_plan::Step;
use serde_json::json;

/// A drain takes up to 50 s, to hand over the coordinator of streams and to stop a minute more.
const STOP_TIME: SignedDuration = SignedDuration::from_mins(5);

/// The next step of a leaver that the others name.
pub fn advance(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    question: &Question<'_>,
    agreed: &Agreed,
    draft: &mut Draft,
) {
    let member = question.whom;
    let node = facts.node_of(member);
    let on_it = agreed.on(&node);
    match intent(member) {
        None => before_it_stops(facts, turn, question, (agreed, &node, &on_it), draft),
        Some(intent) if is_done(member, intent) => {
            after_it_stopped(facts, turn, member, (agreed, &node, &on_it), draft);
        }
        Some(_) => while_it_stops(facts, turn, question, draft),
    }
}

/// Its application is drained, and does not stop at once: then it starts again, and others go on.
fn while_it_stops(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    question: &Question<'_>,
    draft: &mut Draft,
) {
    let (name, server) = (|| question.whom.name.clone(), question.whom.server_words());
    let why = InVain::StopApp { member: name(), server: server.clone() }.to_string();
    let failing = FailingOperation { executor: name(), times: 0, since: Time(facts.now()), why };
    let turn = failing::noted(facts, turn, failing);
    let since = turn.failing.as_ref().map_or(facts.now(), |failing| failing.since.0);
    if facts.now() >= since + STOP_TIME {
        return failing::postpone(facts, &turn, draft);
    }
    let waiting = Waiting::StoppingApp { member: name(), server };
    evidence::look_again(facts, &turn, question, waiting, draft);
}

fn before_it_stops(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    question: &Question<'_>,
    (agreed, node, on_it): (&Agreed, &NodeName, &NodeQueues),
    draft: &mut Draft,
) {
    let member = question.whom;
    // What would go with it is found before anything is moved.
    if !on_it.classic.is_empty() && !may_lose(facts, turn, question, (node, on_it), draft) {
        return;
    }
    if on_it.replicas.count + on_it.streams.count > 0 {
        if let Some(record) = unmoved::gives_way(facts, turn, member, on_it) {
            return lock::postpone_as(facts, turn, record, Ended::QueuesNotMoved, draft);
        }
        if let Some(again) = order::pause(facts, turn, member) {
            let queues = (&unmoved::replicas(on_it)).into();
            let waiting = Waiting::ForReplicas { member: member.name.clone(), queues };
            draft.wait_for(waiting).about(member.subject()).until(again);
            return;
        }
        let job = Job::MoveReplicas(node.clone());
        draft.steps.extend(order::give(facts, turn, member, &job, &agreed.proof));
        return;
    }
    draft.steps.extend(stop_app(facts, member, agreed));
}

/// Its application is stopped: nothing new comes onto it. What came in the last moment
/// sends it back.
fn after_it_stopped(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    member: &MemberFact,
    (agreed, node, on_it): (&Agreed, &NodeName, &NodeQueues),
    draft: &mut Draft,
) {
    let is_allowed = turn.allowed == Some(nonce_of(facts, member, node, &[&on_it.classic]));
    let is_empty = on_it.replicas.is_empty() && on_it.streams.is_empty();
    if !is_empty || !(on_it.classic.is_empty() || is_allowed) {
        draft.steps.extend(start_again(facts, member));
        return;
    }
    let queues = match on_it.classic.is_empty() {
        true => ForgetQueues::MustNotName,
        false => ForgetQueues::MayName,
    };
    let job = Job::Forget(node.clone(), queues);
    let executor = order::executor(facts, turn, agreed, node);
    draft.steps.extend(executor.and_then(|e| order::give(facts, turn, e, &job, &agreed.proof)));
}

fn may_lose(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    question: &Question<'_>,
    (node, on_it): (&NodeName, &NodeQueues),
    draft: &mut Draft,
) -> bool {
    let queues: [&QueueNames; 1] = [&on_it.classic];
    let nonce = nonce_of(facts, question.whom, node, &queues);
    match is_allowed(facts, turn, &nonce, draft) {
        Asked::Allowed => return true,
        Asked::Recorded => return false,
        Asked::No => {}
    }
    let (name, owner) = (|| question.whom.name.clone(), &facts.snapshot.owner.meta);
    let problem = Problem::QueuesWouldBeLost {
        member: name(),
        queues: queues[0].into(),
        namespace: owner.namespace.clone(),
        cluster: owner.name.clone(),
        annotation: labels::ALLOW_FORGET,
        nonce: nonce.clone(),
    };
    ask(nonce, &queues, problem, draft);
    // Others go on meanwhile. That replicas were moved off it is on record with that.
    lock::release(facts, turn, Ended::ForUser, draft);
    false
}

fn intent(member: &MemberFact) -> Option<&ServiceIntent> {
    member.spec.as_ref()?.intent.as_ref()
}

/// Has its agent stopped the application, for the pod that it has now?
fn is_done(member: &MemberFact, intent: &ServiceIntent) -> bool {
    let answer = member.status.intent.as_ref().filter(|i| i.nonce == intent.nonce);
    member.agent_speaks() && answer.is_some_and(|i| i.state == IntentState::Done)
}

/// Have it stop its application. The nonce is another one than that of the leave.
fn stop_app(facts: &Facts<'_>, member: &MemberFact, agreed: &Agreed) -> Option<Step> {
    let nonce = &facts.snapshot.nonce;
    let kind = ServiceIntentKind::StopApp;
    let intent = json!({ "kind": kind, "nonce": nonce, "volumeID": member.volume_id()? });
    let patch = json!({ "spec": { "intent": intent, "operation": null } });
    let meta = &member.object.as_ref()?.meta;
    let doing = Doing::StopApp { member: member.name.clone() };
    Some(
        Step::patch_as_seen(kinds::MEMBER, meta, patch, doing)
            .fenced(facts.fence())
            .proven(agreed.proof.stated()),
    )
}

/// Have it start its application again, if it was to stop it.
pub fn start_again(facts: &Facts<'_>, member: &MemberFact) -> Option<Step> {
    intent(member)?;
    let meta = &member.object.as_ref()?.meta;
    let doing = Doing::StartApp { member: member.name.clone() };
    let patch = json!({ "spec": { "intent": null } });
    Some(Step::patch_as_seen(kinds::MEMBER, meta, patch, doing).fenced(facts.fence()))
}
