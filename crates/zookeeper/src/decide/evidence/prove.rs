//! One question to the ensemble: what all have answered, and what it proves.

use super::proof::Proof;
use super::views::{Question, Source, Views, judge};
use crate::decide::draft::Draft;
use crate::facts::{Configuration, Facts, MemberFact};
use crate::words::evidence::{Objection, Proven, Waiting};
use palladion_api::ids::MemberName;
use palladion_api::service::ServiceTurn;
use palladion_plan::members::question::{self, Asks};
use palladion_plan::proof::ProofKind;
use palladion_plan::words::Names;
use palladion_plan::{Flow, Trouble};

/// What all have answered, and what it proves.
#[derive(Clone, Debug)]
pub struct Agreed {
    /// The configuration that all have.
    pub configuration: Configuration,
    /// The proof.
    pub proof: Proof,
}

/// A question to this ensemble.
struct Asked<'a, 'b> {
    facts: &'a Facts<'b>,
    question: &'a Question<'a>,
}

impl Asks for Asked<'_, '_> {
    type Agreed = Configuration;
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
            Objection::NoQuorum { member } => Some(member.clone()),
            Objection::Silent { .. }
            | Objection::NotInConfiguration { .. }
            | Objection::Disagree { .. }
            | Objection::UnknownServer { .. }
            | Objection::NoMajority { .. }
            | Objection::Nobody => None,
        }
    }
}

/// By what agents report by themselves: does anything forbid the step?
pub fn is_quiet(facts: &Facts<'_>, question: &Question<'_>) -> Result<Configuration, Objection> {
    question::is_quiet(&Asked { facts, question })
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
    let (configuration, since, nonce) = question::prove(facts, turn, &asked, draft)?;
    let servers = Names::of(configuration.participants().map(|s| s.server_id));
    let proven = Proven::Agreed { nonce, version: configuration.version, servers };
    let proof = Proof::asked(facts, kind, question.whom, since, &proven);
    Some(Agreed { configuration, proof })
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
