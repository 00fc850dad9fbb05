//! A joiner that the others name and that has none of their data: its node ended inside
//! `join_cluster`, which writes the tables of the others first, and they refuse an empty node of
//! its name. Nothing on it counts, so they forget it; its agent tries again all the time, and
//! joins then. Meanwhile its node runs by itself: of two nodes the other one would pause without
//! it, and a node that has paused forgets nobody.

use super::named;
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Question};
use crate::decide::turn::order::{self, Job};
use crate::facts::{Facts, MemberFact};
use crate::words::join::Waiting;
use palladion_api::reasons::Reason;
use palladion_api::service::ServiceTurn;
use palladion_api::service_member::ForgetQueues;
use palladion_plan::proof::ProofKind;

/// Does its own agent report that now, of a node that runs, and do the others name it?
pub fn is_so(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let of_join = Reason::NamedWithoutData.as_str();
    let reports = member
        .server()
        .is_some_and(|server| server.state.may_run() && server.reason.as_deref() == Some(of_join));
    reports && !member.serves && member.agent_answers(&facts.nodes) && facts.is_named(member)
}

/// Have the others forget it, as all of them answer, unless a queue names it: an empty replica
/// would vote.
pub fn forget(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    let node = facts.node_of(member);
    // Another one may be lost, whose replacement comes after this.
    let lost = facts.other_lost_nodes(member);
    let kind = if lost.is_empty() { ProofKind::AllWell } else { ProofKind::Dead };
    let except = lost.into_iter().chain([node.clone()]);
    let question = Question {
        // It has never voted: the others are as many without it.
        removed: [node.clone()].into(),
        ..Question::about(member).without(except)
    };
    if order::is_open(facts, turn, &question, draft) {
        return;
    }
    let Some(agreed) = evidence::prove(facts, turn, &question, kind, draft) else { return };
    let on_it = agreed.on(&node);
    if !on_it.is_empty() {
        named::report(facts, member, &on_it, draft);
        let waiting = named::waiting(facts, member);
        return evidence::look_again(facts, turn, &question, waiting, draft);
    }
    if !agreed.names(&node) || agreed.see(&node) {
        let (name, server) = (member.name.clone(), member.server_words());
        let waiting = Waiting::Starting { member: name, server };
        return evidence::look_again(facts, turn, &question, waiting, draft);
    }
    let job = Job::Forget(node.clone(), ForgetQueues::MustNotName);
    let executor = order::executor(facts, turn, &agreed, &node);
    draft.steps.extend(executor.and_then(|e| order::give(facts, turn, e, &job, &agreed.proof)));
}
