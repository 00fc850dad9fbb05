//! What the agent does next: pure, total, one small action at a time. This
//! file is the table of contents; each rule stands in the file named for it.
//! The rules are in `docs/concepts/safety.md`, sections 1, 2 and 4.

mod action;
pub mod backoff;
pub mod begin;
pub mod clients;
pub mod clock;
pub mod closed;
mod drain;
pub mod elsewhere;
pub mod floor;
pub mod forbidden;
pub mod health;
pub mod intent;
pub mod job;
pub mod operation;
pub mod permit;
pub mod progress;
pub mod rebuild;
mod restored;
pub mod rewind;
pub mod running;
pub mod seal;
pub mod silence;
pub mod stale;
pub mod start;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use action::{Action, Cause, Start, StopWhy, Then, end_of};
pub use begin::Asked;
pub use palladion_agent_core::facts::{LastWords, Process, Source};

use crate::admin::Reading;
use crate::init::protocol::Phase;
use crate::volume::Found;
use crate::volume::judge::{Judgement, judge};
use crate::volume::ledger::Ledger;
use crate::words::server::Running;
use crate::words::start::Waiting;
use crate::words::volume::Wrong;
use clock::Times;
use jiff::Timestamp;
use palladion_api::cluster::ClientAddresses;
use palladion_api::ids::{MemberName, Nonce, PodUid};
use palladion_api::member::{CassandraMemberSpec, ServerState, VolumeState};
use palladion_api::reasons::Reason;
use palladion_api::server_config::Opens;
use palladion_api::words::{Message, Reasoned};
use progress::Progress;
use seal::Seal;

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
    /// The server's process.
    pub process: Process,
    /// Is the container ending?
    pub container: Phase,
    /// What the running server says, if it could be asked.
    pub reading: Option<&'a Reading>,
    /// How a join or a leave that is under way gets on.
    pub progress: Option<&'a Progress>,
    /// A stop that is under way.
    pub stopping: Option<StopWhy>,
    /// Our call to leave the ring.
    pub leave_call: &'a LeaveCall,
    /// Our last call to drain the server.
    pub drain_call: Option<&'a DrainCall>,
    /// The last telling words of a server that failed.
    pub last_words: Option<&'a LastWords>,
    /// What a start waits for, where the server needs a certificate of its own and has none.
    pub lacks_certificate: Option<Waiting>,
    /// What a sealed start is decided by.
    pub seal: Seal,
    /// Where seeds in other datacenters are.
    pub elsewhere: elsewhere::Elsewhere,
    /// Was the server that runs started closed to clients?
    pub closed: bool,
    /// Is it to be started once more, to replay an archived commit log?
    pub rewinds: bool,
    /// When members take clients, where the configuration says so.
    pub opens: Option<Opens>,
    /// Which address servers announce to clients, where the configuration says so.
    pub client_addresses: Option<ClientAddresses>,
    /// Was the server that runs started without its native transport, since its member was not
    /// rebuilt?
    pub awaits_rebuild: bool,
    /// Was the native transport of the server that runs seen up?
    pub was_open: bool,
    /// Our last question whether a permit or an intent may be begun.
    pub asked: Option<Asked>,
}

/// The spec and how fresh it is.
#[derive(Clone, Copy, Debug)]
pub struct SpecFact<'a> {
    /// The spec.
    pub spec: &'a CassandraMemberSpec,
    /// Where it comes from.
    pub source: Source,
    /// What it was read with says of the time; nothing where it was saved.
    pub times: Times,
}

/// The volume.
#[derive(Clone, Debug)]
pub enum VolumeFact<'a> {
    /// What is on it.
    Found(&'a Found),
    /// It could not be looked at.
    Unreadable(&'a str),
}

/// Our call to leave the ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaveCall {
    /// Not made by this agent.
    NotMade,
    /// Made, not answered yet.
    UnderWay,
    /// Answered.
    Answered(Result<(), String>),
}

/// A call of this agent to drain the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrainCall {
    /// Nonce of the order.
    pub nonce: Nonce,
    /// The answer, once there is one.
    pub answer: Option<Result<(), String>>,
}

/// A decision: what to do, and what to tell people meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The next action.
    pub action: Action,
    /// State of the server.
    pub state: ServerState,
    /// Why.
    pub reason: Reason,
    /// Why, for people.
    pub message: Option<Message>,
}

impl Decision {
    fn new(action: Action, state: ServerState, reason: Reason, message: Option<Message>) -> Self {
        Self { action, state, reason, message }
    }

    /// Explained by a sentence, which has its reason.
    fn because(action: Action, state: ServerState, words: impl Reasoned) -> Self {
        Self::new(action, state, words.reason(), Some(words.into()))
    }

    fn wait(words: Waiting) -> Self {
        Self::because(Action::Nothing, ServerState::Waiting, words)
    }

    fn first(action: Action) -> Self {
        Self::new(action, ServerState::Waiting, Reason::WaitingForPermit, None)
    }
}

/// The volume as it is reported; `None` while it is not ours yet.
pub fn volume_state(facts: &Facts<'_>) -> Option<(VolumeState, Option<Wrong>)> {
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
    let running = match &facts.process {
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
    match (running, ledger) {
        (true, Some(ledger)) => running::decide(facts, ledger),
        // A server runs, and its volume tells nothing: nothing is done on a guess.
        (true, None) => {
            Decision::because(Action::Nothing, ServerState::Running, Running::LedgerUnreadable)
        }
        (false, Some(ledger)) => start::decide(facts, ledger),
        (false, None) => start::without_ledger(facts),
    }
}

/// Does the spec name another volume than ours, and nothing says that ours
/// takes its place? Then this is the stale twin (safety rule 1.4).
fn is_stale_twin(spec: &CassandraMemberSpec, ledger: &Ledger) -> bool {
    let Some(recorded) = &spec.volume_id else {
        return false;
    };
    let successor = ledger.successor_of.as_ref() == Some(recorded);
    // Also by a permit of a kind that this agent does not know: it refuses to start by
    // that, and stops nothing either.
    let permitted = spec.start.as_ref().is_some_and(|permit| permit.volume_id == ledger.volume_id);
    *recorded != ledger.volume_id && !successor && !permitted
}
