//! A node runs: must it be stopped, what is to be done with it, and what is to be noted?

use super::entering::permit as own_permit;
use super::{
    Action, Decision, Doors, Facts, JoinFact, SpecFact, StopWhy, VhostFact, Work, WorkFact,
    application, entering, intent, permit, stale_twin,
};
use crate::launch::credentials::{Logins, Present};
use crate::read::Sign;
use crate::read::reading::Access;
use crate::volume::cookie::Comparison;
use crate::volume::ledger::{App, Ban, Entered, Ledger, Membership};
use crate::words::server::{Running, Starting, Stopping};
use palladion_agent_core::init::protocol::Phase;
use palladion_agent_core::service::spec::is_marked_as_lost;
use palladion_api::member::RunState;
use palladion_api::reasons::Reason;
use palladion_api::service_member::{MemberServerState, ServicePermitKind};
use palladion_api::words::{Message, Names, Reasoned};

/// Decide about a node that runs.
pub fn decide(facts: &Facts<'_>, ledger: &Ledger) -> Decision {
    if facts.stopping.is_some() || facts.container == Phase::Ending {
        return tell(facts, ledger, Action::Nothing);
    }
    let action = terminate(facts, ledger)
        .or_else(|| must_stop(facts, ledger).map(Action::Stop))
        .or_else(|| entering::record_member(facts, ledger))
        .or_else(|| record_served(facts, ledger))
        .or_else(|| permit::settle(facts, ledger))
        .or_else(|| intent::settle(facts, ledger))
        .or_else(|| application::next(facts, ledger))
        .or_else(|| entering::by_its_files(facts, ledger))
        .or_else(|| entering::next(facts, ledger))
        .or_else(|| make_user(facts, ledger))
        // It is looked for after each start anyway, and what fails is tried again without end.
        .or_else(|| restart(facts, ledger))
        .or_else(|| make_vhost(facts, ledger))
        .unwrap_or(Action::Nothing);
    tell(facts, ledger, action)
}

/// The spec, where it is about the data on our volume.
fn own<'a>(facts: &Facts<'a>, ledger: &Ledger) -> Option<SpecFact<'a>> {
    facts.spec.filter(|known| stale_twin(known.spec, ledger).is_none())
}

/// Noted before the node is stopped, so that none starts again whatever ends in between.
fn terminate(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let known = own(facts, ledger)?;
    let due = known.spec.run == RunState::Terminated && ledger.ban == Ban::None;
    due.then_some(Action::Terminate)
}

fn must_stop(facts: &Facts<'_>, ledger: &Ledger) -> Option<StopWhy> {
    let spec = facts.spec.map(|known| known.spec);
    if spec.is_some_and(|spec| stale_twin(spec, ledger).is_some()) {
        return Some(StopWhy::StaleTwin);
    }
    if ledger.membership == Membership::Left {
        return Some(StopWhy::Left);
    }
    if spec.is_some_and(|spec| is_marked_as_lost(spec, ledger)) {
        return Some(StopWhy::MarkedAsLost);
    }
    match spec?.run {
        // Whoever does not know what is wanted stops nothing.
        RunState::Running | RunState::Unknown(_) => None,
        RunState::Stopped | RunState::Terminated => Some(StopWhy::SpecSaysSo),
    }
}

/// The first sight of a node that serves as a member in this start.
fn record_served(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let serves = facts.reading.is_some_and(|reading| reading.serves());
    (serves && ledger.membership == Membership::Joined && !ledger.has_served())
        .then_some(Action::RecordServed)
}

/// A node that does not take the agent's password shows nothing.
fn make_user(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let is_denied = facts.reading.is_some_and(|reading| reading.access == Access::Denied);
    let is_due = is_denied && ledger.entered == Entered::Yes && facts.work == WorkFact::Idle;
    is_due.then_some(Action::Work(Work::MakeUser))
}

/// Once after each start: a cluster that was created again over volumes that were kept may ask
/// for another virtual host than the one that it was set up with, and names it to dependents.
fn make_vhost(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let is_member = ledger.membership == Membership::Joined && ledger.has_served();
    let serves = facts.reading.is_some_and(|reading| reading.serves());
    let has_user = facts.credentials.is_some_and(|present| present.logins == Logins::Present);
    let is_due = facts.vhost == VhostFact::NotLooked && is_member && serves && has_user;
    (is_due && facts.work == WorkFact::Idle).then_some(Action::Work(Work::MakeVhost))
}

fn restart(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let spec = facts.spec?.spec;
    match spec.run {
        RunState::Running => {}
        // It would not be started again.
        RunState::Stopped | RunState::Terminated | RunState::Unknown(_) => return None,
    }
    let due = spec.restart_token.is_some() && spec.restart_token != ledger.restart_token;
    // A join is not interrupted; its own start takes the token along. And a node that is to
    // keep its virtual machine alive would not start again.
    let is_due = due && ledger.membership == Membership::Joined && ledger.app == App::Runs;
    (is_due && facts.work == WorkFact::Idle).then_some(Action::Stop(StopWhy::Restart))
}

