//! Jobs for the whole cluster, which belong to no turn: one member does them, and where
//! they are done twice nothing is lost.

mod job;

use crate::decide::draft::Draft;
use crate::decide::evidence::{disabled_flags, is_new_line};
use crate::decide::turn::order::Job;
use crate::decide::turn::postponed;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::maintain::{Doing, Happened, Problem, Waiting};
use job::{Outcome, run};
use palladion_plan::words::Names;
use palladion_plan::{Event, Flow, turn};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Before the first node of a new line starts, which needs them, all stable feature flags
/// are enabled. Nothing else waits for them.
pub fn before_upgrade(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    match is_new_line(facts, valid) {
        true => enable_flags(facts, draft),
        false => Flow::Free,
    }
}

/// No node is stopped in the middle of a job: that of a feature flag changes tables on all of
/// them, and an import would be cut in half.
pub fn before_stop(facts: &Facts<'_>, member: &MemberFact, draft: &mut Draft) -> Flow {
    let Some(executor) = job::under_way(facts).filter(|_| member.serves) else {
        return Flow::Free;
    };
    let waiting = Waiting::ToEnd { member: member.name.clone(), executor: executor.name.clone() };
    draft.wait_for(waiting).about(member.subject());
    Flow::Busy
}

/// As soon as all nodes serve: every one of them knows the flags that are due.
fn enable_flags(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    let disabled = disabled_flags(facts);
    if disabled.is_empty() || !all_serve(facts) {
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

/// When nothing else is to be done: definitions that have changed are imported, the leaders
/// of queues are spread once nodes were restarted, and the flags of a new line are enabled.
pub fn after_changes(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    if !is_settled(facts) {
        return Flow::Free;
    }
    let jobs = import(facts, draft).or(|| rebalance(facts, draft));
    jobs.or(|| flags_of_all(facts, draft)).or(|| {
        job::withdraw_all(facts, draft);
        Flow::Free
    })
}

/// A leaver of another version that cannot leave does not know those of the new one.
fn flags_of_all(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    let newest = staying(facts).next().and_then(version);
    let mut leavers = served(facts).filter(|m| postponed::is_leaver(facts, m));
    match leavers.find(|m| version(m) != newest) {
        Some(leaver) => {
            let waiting = Waiting::ForLeaver { member: leaver.name.clone() };
            draft.wait_for(waiting).about(leaver.subject());
            Flow::Free
        }
        None => enable_flags(facts, draft),
    }
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

/// Do all members serve, in one version? One that cannot leave may stay in another for long.
fn is_settled(facts: &Facts<'_>) -> bool {
    let versions: BTreeSet<Option<&str>> = staying(facts).map(version).collect();
    let all_serve = staying(facts).all(|m| m.serves);
    all_serve && versions.len() == 1 && !versions.contains(&None)
}

fn staying<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = &'a MemberFact> {
    served(facts).filter(|m| !postponed::is_leaver(facts, m))
}

fn served<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = &'a MemberFact> {
    facts.enrolled().filter(|m| m.has_served())
}

fn all_serve(facts: &Facts<'_>) -> bool {
    served(facts).all(|m| m.serves)
}

fn version(member: &MemberFact) -> Option<&str> {
    member.server()?.version.as_deref()
}
