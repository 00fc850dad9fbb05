//! What people want of members and is not carried out, and why: for the status
//! alone, no decision is taken from it.

use super::order::{self, Order};
use super::seed;
use crate::decide::draft::Draft;
use crate::decide::evidence::marks;
use crate::decide::objects::restart_tokens;
use crate::decide::turn::stopping;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::status::Paused;
use crate::words::wanted::Unmet as Why;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::cluster::{MOST_UNMET, TurnStep, Unmet};
use palladion_api::member::{ServerState, Wanted, WantedRun};
use palladion_api::reasons::Reason;
use palladion_api::waits::LONGEST;
use palladion_plan::words::Reasoned;
use serde_json::{Value, json};

/// The list as the status shows it; `null` where nothing is missing.
pub fn of(facts: &Facts<'_>, valid: &Valid, draft: &Draft, paused: Option<&Paused>) -> Value {
    let wishes = facts.members.values().filter(|m| !m.is_gone()).flat_map(|member| {
        let wanted = member.wanted();
        let run = wanted.and_then(|w| run(facts, member, w));
        let restart = wanted.and_then(|w| restart(member, w));
        let open = [run, restart].into_iter().flatten();
        let open = open.map(move |wish| (wish, why(facts, member, draft, paused)));
        let seed = seed::unmet(facts, valid, member);
        let seed = seed.map(|(wish, why)| (wish, (why.reason(), why.to_string())));
        open.chain(seed).map(move |(wish, why)| unmet(facts, member, wish, why))
    });
    match wishes.take(MOST_UNMET).collect::<Vec<_>>() {
        none if none.is_empty() => Value::Null,
        some => json!(some),
    }
}

/// Does the server stand otherwise than people want it?
fn run(facts: &Facts<'_>, member: &MemberFact, wanted: &Wanted) -> Option<String> {
    let run = wanted.run?;
    let turn = facts.turn().filter(|t| t.member == member.name).map(|t| t.step);
    let is_open = match run {
        WantedRun::Stopped => order::of(member) == Some(Order::Stop) || stops(member),
        WantedRun::Running => {
            let is_under_way = turn == Some(TurnStep::Start);
            order::of(member) == Some(Order::Start) || is_under_way || member.is_banned()
        }
        WantedRun::Terminated => {
            order::of(member) == Some(Order::Terminate) || member.is_terminated() && stops(member)
        }
        WantedRun::Unknown(_) => true,
    };
    is_open.then(|| format!("run: {}", json!(run).as_str().unwrap_or_default()))
}

/// The order is given, and its server has not ended yet.
fn stops(member: &MemberFact) -> bool {
    let state = member.reported_server().map(|s| s.state);
    member.is_stopped()
        && state.is_some_and(|s| !matches!(s, ServerState::Stopped | ServerState::Waiting))
}

/// Has the server not been restarted yet as people want it?
fn restart(member: &MemberFact, wanted: &Wanted) -> Option<String> {
    let token = wanted.restart_token.as_ref()?;
    let is_given = restart_tokens::is_given(member, token);
    // Of one that is stopped it is only recorded.
    let is_done = is_given && (member.is_stopped() || restart_tokens::is_done(member));
    (!is_done).then(|| format!("restartToken: {token}"))
}

fn unmet(
    facts: &Facts<'_>,
    member: &MemberFact,
    wish: String,
    (reason, message): (Reason, String),
) -> Unmet {
    let stored = facts.status.unmet.iter().find(|u| u.member == member.name && u.wish == wish);
    let now = Timestamp::from_second(facts.now().as_second()).unwrap_or(facts.now());
    Unmet {
        member: member.name.clone(),
        wish,
        reason: reason.to_string(),
        message: message.chars().take(LONGEST).collect(),
        since: stored.map_or(Time(now), |u| u.since.clone()),
    }
}

/// What stands in its way, the most telling first.
fn why(
    facts: &Facts<'_>,
    member: &MemberFact,
    draft: &Draft,
    paused: Option<&Paused>,
) -> (Reason, String) {
    let said = |why: Why| (why.reason(), why.to_string());
    if let Some(paused) = paused {
        return (paused.reason(), paused.to_string());
    }
    if let Some(WantedRun::Unknown(word)) = member.wanted().and_then(|w| w.run) {
        return said(Why::NotKnown { word: word.to_string() });
    }
    if stopping::is_wanted(facts) {
        return said(Why::RingStopped);
    }
    let name = || member.name.clone();
    let about = draft.waits.iter().find(|w| w.object.as_ref() == Some(&member.subject()));
    match (about, facts.turn().filter(|t| t.member != member.name)) {
        (Some(wait), _) => (wait.reason, wait.message.to_string()),
        (None, _) if marks::of(member).is_some() || member.removal().is_some() => {
            said(Why::Replacing { member: name() })
        }
        (None, _) if member.is_banned() => said(Why::Banned { member: name() }),
        (None, _) if order::is_on_its_way(member) => said(Why::Leaving { member: name() }),
        (None, Some(turn)) => {
            said(Why::OtherTurn { member: turn.member.clone(), work: turn.step.into() })
        }
        (None, None) if member.recorded_host_id().is_none() => {
            said(Why::Joining { member: name() })
        }
        (None, None) => said(Why::Next),
    }
}
