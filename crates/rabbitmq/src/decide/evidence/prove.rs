//! One question to the cluster: what all have answered, and what it proves.

use super::agreed::Agreed;
use super::proof::Proof;
use super::views::{Question, Said, Source, Views, judge};
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::words::evidence::{Objection, Proven, Waiting};
use jiff::SignedDuration;
use palladion_api::ids::MemberName;
use palladion_api::service::ServiceTurn;
use palladion_api::words::Reasoned;
use palladion_plan::members::question::{self, Asks};
use palladion_plan::proof::ProofKind;
use palladion_plan::words::Names;
use palladion_plan::{Flow, Trouble};

/// Queues catch up, and people act, in seconds or in hours.
const LOOK_AGAIN: SignedDuration = SignedDuration::from_secs(10);

/// A question to this cluster.
struct Asked<'a, 'b> {
    facts: &'a Facts<'b>,
    question: &'a Question<'a>,
}

impl Asks for Asked<'_, '_> {
    type Agreed = Said;
    type Objection = Objection;

    fn whom(&self) -> &MemberFact {
        self.question.whom
    }

    fn judge(&self, source: Source<'_>) -> Views {
        judge(self.facts, self.question, source)
    }

    fn silent(&self, member: Option<MemberName>) -> Objection {
        member.map_or(Objection::Nobody, |member| Objection::Silent { member })
    }

    fn refused(&self, why: Objection) -> Trouble {
        Trouble::of(Waiting::Refused { member: self.question.whom.name.clone(), why })
    }

    fn unanswered(&self, why: &Objection) -> Option<MemberName> {
        match why {
            Objection::NotRead { member } | Objection::NotServing { member } => {
                Some(member.clone())
            }
            Objection::Silent { .. }
            | Objection::Partitioned { .. }
            | Objection::NotSeen { .. }
            | Objection::NotInCluster { .. }
            | Objection::Disagree { .. }
            | Objection::UnknownNode { .. }
            | Objection::Alarm { .. }
            | Objection::FlagsNotRead
            | Objection::Khepri
            | Objection::NoMajority { .. }
            | Objection::Nobody => None,
        }
    }
}

/// By what agents report by themselves: does anything forbid the step? Of the queues they
/// report nothing without being asked.
pub fn is_quiet(facts: &Facts<'_>, question: &Question<'_>) -> Result<(), Objection> {
    question::is_quiet(&Asked { facts, question }).map(|_| ())
}

/// Ask, and wait for the answers.
pub fn prove(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    question: &Question<'_>,
    kind: ProofKind,
    draft: &mut Draft,
) -> Option<Agreed> {
    let asked = Asked { facts, question };
    let (said, since, nonce) = question::prove(facts, turn, &asked, draft)?;
    let Said { nodes, answers } = said;
    let proven = Proven::Agreed { nonce, nodes: Names::of(&nodes) };
    let proof = Proof::asked(facts, kind, question.whom, since, &proven);
    Some(Agreed { nodes, answers, proof })
}

/// Put the question anew, if by what agents report it will be answered well.
pub fn renew(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    question: &Question<'_>,
    draft: &mut Draft,
) -> Flow {
    question::renew(facts, turn, &Asked { facts, question }, draft)
}

/// What was answered is well, but not enough yet: the same is asked again after a while.
pub fn look_again(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    question: &Question<'_>,
    waiting: impl Reasoned,
    draft: &mut Draft,
) {
    let put = turn.question.as_ref().map_or(facts.now(), |q| q.since.0);
    let again = put + LOOK_AGAIN;
    draft.wait_for(waiting).about(question.whom.subject()).until(again);
    if facts.now() >= again {
        let _ = renew(facts, turn, question, draft);
    }
}
