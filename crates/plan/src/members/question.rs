//! One question to the members of a service: put once all is well by what agents report
//! by themselves, waited for, and put again where an answer came too late. Where all is
//! not well nothing is asked, and so nothing is written: a service without a quorum is
//! left alone. Who must answer, and what the answers mean, says the mind.

use super::{Draft, MEMBER, MemberFact, ServiceFacts};
use crate::draft::{Flow, Trouble};
use crate::plan::Step;
use crate::proof::FRESH;
use crate::turn as lock;
use crate::wait::Wait;
use crate::words::Names;
use crate::words::question::{Doing, Waiting};
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::{MemberName, Nonce};
use palladion_api::service::ServiceTurn;
use serde_json::json;

/// A change reaches all members within seconds; then the question is put again.
const ASK_AGAIN: SignedDuration = SignedDuration::from_secs(5);

/// Where views are taken from.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// What agents report by themselves, as of their last change.
    Standing,
    /// Answers to this question.
    Answers(&'a Nonce),
}

/// What the members say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Views<A, O> {
    /// All that must answer agree on this.
    Agree(A),
    /// These have not answered yet.
    Missing(Vec<MemberName>),
    /// It may not be.
    Refused(O),
}

/// A question, as its mind judges the answers.
pub trait Asks {
    /// What all agree on.
    type Agreed;
    /// What forbids the step.
    type Objection;

    /// Whom the step is about.
    fn whom(&self) -> &MemberFact;

    /// Judge what they say.
    fn judge(&self, source: Source<'_>) -> Views<Self::Agreed, Self::Objection>;

    /// That somebody does not report, or that nobody can be asked.
    fn silent(&self, member: Option<MemberName>) -> Self::Objection;

    /// What is said of an objection.
    fn refused(&self, why: Self::Objection) -> Trouble;
}

/// By what agents report by themselves: does anything forbid the step?
///
/// # Errors
/// What forbids it.
pub fn is_quiet<Q: Asks>(question: &Q) -> Result<Q::Agreed, Q::Objection> {
    match question.judge(Source::Standing) {
        Views::Agree(agreed) => Ok(agreed),
        Views::Refused(why) => Err(why),
        Views::Missing(names) => Err(question.silent(names.into_iter().next())),
    }
}

/// Ask, and wait for the answers. What all agree on, with the time of the question and
/// its nonce: that is what a proof rests on.
pub fn prove<Q: Asks>(
    facts: &ServiceFacts<'_>,
    turn: &ServiceTurn,
    question: &Q,
    draft: &mut Draft,
) -> Option<(Q::Agreed, Timestamp, Nonce)> {
    let Some(put) = turn.question.as_ref().filter(|q| !lock::is_void(q, facts.now())) else {
        let _ = renew(facts, turn, question, draft);
        return None;
    };
    let whom = question.whom();
    match question.judge(Source::Answers(&put.nonce)) {
        Views::Agree(agreed) => Some((agreed, put.since.0, put.nonce.clone())),
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
            wait(question, why, draft).until(again);
            None
        }
    }
}

/// Put the question anew, if by what agents report it will be answered well.
pub fn renew<Q: Asks>(
    facts: &ServiceFacts<'_>,
    turn: &ServiceTurn,
    question: &Q,
    draft: &mut Draft,
) -> Flow {
    match is_quiet(question) {
        Ok(_) => {
            let doing = Doing::AskAgain { member: question.whom().name.clone() };
            let again = lock::asking(facts.snapshot, turn);
            draft.steps.push(lock::write(facts.snapshot, Some(&again), &[], doing));
            Flow::Busy
        }
        Err(why) => {
            wait(question, why, draft);
            Flow::Free
        }
    }
}

fn wait<'a, Q: Asks>(question: &Q, why: Q::Objection, draft: &'a mut Draft) -> &'a mut Wait {
    let Trouble { reason, message } = question.refused(why);
    draft.waits.push(Wait::new(reason, message));
    let last = draft.waits.len() - 1;
    draft.waits[last].about(question.whom().subject())
}

/// Ask those that have not been asked yet.
fn ask(facts: &ServiceFacts<'_>, names: &[MemberName], nonce: &Nonce, draft: &mut Draft) {
    for member in names.iter().filter_map(|name| facts.members.get(name)) {
        draft.steps.extend(order(facts, member, nonce));
    }
}

fn order(facts: &ServiceFacts<'_>, member: &MemberFact, nonce: &Nonce) -> Option<Step> {
    let asked = member.spec.as_ref().and_then(|s| s.evidence.as_ref());
    if asked.is_some_and(|e| e.nonce == *nonce) {
        return None;
    }
    let meta = &member.object.as_ref()?.meta;
    let patch = json!({ "spec": { "evidence": { "nonce": nonce } } });
    let doing = Doing::Ask { member: member.name.clone() };
    Some(Step::patch_seen(MEMBER, meta, patch, doing).fenced(facts.fence()))
}
