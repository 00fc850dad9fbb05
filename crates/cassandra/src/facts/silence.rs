//! Agents that are asked in vain. An agent that loses the API server alone leaves its last
//! status standing, and pod, Node and server are well: without heartbeats nothing shows it
//! but that it does not read what it is asked (safety rule 4.9, ADR 30).

use super::{Facts, MemberFact};
use jiff::{SignedDuration, Timestamp};
use palladion_api::cluster::{Turn, TurnStep};
use palladion_plan::proof::FRESH;

/// So long an agent may be silent: it reads within a second what it is asked, and reports
/// within seconds of its start.
const PATIENCE: SignedDuration = SignedDuration::from_secs(120);

/// What an agent has not answered, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// It was asked or ordered something then.
    Asked(Timestamp),
    /// Its pod has run since then, and it has said nothing yet.
    Unreported(Timestamp),
}

impl Silence {
    /// Since when.
    pub fn since(self) -> Timestamp {
        match self {
            Silence::Asked(since) | Silence::Unreported(since) => since,
        }
    }
}

impl Facts<'_> {
    /// How long the agent of a member has been silent, if that is too long.
    pub fn silence(&self, member: &MemberFact) -> Option<Silence> {
        self.pending(member).filter(|silence| self.silent_from(*silence) <= self.now())
    }

    /// When it will have been silent for too long, if it says nothing until then.
    pub fn will_be_silent(&self, member: &MemberFact) -> Option<Timestamp> {
        let from = self.pending(member).map(|silence| self.silent_from(silence))?;
        (from > self.now()).then_some(from)
    }

    fn silent_from(&self, silence: Silence) -> Timestamp {
        self.again(silence.since(), None, PATIENCE)
    }

    /// What it has still to answer. Of a machine that does not answer nobody expects it.
    fn pending(&self, member: &MemberFact) -> Option<Silence> {
        let pod = member.pod.as_ref().filter(|pod| !pod.terminating && !member.is_gone())?;
        let node = pod.node.as_deref()?;
        if self.nodes.get(node) != Some(&true) {
            return None;
        }
        if !member.agent_speaks() {
            // There is nowhere to report to before its object is there.
            let created = member.object.as_ref()?.meta.creation_timestamp;
            let started = pod.running_since.filter(|_| pod.trouble.is_none())?;
            return Some(Silence::Unreported(created.map_or(started, |at| at.max(started))));
        }
        if member.has_read() {
            return None;
        }
        let turn = self.turn().filter(|turn| turn.member == member.name);
        let ordered = turn.filter(|turn| ignores(turn, member)).map(|turn| turn.since.0 + FRESH);
        [member.asked_since(), ordered].into_iter().flatten().min().map(Silence::Asked)
    }
}

impl MemberFact {
    /// Has its agent read what is asked of it? It reports so with each change of its spec.
    fn has_read(&self) -> bool {
        let generation = self.object.as_ref().map_or(0, |object| object.meta.generation);
        self.status.observed_generation.is_some_and(|seen| seen >= generation)
    }

    /// Since when it is asked how it sees the ring, without an answer.
    pub fn asked_since(&self) -> Option<Timestamp> {
        let spec = self.spec.as_ref()?;
        let asked = spec.evidence.as_ref().map(|asked| &asked.nonce);
        let answered = self.status.evidence.as_ref().map(|answer| &answer.nonce);
        let since = spec.asked_since.as_ref().filter(|_| answered != asked)?;
        Some(since.0)
    }
}

/// Is it as it was before the order of its turn? That is given while what others were asked
/// counts, and is not given again under the same turn.
fn ignores(turn: &Turn, member: &MemberFact) -> bool {
    let Some(spec) = &member.spec else { return false };
    let status = &member.status;
    match turn.step {
        TurnStep::Initialize
        | TurnStep::Join
        | TurnStep::Replace
        | TurnStep::ResumeLeave
        | TurnStep::Readdress => {
            let answered = status.permit.as_ref().map(|permit| &permit.nonce);
            spec.start
                .as_ref()
                .is_some_and(|start| start.nonce == turn.nonce && answered != Some(&start.nonce))
        }
        TurnStep::Leave => {
            let answered = status.intent.as_ref().map(|intent| &intent.nonce);
            spec.intent
                .as_ref()
                .is_some_and(|intent| intent.nonce == turn.nonce && answered != Some(&intent.nonce))
        }
        TurnStep::Restart => {
            let reported = status.server.as_ref().and_then(|s| s.restart_token.as_ref());
            member.is_normal() && spec.restart_token.as_ref() != reported
        }
        TurnStep::Stop => member.is_stopped() && member.is_normal(),
        TurnStep::Start => !member.is_stopped() && !member.may_run(),
        // Another one is asked for it.
        TurnStep::Remove => false,
    }
}
