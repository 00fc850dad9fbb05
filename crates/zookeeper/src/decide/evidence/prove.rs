//! One question to the ensemble: put once all is well by what agents report by
//! themselves, waited for, and put again where an answer came too late. Where all
//! is not well nothing is asked, and so nothing is written: an ensemble without a
//! quorum is left alone.

use super::ask::ask;
use super::proof::Proof;
use super::views::{Question, Source, Views, judge};
use crate::decide::draft::Draft;
use crate::facts::{Configuration, Facts};
use crate::words::evidence::{Doing, Objection, Proven, Waiting};
use jiff::SignedDuration;
use palladion_api::service::ServiceTurn;
use palladion_plan::proof::{FRESH, ProofKind};
use palladion_plan::words::Names;
use palladion_plan::{Flow, turn as lock};

/// A configuration reaches all servers within seconds; then the question is put again.
const ASK_AGAIN: SignedDuration = SignedDuration::from_secs(5);

/// What all have answered, and what it proves.
#[derive(Clone, Debug)]
pub struct Agreed {
    /// The configuration that all have.
    pub configuration: Configuration,
    /// The proof.
    pub proof: Proof,
}

/// By what agents report by themselves: does anything forbid the step?
pub fn is_quiet(facts: &Facts<'_>, question: &Question<'_>) -> Result<Configuration, Objection> {
    match judge(facts, question, Source::Standing) {
        Views::Agree(configuration) => Ok(configuration),
        Views::Refused(why) => Err(why),
        Views::Missing(names) => match names.into_iter().next() {
            Some(member) => Err(Objection::Silent { member }),
            None => Err(Objection::Nobody),
        },
    }
}

/// Is it proven, for this turn, that the step may be taken? Asks who was not asked
/// yet, and waits; what is waited for is in the draft.
pub fn prove(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    question: &Question<'_>,
    kind: ProofKind,
    draft: &mut Draft,
) -> Option<Agreed> {
    let Some(put) = turn.question.as_ref().filter(|q| !lock::is_void(q, facts.now())) else {
        let _ = renew(facts, turn, question, draft);
        return None;
    };
    let whom = question.whom;
    match judge(facts, question, Source::Answers(&put.nonce)) {
        Views::Agree(configuration) => {
            let proven = Proven::Agreed {
                nonce: put.nonce.clone(),
                version: configuration.version,
                servers: Names::of(configuration.participants().map(|s| s.server_id)),
            };
            let proof = Proof::asked(facts, kind, whom, put.since.0, &proven);
            Some(Agreed { configuration, proof })
        }
        Views::Missing(names) => {
            ask(facts, &names, &put.nonce, draft);
            let waiting = Waiting::ForAnswers { member: whom.name.clone(), from: Names::of(names) };
            draft.wait_for(waiting).about(whom.subject()).until(put.since.0 + FRESH);
            None
        }
        Views::Refused(why) => {
            let again = put.since.0 + ASK_AGAIN;
            if facts.now() >= again {
                let _ = renew(facts, turn, question, draft);
                return None;
            }
            let waiting = Waiting::Refused { member: whom.name.clone(), why };
            draft.wait_for(waiting).about(whom.subject()).until(again);
            None
        }
    }
}

/// Put the question anew, if by what agents report it will be answered well.
pub fn renew(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    question: &Question<'_>,
    draft: &mut Draft,
) -> Flow {
    let whom = question.whom;
    match is_quiet(facts, question) {
        Ok(_) => {
            let doing = Doing::AskAgain { member: whom.name.clone() };
            let again = lock::asking(facts.snapshot, turn);
            draft.steps.push(lock::write(facts.snapshot, Some(&again), &[], doing));
            Flow::Busy
        }
        Err(why) => {
            let waiting = Waiting::Refused { member: whom.name.clone(), why };
            draft.wait_for(waiting).about(whom.subject());
            Flow::Free
        }
    }
}
