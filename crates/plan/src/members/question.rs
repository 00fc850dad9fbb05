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
use crate::words::question::{Doing, Problem, Waiting};
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::{MemberName, Nonce};
use palladion_api::service::{Question, ServiceTurn};
use serde_json::json;

/// A change reaches all members within seconds; then the question is put again.
const ASK_AGAIN: SignedDuration = SignedDuration::from_secs(5);
/// Whoever does not answer in full for long is asked less often: each question is a write to the
/// owner and to each member. Nobody waits longer than this after the cause has passed.
const SELDOM: SignedDuration = SignedDuration::from_mins(1);
/// A server that starts, or is busy, answers in full after a while. What lasts longer needs a
/// person.
const PATIENCE: SignedDuration = SignedDuration::from_mins(5);

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

    /// The member that does not answer, or not in full, by this objection.
    fn unanswered(&self, why: &Self::Objection) -> Option<MemberName>;
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
    // Of one from the future, put by a leader whose clock was ahead, nobody can say how old it is.
    let put = turn.question.as_ref().filter(|put| facts.now() + FRESH >= put.since.0);
    let Some(put) = put else {
        let _ = renew(facts, turn, question, draft);
        return None;
    };
    let whom = question.whom();
    let is_void = lock::is_void(put, facts.now());
    match question.judge(Source::Answers(&put.nonce)) {
        Views::Agree(agreed) if !is_void => Some((agreed, put.since.0, put.nonce.clone())),
        // What all have answered may be so no more.
        Views::Agree(_) => {
            let _ = renew(facts, turn, question, draft);
            None
        }
        Views::Missing(names) => {
            report(facts, question, put, names.first(), draft);
            let again = again(facts, put).max(put.since.0 + FRESH);
            if is_void && facts.now() >= again {
                let _ = ask_once_more(facts, turn, question, draft);
                return None;
            }
            ask(facts, &names, &put.nonce, draft);
            let waiting = Waiting::ForAnswers { member: whom.name.clone(), from: Names::of(names) };
            draft.wait_for(waiting).about(whom.subject()).until(again);
            None
        }
        Views::Refused(why) => {
            report(facts, question, put, question.unanswered(&why).as_ref(), draft);
            let again = again(facts, put);
            if facts.now() >= again {
                let _ = ask_once_more(facts, turn, question, draft);
                return None;
            }
            wait(question, why, draft).until(again);
            None
        }
    }
}

/// When a question that has no whole answer is put again: the later, the longer that has been so.
fn again(facts: &ServiceFacts<'_>, put: &Question) -> Timestamp {
    let lasts = unanswered_since(facts, put).map(|since| facts.now().duration_since(since));
    put.since.0 + lasts.map_or(ASK_AGAIN, |lasts| (lasts / 5).clamp(ASK_AGAIN, SELDOM))
}

/// Since when questions had no whole answer, this one among them. Where none could be put for
/// long, because somebody did not serve, those before it say nothing.
fn unanswered_since(facts: &ServiceFacts<'_>, put: &Question) -> Option<Timestamp> {
    let since = put.unanswered_since.as_ref().map_or(put.since.0, |since| since.0);
    (facts.now() < put.since.0 + SELDOM * 2).then_some(since)
}

/// Report who has not answered in full for long: nothing can be changed as long as that lasts.
fn report<Q: Asks>(
    facts: &ServiceFacts<'_>,
    question: &Q,
    put: &Question,
    from: Option<&MemberName>,
    draft: &mut Draft,
) {
    let since = unanswered_since(facts, put).filter(|since| facts.now() >= *since + PATIENCE);
    let Some((from, since)) = from.cloned().zip(since) else { return };
    let (member, namespace) = (question.whom().name.clone(), &facts.snapshot.owner.meta.namespace);
    draft.report(Problem::NotAnswered { member, from, since, namespace: namespace.clone() });
}

/// Put the question anew, if by what agents report it will be answered well.
pub fn renew<Q: Asks>(
    facts: &ServiceFacts<'_>,
    turn: &ServiceTurn,
    question: &Q,
    draft: &mut Draft,
) -> Flow {
    put(facts, question, lock::asking(facts.snapshot, turn), draft)
}

/// The same after one that had no whole answer.
fn ask_once_more<Q: Asks>(
    facts: &ServiceFacts<'_>,
    turn: &ServiceTurn,
    question: &Q,
    draft: &mut Draft,
) -> Flow {
    let since = turn.question.as_ref().and_then(|put| unanswered_since(facts, put));
    put(facts, question, lock::asking_since(facts.snapshot, turn, since), draft)
}

fn put<Q: Asks>(
    facts: &ServiceFacts<'_>,
    question: &Q,
    again: ServiceTurn,
    draft: &mut Draft,
) -> Flow {
    match is_quiet(question) {
        Ok(_) => {
            let doing = Doing::AskAgain { member: question.whom().name.clone() };
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
