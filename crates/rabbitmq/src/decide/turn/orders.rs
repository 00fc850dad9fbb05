//! Orders and intents end with what they were given for. A member that was silent when its turn ended
//! would carry its order out when it is back, when nobody wants it any more.

use super::order;
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::words::leave::Doing as Leaving;
use crate::words::turn::Doing;
use palladion_api::service::ServiceStep;
use palladion_api::service_member::ServiceIntentKind;
use palladion_plan::Step;
use serde_json::json;

/// Withdraw what nothing asks for any more.
pub fn decide(facts: &Facts<'_>, draft: &mut Draft) {
    operations(facts, draft);
    intents(facts, draft);
}

/// A node whose application was stopped for a leave that does not go on starts again.
fn intents(facts: &Facts<'_>, draft: &mut Draft) {
    for member in facts.members.values().filter(|m| !m.is_gone()) {
        let (Some(object), Some(spec)) = (&member.object, &member.spec) else { continue };
        let Some(intent) = &spec.intent else { continue };
        let turn = facts.turn().filter(|t| t.step == ServiceStep::Leave);
        let is_its = turn.is_some_and(|t| t.member == member.name);
        if intent.kind == ServiceIntentKind::StopApp && !is_its {
            let doing = Leaving::StartApp { member: member.name.clone() };
            let patch = json!({ "spec": { "intent": null } });
            let step = Step::patch_as_seen(kinds::MEMBER, &object.meta, patch, doing);
            draft.steps.push(step.fenced(facts.fence()));
        }
    }
}

/// Withdraw every order that belongs neither to the present question of the turn nor,
/// where there is no turn, to a job for the whole cluster.
fn operations(facts: &Facts<'_>, draft: &mut Draft) {
    let current = facts.turn().and_then(order::id_of);
    for member in facts.members.values() {
        let (Some(object), Some(spec)) = (&member.object, &member.spec) else { continue };
        let Some(given) = &spec.operation else { continue };
        let is_of_all = facts.turn().is_none() && order::is_for_all(&given.id);
        if current.as_ref() == Some(&given.id) || is_of_all {
            continue;
        }
        let doing = Doing::WithdrawOrder { executor: member.name.clone() };
        let patch = json!({ "spec": { "operation": null } });
        let step = Step::patch_as_seen(kinds::MEMBER, &object.meta, patch, doing);
        draft.steps.push(step.fenced(facts.fence()));
    }
}
