//! What the servers say of their ensemble: all that must answer for a step, whether
//! they agree, and what forbids it. Judged alike over what agents report by
//! themselves, and over their answers to a question.

use crate::facts::{Configuration, Facts, MemberFact, Voter};
use crate::words::evidence::Objection;
use palladion_api::service_member::EnsembleView;
use palladion_api::zookeeper::ServerId;
pub(super) use palladion_plan::members::question::Source;
use palladion_plan::words::Names;
use std::collections::BTreeSet;

/// A question to the ensemble.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// Whom the step is about.
    pub whom: &'a MemberFact,
    /// Servers that need not answer: those that the step repairs, removes or restarts.
    pub except: BTreeSet<ServerId>,
    /// Servers that the step removes and nobody replaces: they count for no majority.
    pub removed: BTreeSet<ServerId>,
    /// A server that must answer, although it is in no configuration yet: it follows
    /// the ensemble as an observer.
    pub joiner: Option<&'a MemberFact>,
    /// Must those that answer, without whom the step is about, be a majority of those
    /// that vote? So it is where that one stops. A server alone is always let.
    pub spares_whom: bool,
}

impl<'a> Question<'a> {
    /// Is everybody well?
    pub fn about(whom: &'a MemberFact) -> Self {
        let (except, removed) = (BTreeSet::new(), BTreeSet::new());
        Self { whom, except, removed, joiner: None, spares_whom: false }
    }

    /// Without an answer of this one.
    #[must_use]
    pub fn without(mut self, id: impl IntoIterator<Item = ServerId>) -> Self {
        self.except.extend(id);
        self
    }
}

/// What the servers say.
pub(super) type Views = palladion_plan::members::question::Views<Configuration, Objection>;

/// Members that must answer: whose server votes, or has voted, and the joiner.
pub(super) fn asked<'a>(facts: &'a Facts<'_>, question: &Question<'a>) -> Vec<&'a MemberFact> {
    let known = facts.configuration();
    let counts = |m: &&MemberFact| {
        let Some(id) = m.server_id() else { return false };
        let votes = known.as_ref().is_none_or(|c| c.has_participant(id));
        (votes || m.has_served()) && !question.except.contains(&id)
    };
    let joiner = question.joiner;
    let members = facts.enrolled().filter(counts);
    let others = members.filter(|m| joiner.is_none_or(|j| j.name != m.name));
    others.chain(joiner).collect()
}

/// Judge what they say.
pub(super) fn judge(facts: &Facts<'_>, question: &Question<'_>, source: Source<'_>) -> Views {
    let asked = asked(facts, question);
    let mut views: Vec<(&MemberFact, &EnsembleView)> = Vec::new();
    let mut missing = Vec::new();
    for member in asked {
        if !member.agent_answers(&facts.nodes) {
            return Views::Refused(Objection::Silent { member: member.name.clone() });
        }
        let view = match source {
            Source::Standing => member.view(),
            Source::Answers(nonce) => match member.answer(nonce) {
                Some(view) => view,
                None => {
                    missing.push(member.name.clone());
                    continue;
                }
            },
        };
        match view.filter(|v| v.mode.is_some()) {
            Some(view) => views.push((member, view)),
            None => return Views::Refused(Objection::NoQuorum { member: member.name.clone() }),
        }
    }
    if let Some(why) = disagreement(&views) {
        return Views::Refused(why);
    }
    if !missing.is_empty() {
        return Views::Missing(missing);
    }
    let Some((_, first)) = views.first() else {
        return Views::Refused(Objection::Nobody);
    };
    let configuration = Configuration::of(first);
    match objection(facts, question, &configuration, &views) {
        Some(why) => Views::Refused(why),
        None => Views::Agree(configuration),
    }
}

/// Do two of them have different configurations? One of them has not heard of the last change.
fn disagreement(views: &[(&MemberFact, &EnsembleView)]) -> Option<Objection> {
    let (first, view) = views.first()?;
    let differs = |other: &EnsembleView| {
        other.config_version != view.config_version
            || Configuration::of(other).servers != Configuration::of(view).servers
    };
    let (other, _) = views.iter().find(|(_, other)| differs(other))?;
    Some(Objection::Disagree { first: first.name.clone(), other: other.name.clone() })
}

/// What in the configuration on which all agree forbids the step.
fn objection(
    facts: &Facts<'_>,
    question: &Question<'_>,
    configuration: &Configuration,
    views: &[(&MemberFact, &EnsembleView)],
) -> Option<Objection> {
    let is_joiner = |m: &MemberFact| question.joiner.is_some_and(|j| j.name == m.name);
    let outside = |(member, view): &&(&MemberFact, &EnsembleView)| {
        // A joiner is in no configuration, or votes already.
        let follows = is_joiner(member) && view.own().is_none();
        !view.votes() && !follows
    };
    if let Some((member, _)) = views.iter().find(outside) {
        return Some(Objection::NotInConfiguration { member: member.name.clone() });
    }
    let accounted = |id: ServerId| {
        let answers = views.iter().any(|(_, view)| view.server_id == id);
        answers || question.except.contains(&id)
    };
    let strangers: Vec<ServerId> =
        configuration.servers.iter().map(|s| s.server_id).filter(|id| !accounted(*id)).collect();
    if !strangers.is_empty() {
        // Of a member without its turn nobody was asked; of any other nobody knows.
        let known = strangers.iter().find_map(|id| facts.member_of(*id));
        return Some(match known {
            Some(member) => Objection::Silent { member: member.name.clone() },
            None => Objection::UnknownServer { servers: Names::of(strangers) },
        });
    }
    let own = question.whom.server_id().filter(|_| question.spares_whom);
    let rest = views.iter().filter(|(_, v)| v.votes() && Some(v.server_id) != own).count();
    let is_alone = question.spares_whom && configuration.participants().count() == 1;
    let stay = configuration.participants().filter(|s| !question.removed.contains(&s.server_id));
    let is_majority = rest * 2 > stay.count();
    (!is_alone && !is_majority).then_some(Objection::NoMajority { rest })
}
