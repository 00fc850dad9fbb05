//! What the nodes say of their cluster: all that must answer for a step, whether they
//! agree, and what forbids it. Judged alike over what agents report by themselves, and
//! over their answers to a question.

use crate::facts::{Answer, Facts, MemberFact, Node};
use crate::words::evidence::Objection;
use palladion_api::ids::MemberName;
use palladion_api::rabbitmq::NodeName;
use palladion_api::service_member::BrokerView;
use palladion_plan::members::question;
pub(super) use palladion_plan::members::question::Source;
use palladion_plan::words::Names;
use std::collections::{BTreeMap, BTreeSet};

/// The feature flag with which membership is kept in another way.
const KHEPRI: &str = "khepri_db";

/// A question to the cluster.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// Whom the step is about.
    pub whom: &'a MemberFact,
    /// Nodes that need not answer or run: those that the step repairs, removes or restarts.
    pub except: BTreeSet<NodeName>,
    /// Nodes that the step takes out and nobody replaces: they count for no majority.
    pub removed: BTreeSet<NodeName>,
    /// Must those that answer, without whom the step is about, be a majority of the
    /// cluster? So it is where that one stops. A node alone is always let.
    pub spares_whom: bool,
    /// Does an alarm forbid the step? So it is where data is moved.
    pub is_calm: bool,
}

impl<'a> Question<'a> {
    /// Is everybody well?
    pub fn about(whom: &'a MemberFact) -> Self {
        let (except, removed) = (BTreeSet::new(), BTreeSet::new());
        Self { whom, except, removed, spares_whom: false, is_calm: false }
    }

    /// Without an answer of these.
    #[must_use]
    pub fn without(mut self, nodes: impl IntoIterator<Item = NodeName>) -> Self {
        self.except.extend(nodes);
        self
    }
}

/// What all say, before it proves anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub nodes: BTreeSet<NodeName>,
    pub answers: BTreeMap<MemberName, Answer>,
}

/// What the nodes say.
pub(super) type Views = question::Views<Said, Objection>;

/// Members that must answer: whose node is in the cluster, or has been.
fn asked<'a>(facts: &'a Facts<'_>, question: &Question<'_>) -> Vec<&'a MemberFact> {
    let named = facts.named();
    let counts = |m: &&MemberFact| {
        let node = facts.node_of(m);
        (m.has_served() || named.contains(&node)) && !question.except.contains(&node)
    };
    facts.enrolled().filter(counts).collect()
}

/// Judge what they say.
pub(super) fn judge(facts: &Facts<'_>, question: &Question<'_>, source: Source<'_>) -> Views {
    let asked = asked(facts, question);
    let mut answers: BTreeMap<MemberName, Answer> = BTreeMap::new();
    let mut missing = Vec::new();
    for member in &asked {
        let name = || member.name.clone();
        if !member.agent_answers(&facts.nodes) {
            return Views::Refused(Objection::Silent { member: name() });
        }
        let answer = match source {
            Source::Standing => {
                let view = member.view().cloned();
                view.map(|broker| Answer { broker, queues: Default::default() })
                    .ok_or(Objection::NotServing { member: name() })
            }
            Source::Answers(nonce) => match member.answer(nonce) {
                Some(answer) => answer.ok_or(Objection::NotRead { member: name() }),
                None => {
                    missing.push(name());
                    continue;
                }
            },
        };
        match answer {
            Ok(answer) if answer.broker.serves() => answers.insert(name(), answer),
            Ok(_) => return Views::Refused(Objection::NotServing { member: name() }),
            Err(why) => return Views::Refused(why),
        };
    }
    if let Some(why) = of_each(facts, question, &asked, &answers) {
        return Views::Refused(why);
    }
    if !missing.is_empty() {
        return Views::Missing(missing);
    }
    let Some(first) = answers.values().next() else {
        return Views::Refused(Objection::Nobody);
    };
    let nodes: BTreeSet<NodeName> = first.broker.members.iter().cloned().collect();
    match of_all(facts, question, &asked, &nodes, &answers) {
        Some(why) => Views::Refused(why),
        None => Views::Agree(Said { nodes, answers }),
    }
}

/// What in the answer of a single node forbids the step.
fn of_each(
    facts: &Facts<'_>,
    question: &Question<'_>,
    asked: &[&MemberFact],
    answers: &BTreeMap<MemberName, Answer>,
) -> Option<Objection> {
    for (member, answer) in answers {
        let (member, broker) = (|| member.clone(), &answer.broker);
        if !broker.partitions.is_empty() {
            let nodes = Names::of(&broker.partitions);
            return Some(Objection::Partitioned { member: member(), nodes });
        }
        let runs = asked.iter().map(|m| facts.node_of(m));
        let unseen: Vec<NodeName> = runs.filter(|node| !broker.sees(node)).collect();
        if !unseen.is_empty() {
            let nodes = Names::of(&unseen);
            return Some(Objection::NotSeen { member: member(), nodes });
        }
        if let Some(alarm) = broker.alarms.first().filter(|_| question.is_calm) {
            let (node, resource) = (alarm.node.clone(), alarm.resource.clone());
            return Some(Objection::Alarm { node, resource });
        }
        if uses_khepri(broker) {
            return Some(Objection::Khepri);
        }
    }
    None
}

fn uses_khepri(broker: &BrokerView) -> bool {
    broker.flags.as_ref().is_some_and(|flags| flags.enabled.iter().any(|flag| flag == KHEPRI))
}

/// What in that on which all agree, or do not, forbids the step.
fn of_all(
    facts: &Facts<'_>,
    question: &Question<'_>,
    asked: &[&MemberFact],
    nodes: &BTreeSet<NodeName>,
    answers: &BTreeMap<MemberName, Answer>,
) -> Option<Objection> {
    let differs =
        |a: &&Answer| a.broker.members.iter().collect::<BTreeSet<_>>() != nodes.iter().collect();
    if let Some((other, _)) = answers.iter().find(|(_, answer)| differs(answer)) {
        let first = answers.keys().next()?.clone();
        return Some(Objection::Disagree { first, other: other.clone() });
    }
    // Unknown flags may be those that change everything.
    if answers.values().all(|a| a.broker.flags.is_none()) {
        return Some(Objection::FlagsNotRead);
    }
    let is_out = |m: &&&MemberFact| !nodes.contains(&facts.node_of(m));
    if let Some(member) = asked.iter().find(is_out) {
        return Some(Objection::NotInCluster { member: member.name.clone() });
    }
    let own: BTreeSet<NodeName> = asked.iter().map(|m| facts.node_of(m)).collect();
    let is_strange = |node: &&NodeName| !own.contains(*node) && !question.except.contains(*node);
    let strangers: Vec<&NodeName> = nodes.iter().filter(is_strange).collect();
    if let Some(first) = strangers.first() {
        // Of a member without its turn nobody was asked; of any other nobody knows.
        return Some(match facts.member_of(first) {
            Some(member) => Objection::Silent { member: member.name.clone() },
            None => Objection::UnknownNode { nodes: Names::of(strangers) },
        });
    }
    let whom = facts.node_of(question.whom);
    let stays = |node: &&NodeName| !(question.spares_whom && **node == whom);
    let of = nodes.iter().filter(|node| !question.removed.contains(node)).count();
    let rest = own.iter().filter(stays).count();
    let is_alone = question.spares_whom && of == 1;
    (!is_alone && rest * 2 <= of).then_some(Objection::NoMajority { rest, of })
}