fn tell(facts: &Facts<'_>, ledger: &Ledger, action: Action) -> Decision {
    let begun = if let Action::Stop(why) = &action { Some(*why) } else { None };
    if let Some(why) = facts.stopping.or(begun) {
        return Decision::because(action, MemberServerState::Stopping, stopping(why));
    }
    if facts.container == Phase::Ending {
        return Decision::because(action, MemberServerState::Stopping, Stopping::WithContainer);
    }
    if let Some(told) = application::told(facts, ledger) {
        // Its process runs, and nobody may count on it.
        return Decision::because(action, MemberServerState::Stopping, told);
    }
    if !ledger.has_served() {
        return Decision::because(action, MemberServerState::Starting, starting(facts, ledger));
    }
    match amiss(facts).or_else(|| not_known(facts)) {
        Some(words) => {
            let reason = words.reason();
            let message = Some(Message::from(words));
            Decision::new(action, MemberServerState::Running, reason, message)
        }
        None => Decision::new(action, MemberServerState::Running, Reason::Running, None),
    }
}

fn stopping(why: StopWhy) -> Stopping {
    match why {
        StopWhy::StaleTwin => Stopping::StaleTwin,
        StopWhy::SpecSaysSo => Stopping::BySpec,
        StopWhy::Restart => Stopping::Restart,
        StopWhy::PermitWithdrawn => Stopping::PermitWithdrawn,
        StopWhy::Left => Stopping::Left,
        StopWhy::MarkedAsLost => Stopping::MarkedAsLost,
        StopWhy::Opening => Stopping::Opening,
    }
}

fn starting(facts: &Facts<'_>, ledger: &Ledger) -> Starting {
    if ledger.entered != Entered::Yes && facts.doors == Some(Doors::Closed) {
        return entering(facts, ledger);
    }
    let Some(reading) = facts.reading.filter(|reading| reading.answers()) else {
        return match facts.sign {
            Sign::Tables { nodes } if nodes.is_empty() => Starting::ForTables,
            Sign::Tables { nodes } => Starting::ForTablesOf { nodes: Names::of(nodes) },
            Sign::None | Sign::Paused if cookie_differs(facts) => Starting::CookieDiffers,
            Sign::None | Sign::Paused => Starting::Silent,
        };
    };
    let Some(broker) = reading.broker() else {
        return Starting::Denied;
    };
    if !broker.serves() {
        return Starting::NotMember;
    }
    let missing: Vec<_> = broker.members.iter().filter(|node| !broker.sees(node)).collect();
    let is_joining = matches!(ledger.membership, Membership::Joining { .. });
    match (is_joining && !missing.is_empty(), facts.doors, reading.listens()) {
        (true, _, _) => Starting::NotAllSeen { missing: Names::of(missing) },
        (false, Some(Doors::Closed), false) => Starting::Opening,
        (false, Some(Doors::Open) | None, false) | (false, _, true) => Starting::Closed,
    }
}

fn entering(facts: &Facts<'_>, ledger: &Ledger) -> Starting {
    match own_permit(facts, ledger) {
        Some(_) if facts.join == JoinFact::NamedWithoutData => Starting::NamedWithoutData,
        // What it is about to do comes to nothing before that.
        Some(_) | None if cookie_differs(facts) => Starting::JoinsWithOther,
        Some(permit) if permit.kind == ServicePermitKind::Initialize => Starting::SettingUp,
        Some(permit) => Starting::Joining { nodes: Names::of(&permit.nodes) },
        None => Starting::Silent,
    }
}

/// What a newer operator asks of this agent that it does not know.
fn not_known(facts: &Facts<'_>) -> Option<Running> {
    let mut fields = facts.spec?.spec.unknown();
    fields.retain(|field| !field.starts_with("spec.replace"));
    let version = env!("CARGO_PKG_VERSION");
    (!fields.is_empty()).then(|| Running::Unknown { fields: Names::of(fields), version })
}

/// What is not as it should be while the node runs.
fn amiss(facts: &Facts<'_>) -> Option<Running> {
    let Some(reading) = facts.reading.filter(|reading| reading.answers()) else {
        return Some(match facts.sign {
            Sign::Paused => Running::Paused,
            Sign::None | Sign::Tables { .. } => Running::Silent,
        });
    };
    let Some(broker) = reading.broker() else {
        return Some(Running::Denied);
    };
    if !broker.serves() {
        return Some(Running::NotMember);
    }
    if reading.is_drained() {
        return Some(Running::Drained);
    }
    if !reading.listens() {
        return Some(Running::Closed);
    }
    cookie_differs(facts).then_some(Running::CookieDiffers)
}

fn cookie_differs(facts: &Facts<'_>) -> bool {
    let differs = |present: Present| present.cookie == Comparison::Differs;
    facts.credentials.is_some_and(differs)
}
