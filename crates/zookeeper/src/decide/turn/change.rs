//! A change of the configuration: ordered from one server, under the version that all
//! have, and done when the configuration says so that all have afterwards. What the
//! server answered decides nothing: the answer may be lost with the connection, and
//! the change made all the same.

use super::refused;
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Agreed, Question};
use crate::facts::{Configuration, Facts, MemberFact, Voter};
use crate::resources as kinds;
use crate::words::turn::{Doing, Waiting};
use jiff::{SignedDuration, Timestamp};
use palladion_api::member::OperationState;
use palladion_api::service::{Question as Put, ServiceTurn};
use palladion_api::service_member::{MemberOperationKind, Peer, Reconfig};
use palladion_api::zookeeper::ServerId;
use palladion_plan::Step;
use palladion_plan::proof::{FRESH, ProofKind};
use palladion_plan::words::Names;
use serde_json::json;

/// From a question to the end of the order under it, however late that was given: an agent
/// takes up to 40 s for a session and an answer (`CHANGE` in the agent's `operate.rs`).
const CARRIED_OUT: SignedDuration = SignedDuration::from_secs(90);

/// What the configuration should say afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// These vote.
    pub add: Vec<Peer>,
    /// These are not in it.
    pub remove: Vec<ServerId>,
}

impl Goal {
    /// Does it say so?
    pub fn is_met(&self, configuration: &Configuration) -> bool {
        let votes = |peer: &Peer| {
            let server = configuration.server(peer.server_id);
            configuration.has_participant(peer.server_id)
                && server.is_some_and(|s| s.address == peer.address)
        };
        self.add.iter().all(votes)
            && self.remove.iter().all(|id| configuration.server(*id).is_none())
    }

    /// What is missing, in one step: with an exchange the number of votes never falls.
    fn rest(&self, configuration: &Configuration) -> Reconfig {
        let voting = |id: &ServerId| configuration.has_participant(*id);
        Reconfig {
            version: configuration.version,
            add: self.add.iter().filter(|p| !voting(&p.server_id)).cloned().collect(),
            remove: self
                .remove
                .iter()
                .copied()
                .filter(|id| configuration.server(*id).is_some())
                .collect(),
        }
    }
}

/// Bring the configuration to the goal. `Some` when all answer that it is there.
pub fn bring(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    question: &Question<'_>,
    kind: ProofKind,
    goal: &Goal,
    draft: &mut Draft,
) -> Option<Agreed> {
    if let Some(executor) = ordered(facts, turn) {
        after_order(facts, turn, question, executor, draft);
        return None;
    }
    let agreed = evidence::prove(facts, turn, question, kind, draft)?;
    if goal.is_met(&agreed.configuration) {
        return Some(agreed);
    }
    if let Some(step) = order(facts, turn, question, &agreed, goal) {
        draft.steps.push(step);
    }
    None
}

/// One order for each question: whatever comes of it, the question is put anew. It says when
/// that was put, for whoever leads later.
fn id(question: &Put) -> String {
    format!("reconfig-{}-{}", question.nonce, question.since.0.as_second())
}

/// The end of an order, however late it was given. Of one from the future, given by a leader
/// whose clock was ahead, nobody can say how old it is.
fn end_of(id: &str, now: Timestamp) -> Option<Timestamp> {
    let put = id.rsplit_once('-').and_then(|(_, second)| second.parse().ok());
    let put = Timestamp::from_second(put?).ok()?;
    (put <= now + FRESH).then(|| put + CARRIED_OUT)
}

/// The ID of an order under the present question of a turn.
pub fn order_of(turn: &ServiceTurn) -> Option<String> {
    turn.question.as_ref().map(id)
}

/// Was a change ordered for the server of this turn, and may it be carried out yet, or have
/// been without anybody's having said so?
pub fn is_ordered(facts: &Facts<'_>, turn: &ServiceTurn) -> bool {
    open_until(facts, turn).is_some()
}

/// Until when that may be.
pub fn open_until(facts: &Facts<'_>, turn: &ServiceTurn) -> Option<Timestamp> {
    facts.members.values().filter_map(|executor| open_order(facts, turn, executor)).max()
}

/// The end of the order that this member has for the server of this turn, unless all came of it
/// that will: it is over, and whoever had it has answered to a later question.
pub fn open_order(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    executor: &MemberFact,
) -> Option<Timestamp> {
    let order = executor.spec.as_ref()?.operation.as_ref()?;
    let end = end_of(&order.id, facts.now()).filter(|end| facts.now() < *end)?;
    if order_of(turn).as_ref() == Some(&order.id) {
        return Some(end);
    }
    let (id, change) = (turn.server_id?, order.reconfig.as_ref()?);
    let is_its = change.add.iter().any(|p| p.server_id == id) || change.remove.contains(&id);
    let later = turn.question.as_ref().and_then(|put| executor.answer(&put.nonce)).flatten();
    (is_its && !(is_over(executor, &order.id) && later.is_some())).then_some(end)
}

/// Does this member report the end of that order?
fn is_over(executor: &MemberFact, id: &str) -> bool {
    let answer = executor.status.operation.as_ref().filter(|o| o.id == *id);
    answer.is_some_and(|o| match o.state {
        OperationState::Succeeded | OperationState::Failed | OperationState::Interrupted => true,
        OperationState::Running | OperationState::Unknown => false,
    })
}

