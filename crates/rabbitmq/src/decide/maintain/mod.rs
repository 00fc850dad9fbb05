//! Jobs for the whole cluster, which belong to no turn: one member does them, and where
//! they are done twice nothing is lost.

mod job;

use crate::decide::draft::Draft;
use crate::decide::turn::order::Job;
use crate::facts::{Facts, MemberFact, Node};
use crate::words::maintain::{Doing, Happened, Problem, Waiting};
use job::{Outcome, run};
use palladion_api::service_member::FeatureFlags;
use palladion_plan::words::Names;
use palladion_plan::{Event, Flow, turn};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Before a rollout, and after the last one: all stable feature flags are enabled, as soon
/// as all nodes run the same version. The next line needs them.
pub fn before_restarts(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    let disabled = disabled_flags(facts);
    if disabled.is_empty() || !is_settled(facts) {
        return Flow::Free;
    }
    let Some((executor, outcome)) = run(facts, &Job::EnableFeatureFlags, draft) else {
        return Flow::Free;
    };
    let executor = executor.name.clone();
    match outcome {
        // The views will show it.
        Outcome::Running | Outcome::Done => {
            let flags = Names::of(disabled);
            draft.wait_for(Waiting::EnablingFlags { executor, flags });
        }
        Outcome::Failed(why) => draft.report(Problem::FlagsDisabled { executor, why }),
    }
    Flow::Busy
}

/// When nothing else is to be done: definitions that have changed are imported, and the
/// leaders of queues are spread once nodes were restarted.
pub fn after_changes(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    if !is_settled(facts) {
        return Flow::Free;
    }
    import(facts, draft).or(|| rebalance(facts, draft)).or(|| {
        job::withdraw_all(facts, draft);
        Flow::Free
    })
}

fn import(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    let first = facts.views().next().and_then(|(m, _)| m.status.definitions_hash.clone());
    let Some(hash) = first.filter(|hash| facts.status.definitions_hash.as_ref() != Some(hash))
    else {
        return Flow::Free;
    };
    let Some((executor, outcome)) = run(facts, &Job::ImportDefinitions(hash.clone()), draft) else {
        return Flow::Free;
    };
    let executor = executor.name.clone();
    match outcome {
        Outcome::Running => {
            draft.wait_for(Waiting::Importing { executor });
        }
        Outcome::Failed(why) => draft.report(Problem::NotImported { executor, why }),
        Outcome::Done => {
            let more = [("definitionsHash", json!(hash))];
            let step = turn::write(facts.snapshot, None, &more, Doing::RecordImport);
            draft.steps.push(step.announced(Event::normal(Happened::Imported)));
        }
    }
    Flow::Busy
}

fn rebalance(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    if !facts.status.rebalance_pending {
        return Flow::Free;
    }
    let Some((executor, outcome)) = run(facts, &Job::Rebalance, draft) else {
        return Flow::Free;
    };
    let executor = executor.name.clone();
    match outcome {
        Outcome::Running => {
            draft.wait_for(Waiting::Rebalancing { executor });
        }
        Outcome::Failed(why) => draft.report(Problem::NotRebalanced { executor, why }),
        Outcome::Done => {
            let more = [("rebalancePending", Value::Null)];
            draft.steps.push(turn::write(facts.snapshot, None, &more, Doing::RecordRebalance));
        }
    }
    Flow::Busy
}

/// Do all members serve, in one version?
fn is_settled(facts: &Facts<'_>) -> bool {
    let members = || facts.enrolled().filter(|m| m.has_served());
    let versions: BTreeSet<Option<&str>> = members().map(version).collect();
    members().all(|m| m.serves) && versions.len() == 1 && !versions.contains(&None)
}

fn version(member: &MemberFact) -> Option<&str> {
    member.server()?.version.as_deref()
}

/// Stable feature flags that any node reports as not enabled.
fn disabled_flags(facts: &Facts<'_>) -> BTreeSet<String> {
    let flags = facts.members.values().filter_map(|m| m.view()?.flags.as_ref());
    flags.flat_map(|flags: &FeatureFlags| flags.stable_disabled.iter().cloned()).collect()
}
