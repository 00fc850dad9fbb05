//! How a job for the whole cluster is given to a member, and what comes of it.

use crate::decide::draft::Draft;
use crate::decide::turn::order::{self, Job};
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::words::turn::Doing;
use jiff::SignedDuration;
use palladion_api::member::OperationState;
use palladion_api::service_member::MemberOperation;
use palladion_plan::Step;
use serde_json::{Value, json};

/// From a job that failed to the next try.
const RETRY: SignedDuration = SignedDuration::from_secs(60);

/// What comes of a job.
pub enum Outcome {
    /// It is being done, or was just given.
    Running,
    /// It is done.
    Done,
    /// It failed, as the member says, and is given again.
    Failed(String),
}

/// Give the job to the first member that serves, or look what came of it. `None` where
/// nobody can do it.
pub fn run<'a>(
    facts: &'a Facts<'_>,
    job: &Job,
    draft: &mut Draft,
) -> Option<(&'a MemberFact, Outcome)> {
    let (first, _) = facts.views().next()?;
    let known = facts.members.values().find_map(|m| Some((m, given(m)?)));
    let Some((executor, order)) = known.filter(|(m, order)| is_it(m, order, job) && m.serves)
    else {
        withdraw_others(facts, first, draft);
        let id = order::id_for_all(&facts.snapshot.nonce);
        draft.steps.extend(order::write(first, job, &id, facts.fence()));
        return Some((first, Outcome::Running));
    };
    let answer = executor.status.operation.as_ref().filter(|o| o.id == order.id);
    let answer = answer.filter(|o| executor.agent_speaks() && order::is_over(o));
    let outcome = match answer {
        None => Outcome::Running,
        Some(answer) if answer.state == OperationState::Succeeded => Outcome::Done,
        Some(answer) => {
            // Never longer than from now, whatever clock the agent has.
            let ended = answer.finished_at.as_ref().map_or(facts.now(), |at| at.0);
            let again = ended.min(facts.now()) + RETRY;
            if facts.now() >= again {
                let id = order::id_for_all(&facts.snapshot.nonce);
                draft.steps.extend(order::write(executor, job, &id, facts.fence()));
            } else {
                draft.wake_at(again);
            }
            Outcome::Failed(answer.message.clone().unwrap_or_default())
        }
    };
    Some((executor, outcome))
}

/// A member that carries an order for the whole cluster out at this moment, whether or not it
/// still stands: what was begun goes on.
pub fn under_way<'a>(facts: &'a Facts<'_>) -> Option<&'a MemberFact> {
    let works = |m: &&MemberFact| {
        let last = m.status.operation.as_ref().filter(|_| m.agent_answers(&facts.nodes));
        last.is_some_and(|o| order::is_for_all(&o.id) && !order::is_over(o))
    };
    facts.members.values().find(works)
}

/// The order for the whole cluster that a member has.
fn given(member: &MemberFact) -> Option<&MemberOperation> {
    let order = member.spec.as_ref()?.operation.as_ref()?;
    order::is_for_all(&order.id).then_some(order)
}

/// Is it an order for this job?
fn is_it(member: &MemberFact, order: &MemberOperation, job: &Job) -> bool {
    let wanted = job.order(&order.id, member);
    let same = |key: &str| {
        let wanted = wanted.as_ref().and_then(|w| w.get(key)).cloned().unwrap_or(Value::Null);
        json!(order).get(key).cloned().unwrap_or(Value::Null) == wanted
    };
    ["kind", "volumeID", "definitionsHash"].iter().all(|key| same(key))
}

fn withdraw_others(facts: &Facts<'_>, but: &MemberFact, draft: &mut Draft) {
    for member in facts.members.values().filter(|m| m.name != but.name) {
        draft.steps.extend(given(member).and_then(|_| withdraw(facts, member)));
    }
}

/// No job is left to do.
pub fn withdraw_all(facts: &Facts<'_>, draft: &mut Draft) {
    for member in facts.members.values() {
        draft.steps.extend(given(member).and_then(|_| withdraw(facts, member)));
    }
}

fn withdraw(facts: &Facts<'_>, member: &MemberFact) -> Option<Step> {
    let meta = &member.object.as_ref()?.meta;
    let doing = Doing::WithdrawOrder { executor: member.name.clone() };
    let patch = json!({ "spec": { "operation": null } });
    Some(Step::patch_as_seen(kinds::MEMBER, meta, patch, doing).fenced(facts.fence()))
}
