//! The NetworkPolicy of a ring: kept where the spec asks for one, and deleted where it does not.

use super::apply::apply;
use crate::build;
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::objects::{Doing, Happened, What};
use palladion_plan::{Event, Loss, Step};

/// Before the pods of a new ring, which nobody is to reach without it.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let Some(network) = &valid.network else {
        return delete(facts, valid, draft);
    };
    let policy = build::network_policy(valid, network);
    apply(facts, kinds::NETWORK_POLICY, policy, What::NetworkPolicy, None, draft);
}

/// Ours alone: a policy that a user has created stays.
fn delete(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let policies = facts.objects(kinds::NETWORK_POLICY).iter().map(|policy| &policy.meta);
    for policy in policies.filter(|p| p.is_controlled_by(&valid.uid) && !p.is_terminating()) {
        let name = || policy.name.clone();
        let doing = Doing::DeletePolicy { policy: name() };
        let step = Step::delete_seen(kinds::NETWORK_POLICY, policy, Loss::Nothing, doing);
        let event = Event::normal(Happened::PolicyDeleted { policy: name() });
        draft.steps.push(step.announced(event));
    }
}
