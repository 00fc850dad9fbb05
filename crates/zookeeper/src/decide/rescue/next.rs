//! Whether a rescue is needed, what a user is asked, and who goes on.

use super::survey::{Left, survey};
use super::unreported;
use crate::decide::draft::Draft;
use crate::decide::turn::lock;
use crate::facts::{Facts, MemberFact, Voter};
use crate::words::rescue::{Doing, Gone, Problem};
use palladion_api::labels;
use palladion_api::service::{AskKind, ServiceStep, ServiceTurn};
use palladion_plan::members::ask;
use palladion_plan::words::{Names, Several};
use palladion_plan::{Flow, turn};

/// Ask a user, or begin.
pub fn next(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    let Some(left) = survey(facts) else {
        return Flow::Free;
    };
    let best = match left.best(facts) {
        Ok(best) => best,
        Err(waiting) => {
            unreported::report(facts, &left, gone(&left), draft);
            draft.wait_for(waiting);
            return Flow::Busy;
        }
    };
    if !left.is_allowed(facts) {
        let nonce = left.nonce(facts);
        let problem = Problem::Ask {
            gone: gone(&left),
            best: best.name.clone(),
            rest: Names::of(left.rest.iter().map(|m| &m.name).filter(|n| **n != best.name)),
            namespace: facts.snapshot.owner.meta.namespace.clone(),
            cluster: facts.snapshot.owner.meta.name.clone(),
            annotation: labels::ALLOW_RESCUE,
            nonce: nonce.clone(),
        };
        let about = left.about();
        draft.more.ask = Some(ask::of(AskKind::Rescue, nonce, about, &problem.to_string()));
        draft.report(problem);
        return Flow::Busy;
    }
    begin(facts, best, draft);
    Flow::Busy
}

/// Does the question whether the rest may go on come before this turn? Where no majority is
/// left no turn comes to its end.
pub fn takes_over(facts: &Facts<'_>, turn: &ServiceTurn) -> bool {
    match turn.step {
        ServiceStep::Initialize | ServiceStep::Rescue => false,
        ServiceStep::Join
        | ServiceStep::Leave
        | ServiceStep::Replace
        | ServiceStep::Restart
        | ServiceStep::Remove => survey(facts).is_some(),
    }
}

/// Whose votes are missing for good, as far as anybody knows.
fn gone(left: &Left<'_>) -> Several<Gone> {
    let members = Names::of(left.lost.iter().chain(&left.replaced).map(|m| &m.name));
    let lost = (!left.lost.is_empty() || !left.replaced.is_empty())
        .then(|| Gone::Volumes { members, volumes: Names::of(left.volumes()) });
    let servers = Names::of(&left.strangers);
    let strangers = (!left.strangers.is_empty()).then_some(Gone::Strangers { servers });
    Several(lost.into_iter().chain(strangers).collect())
}

fn begin(facts: &Facts<'_>, best: &MemberFact, draft: &mut Draft) {
    let Some(volume) = best.volume_id() else { return };
    let mut turn = turn::new(facts.snapshot, &best.name, volume, ServiceStep::Rescue);
    turn.server_id = best.server_id();
    turn.question = None;
    draft.steps.push(lock::write(facts, &turn, Doing::Start { member: best.name.clone() }));
}
