//! The order of work when pods are not what they should be: who is restarted
//! next, who is sent a signal, and when all are recreated. Shared by all that
//! run pods with a gate; who may write what is decided elsewhere.

#[cfg(test)]
mod tests;

use crate::facts::claims::AtRisk;
use crate::facts::reach::Reach;
use crate::gate::{self, Stand};
use jiff::Timestamp;
use palladion_api::staged::ReloadPolicy;
use palladion_plan::workload::pod::PodFact;

/// What a pod should be made from.
#[derive(Clone, Copy, Debug)]
pub struct Goal<'a> {
    /// Hash of the pod template.
    pub template: &'a str,
    /// Hash of what the owner itself says of the texts.
    pub inputs: &'a str,
    /// Hash of the pod's files; `None` = they cannot be made now.
    pub text: Option<&'a str>,
}

/// How a pod differs from what it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Not at all, or in what it gets at its gate.
    None,
    /// Its files are the same, and the owner says other things than when they were made.
    Words,
    /// Its files: something outside has changed.
    Outside,
    /// Its files: the owner says other things.
    Inputs,
    /// Its template.
    Template,
}

/// How a pod differs.
pub fn change(pod: &PodFact, inputs: Option<&str>, goal: Goal<'_>) -> Change {
    if pod.spec_hash() != Some(goal.template) {
        return Change::Template;
    }
    let (Stand::Passed, Some(text)) = (gate::stand(pod), goal.text) else {
        return Change::None;
    };
    match (gate::runs_with(pod) == Some(text), inputs == Some(goal.inputs)) {
        (true, true) => Change::None,
        (true, false) => Change::Words,
        (false, true) => Change::Outside,
        (false, false) => Change::Inputs,
    }
}

/// A pod, and how it differs.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// The pod.
    pub pod: &'a PodFact,
    /// How it differs.
    pub change: Change,
    /// Why its data may be lost if it ends.
    pub at_risk: Option<AtRisk>,
    /// Can it be reached?
    pub reach: Reach,
}

/// May pods that serve be ended for a change?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// Yes: what they need to start again is there.
    Firm,
    /// No: they would wait at their gate.
    Loose,
}

/// What is done next.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work<'a> {
    /// The one pod that is ended, so that its set creates it again.
    pub restart: Option<&'a PodFact>,
    /// All pods are ended, then all are created.
    pub recreate: Recreate,
    /// Pods whose process gets a signal.
    pub signal: Vec<&'a PodFact>,
    /// Pods that are only noted to have the newest words.
    pub note: Vec<&'a PodFact>,
    /// What the next restart waits for.
    pub hold: Option<Hold<'a>>,
}

impl<'a> Work<'a> {
    /// Nothing is done but to wait.
    pub fn held(hold: Hold<'a>) -> Self {
        Self { hold: Some(hold), ..Self::default() }
    }
}

/// Are all pods ended?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recreate {
    /// No.
    #[default]
    No,
    /// Yes.
    Now,
}

/// What a restart waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum Hold<'a> {
    /// This pod is not available yet; until when it becomes so by itself, if it is ready.
    Pod(&'a PodFact, Option<Timestamp>),
    /// What the pods need to start again is not there.
    Ground,
    /// The texts that go with their newest template do not come about.
    Texts,
    /// This pod does not stop.
    Stays(&'a PodFact),
    /// This pod's data would go with it.
    Claim(&'a PodFact, AtRisk),
}

/// How a service is run.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// How a change from outside reaches running pods.
    pub policy: ReloadPolicy,
    /// Seconds for which a pod must be ready.
    pub min_ready_seconds: i32,
    /// May pods that serve be ended?
    pub ground: Ground,
}

/// What is done next. `pods` are all pods of the service.
pub fn next<'a>(pods: &[Candidate<'a>], rules: Rules, now: Timestamp) -> Work<'a> {
    let mut work = Work::default();
    let mut restarts = Vec::new();
    for candidate in pods.iter().filter(|c| !c.pod.terminating) {
        match (candidate.change, rules.policy) {
            (Change::None, _) => {}
            (Change::Words, _) => work.note.push(candidate.pod),
            (Change::Outside, ReloadPolicy::Signal) => work.signal.push(candidate.pod),
            (Change::Outside, ReloadPolicy::Restart | ReloadPolicy::Recreate)
            | (Change::Inputs | Change::Template, _) => restarts.push(candidate),
        }
    }
    let has_passed = |c: &&Candidate<'_>| gate::stand(c.pod) == Stand::Passed;
    let recreates = rules.policy == ReloadPolicy::Recreate && restarts.iter().any(has_passed);
    if recreates {
        let at_risk = pods.iter().filter(|c| !c.pod.terminating).find_map(kept);
        if at_risk.is_some() {
            work.hold = at_risk;
            return work;
        }
        // Those that stop would wait for one that does not, and nobody would serve.
        let stays = pods.iter().find(|c| c.pod.terminating || c.reach == Reach::Lost);
        if let Some(stays) = stays {
            work.hold = Some(Hold::Stays(stays.pod));
            return work;
        }
        match rules.ground {
            Ground::Firm => work.recreate = Recreate::Now,
            Ground::Loose => work.hold = Some(Hold::Ground),
        }
        return work;
    }
    // The others are not held up by a pod that keeps its data.
    let at_risk = restarts.iter().copied().find_map(kept);
    restarts.retain(|c| c.at_risk.is_none());
    // A pod that serves nobody may be the one that a fix is for: it waits for nobody.
    if let Some(broken) = restarts.iter().rev().find(|c| !c.pod.is_ready()) {
        work.restart = Some(broken.pod);
        return work;
    }
    let Some(last) = restarts.last() else {
        work.hold = at_risk;
        return work;
    };
    let unavailable = pods.iter().find_map(|c| match c.pod.available_at(rules.min_ready_seconds) {
        Some(at) if at <= now => None,
        at => Some((c.pod, at)),
    });
    match (unavailable, rules.ground) {
        (Some((pod, at)), _) => work.hold = Some(Hold::Pod(pod, at)),
        (None, Ground::Loose) => work.hold = Some(Hold::Ground),
        (None, Ground::Firm) => work.restart = Some(last.pod),
    }
    work
}

/// It is not ended as long as its data would go with it.
fn kept<'a>(candidate: &Candidate<'a>) -> Option<Hold<'a>> {
    Some(Hold::Claim(candidate.pod, candidate.at_risk.clone()?))
}