/// The member that was ordered to make a change under the present question.
fn ordered<'a>(facts: &'a Facts<'_>, turn: &ServiceTurn) -> Option<&'a MemberFact> {
    let id = order_of(turn)?;
    let has_it = |m: &&MemberFact| {
        m.spec.as_ref().and_then(|s| s.operation.as_ref()).is_some_and(|o| o.id == id)
    };
    facts.members.values().find(has_it)
}

fn after_order(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    question: &Question<'_>,
    executor: &MemberFact,
    draft: &mut Draft,
) {
    let Some(put) = &turn.question else { return };
    // Whoever does not answer any more may have made it, or may make it yet: the version
    // that it names keeps it from being made twice.
    let until = put.since.0 + CARRIED_OUT;
    let is_over = is_over(executor, &id(put));
    let answer = executor.status.operation.as_ref().filter(|_| is_over);
    let refused = answer.and_then(refused::why);
    let again = put.since.0 + refused::RETRY;
    if let Some(why) = refused.clone().filter(|_| facts.now() < again) {
        let waiting = Waiting::Again { executor: executor.name.clone(), why };
        draft.wait_for(waiting).about(question.whom.subject()).until(again);
        return;
    }
    if is_over || facts.now() >= until {
        let turn = refused::after(facts, turn, executor, refused);
        let _ = evidence::renew(facts, &turn, question, draft);
        return;
    }
    let waiting = Waiting::ForOperation { executor: executor.name.clone() };
    draft.wait_for(waiting).about(question.whom.subject()).until(until);
}

fn order(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    question: &Question<'_>,
    agreed: &Agreed,
    goal: &Goal,
) -> Option<Step> {
    let executor = executor(facts, turn, question, &agreed.configuration, goal)?;
    let reconfig = goal.rest(&agreed.configuration);
    let doing = Doing::Reconfigure {
        executor: executor.name.clone(),
        add: Names::of(reconfig.add.iter().map(|p| p.server_id)),
        remove: Names::of(&reconfig.remove),
    };
    let id = order_of(turn)?;
    let volume = executor.volume_id()?;
    // All that is said: a merge patch would keep what the last order had.
    let Reconfig { version, add, remove } = reconfig;
    let patch = json!({ "spec": { "operation": {
        "id": id,
        "volumeID": volume,
        "kind": MemberOperationKind::Reconfig,
        "reconfig": { "version": version, "add": add, "remove": remove },
        "node": null,
    } } });
    let meta = &executor.object.as_ref()?.meta;
    let proof = agreed.proof.carried_out_by(executor);
    Some(
        Step::patch_as_seen(kinds::MEMBER, meta, patch, doing)
            .fenced(facts.fence())
            .proven(proof.stated()),
    )
}

/// A server that votes before and after; the lowest ID, so that later decisions choose
/// the same one, and after each refusal the next one.
fn executor<'a>(
    facts: &'a Facts<'_>,
    turn: &ServiceTurn,
    question: &Question<'_>,
    configuration: &Configuration,
    goal: &Goal,
) -> Option<&'a MemberFact> {
    let stays = |id: &ServerId| !goal.remove.contains(id) && !question.except.contains(id);
    let ids = configuration.participants().map(|s| s.server_id).filter(stays);
    let members = ids.filter_map(|id| facts.member_of(id));
    let able: Vec<&MemberFact> = members.filter(|m| m.agent_answers(&facts.nodes)).collect();
    let last = turn.failing.as_ref().map(|failing| &failing.executor);
    let tried = last.and_then(|last| able.iter().position(|m| m.name == *last));
    let next = tried.and_then(|tried| able.get(tried + 1));
    next.or(able.first()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_api::ids::StaticAddress;
    use palladion_api::service_member::{EnsembleServer, ServerRole};
    use palladion_api::zookeeper::Zxid;

    fn configuration(ids: &[i64]) -> Configuration {
        let server = |id: &i64| EnsembleServer {
            server_id: ServerId::new(*id),
            address: StaticAddress::new(format!("10.0.0.{id}")),
            role: ServerRole::Participant,
        };
        Configuration { version: Zxid::new(7), servers: ids.iter().map(server).collect() }
    }

    fn peer(id: i64) -> Peer {
        let address = StaticAddress::new(format!("10.0.0.{id}"));
        Peer { server_id: ServerId::new(id), address }
    }

    #[test]
    fn an_exchange_is_one_step_and_what_is_done_already_is_not_asked_for_again() {
        let goal = Goal { add: vec![peer(4)], remove: vec![ServerId::new(2)] };
        assert!(!goal.is_met(&configuration(&[1, 2, 3])));
        let whole = goal.rest(&configuration(&[1, 2, 3]));
        assert_eq!((whole.add.len(), whole.remove.len()), (1, 1));
        assert_eq!(whole.version, Zxid::new(7));
        let half = goal.rest(&configuration(&[1, 2, 3, 4]));
        assert_eq!((half.add.len(), half.remove.len()), (0, 1));
        assert!(goal.is_met(&configuration(&[1, 3, 4])));
    }

    #[test]
    fn a_server_at_another_address_or_one_that_only_observes_is_not_what_was_wanted() {
        let goal = Goal { add: vec![peer(2)], remove: Vec::new() };
        let mut moved = configuration(&[1, 2]);
        assert!(goal.is_met(&moved));
        moved.servers[1].address = "10.0.0.9".into();
        assert!(!goal.is_met(&moved));
        let mut observer = configuration(&[1, 2]);
        observer.servers[1].role = ServerRole::Observer;
        assert!(!goal.is_met(&observer));
    }
}
