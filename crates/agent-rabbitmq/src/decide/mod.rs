//! What the agent of a node of RabbitMQ does next: pure, total, one small action
//! at a time. This file is the table of contents; each rule stands in the file
//! named for it.

mod action;
pub mod application;
pub mod entering;
pub mod evidence;
pub mod forbidden;
pub mod health;
pub mod intent;
pub mod operation;
pub mod permit;
pub mod replicas;
pub mod running;
pub mod start;
pub mod target;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use action::{Action, Cause, Doors, Entry, LeftOver, Start, StopWhy, Work};

use crate::launch::credentials::Present;
use crate::read::{Reading, Sign};
use crate::volume::Found;
use crate::volume::judge::{Judgement, judge};
use crate::volume::ledger::Ledger;
use crate::words::server::{Named, Running};
use crate::words::start::Waiting;
use crate::words::volume::Wrong;
use jiff::Timestamp;
pub use palladion_agent_core::facts::{LastWords, Process, Source};
use palladion_agent_core::init::protocol::Phase;
pub use palladion_agent_core::service::spec::SpecFact;
use palladion_agent_core::service::spec::{names_another_volume, permits};
use palladion_api::ids::{MemberName, PodUid};
use palladion_api::rabbitmq::NodeName;
use palladion_api::reasons::Reason;
use palladion_api::service_member::{MemberServerState, MemberVolumeState, ServiceMemberSpec};
use palladion_api::words::{Message, Reasoned};

/// A name of a node, and whether it leads to this pod.
pub type Lookup = (NodeName, Result<(), Named>);

/// All that a decision is made of.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    /// Now.
    pub now: Timestamp,
    /// UID of our pod.
    pub pod_uid: &'a PodUid,
    /// The member that our pod is.
    pub member: &'a MemberName,
    /// Revision of our pod.
    pub revision: &'a str,
    /// The member's spec.
    pub spec: Option<SpecFact<'a>>,
    /// The volume.
    pub volume: VolumeFact<'a>,
    /// The Secret with the credentials; `None` while it cannot be read.
    pub credentials: Option<Present>,
    /// The name that was looked up last, and whether it leads to this pod.
    pub named: Option<&'a Lookup>,
    /// The node's process.
    pub process: Process,
    /// Is the container ending?
    pub container: Phase,
    /// Whether the node that runs was started open for clients, if that is known.
    pub doors: Option<Doors>,
    /// What a look at the running node has shown.
    pub reading: Option<&'a Reading>,
    /// What its log says while it is silent.
    pub sign: &'a Sign,
    /// Is something being done with it?
    pub work: WorkFact,
    /// What the last try to join has shown.
    pub join: JoinFact,
    /// Is the virtual host of the cluster known to be there?
    pub vhost: VhostFact,
    /// A stop that is under way.
    pub stopping: Option<StopWhy>,
    /// The last telling words of a node that failed.
    pub last_words: Option<&'a LastWords>,
}

/// Whether something is being done with the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkFact {
    /// Nothing.
    Idle,
    /// Something is, or has failed a moment ago.
    Busy,
}

/// What the last try of a node to join has shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JoinFact {
    /// Nothing that would keep it from joining for good.
    #[default]
    Open,
    /// The others name the node already, and it has none of their data: they refuse it as long as
    /// they do.
    NamedWithoutData,
}

/// Whether the virtual host of the cluster, and the rights of its user in it, were seen to be
/// there since the node has started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VhostFact {
    /// They were.
    Present,
    /// Nobody has looked.
    NotLooked,
}

/// The volume.
#[derive(Clone, Debug)]
pub enum VolumeFact<'a> {
    /// What is on it.
    Found(&'a Found),
    /// It could not be looked at.
    Unreadable(&'a str),
}

/// A decision: what to do, and what to tell people meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The next action.
    pub action: Action,
    /// State of the node.
    pub state: MemberServerState,
    /// Why.
    pub reason: Reason,
    /// Why, for people.
    pub message: Option<Message>,
}

impl Decision {
    fn new(
        action: Action,
        state: MemberServerState,
        reason: Reason,
        message: Option<Message>,
    ) -> Self {
        Self { action, state, reason, message }
    }

    /// Explained by a sentence, which has its reason.
    fn because(action: Action, state: MemberServerState, words: impl Reasoned) -> Self {
        Self::new(action, state, words.reason(), Some(words.into()))
    }

    fn wait(words: Waiting) -> Self {
        Self::because(Action::Nothing, MemberServerState::Waiting, words)
    }

    fn first(action: Action) -> Self {
        Self::new(action, MemberServerState::Waiting, Reason::WaitingForPermit, None)
    }
}

/// The volume as it is reported; `None` while it is not ours yet.
pub fn volume_state(facts: &Facts<'_>) -> Option<(MemberVolumeState, Option<Wrong>)> {
    let (VolumeFact::Found(found), Some(spec)) = (&facts.volume, &facts.spec) else {
        return None;
    };
    match judge(found, facts.member, spec.spec) {
        Judgement::Is(state, message) => Some((state, message)),
        Judgement::New | Judgement::LostUnmarked { .. } => None,
    }
}

/// Decide.
pub fn decide(facts: &Facts<'_>) -> Decision {
    let runs = match &facts.process {
        Process::Unknown(why) => {
            return Decision::wait(Waiting::ProcessUnknown { why: why.clone() });
        }
        Process::Running => true,
        Process::Absent => false,
    };
    let ledger = match &facts.volume {
        VolumeFact::Found(found) => found.ledger.as_ref().filter(|_| found.marker.is_some()),
        VolumeFact::Unreadable(_) => None,
    };
    match (runs, ledger) {
        (true, Some(ledger)) => running::decide(facts, ledger),
        // A node runs, and its volume tells nothing: nothing is done on a guess.
        (true, None) => {
            let words = Running::LedgerUnreadable;
            Decision::because(Action::Nothing, MemberServerState::Running, words)
        }
        (false, Some(ledger)) => start::decide(facts, ledger),
        (false, None) => start::without_ledger(facts),
    }
}

/// Whose data the member's record names, where that is not what is on our volume.
enum StaleTwin {
    /// Another volume.
    Volume,
    /// Another node.
    NodeName { recorded: NodeName, found: NodeName },
}

/// Does the spec name another volume or node than ours, and nothing says that ours
/// takes its place?
fn stale_twin(spec: &ServiceMemberSpec, ledger: &Ledger) -> Option<StaleTwin> {
    if permits(spec, ledger) {
        return None;
    }
    if names_another_volume(spec, ledger) {
        return Some(StaleTwin::Volume);
    }
    let (recorded, found) = spec.node_name.as_ref().zip(ledger.node_name.as_ref())?;
    (recorded != found)
        .then(|| StaleTwin::NodeName { recorded: recorded.clone(), found: found.clone() })
}
