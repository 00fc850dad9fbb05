//! Checks of members one by one: those in the ring, by what their own agents say.

use super::checks::Outcome;
use crate::decide::turn::seeds;
use crate::facts::words::server_words;
use crate::facts::{Facts, MemberFact, PodFact, Watched};
use crate::validate::Valid;
use crate::words::health::{Failing, Given, Unclear};
use palladion_api::ids::MemberName;
use palladion_api::member::{HealthResult, ServerState};
use palladion_api::names;
use palladion_api::reasons::Reason;
use palladion_plan::words::Names;
use std::collections::BTreeSet;

/// Are those in the ring that the spec asks for, and no others?
pub fn exist(facts: &Facts<'_>, valid: Option<&Valid>) -> Outcome {
    let Some(valid) = valid else { return Outcome::unclear(Unclear::SpecRefused) };
    let wanted = valid.racks.iter().flat_map(|rack| {
        (0..rack.members).map(|ordinal| names::member(&rack.set, ordinal)).collect::<Vec<_>>()
    });
    let wanted: BTreeSet<MemberName> = wanted.collect();
    let joined: BTreeSet<&MemberName> = facts.joined().map(|m| &m.name).collect();
    let missing: Vec<&MemberName> = wanted.iter().filter(|name| !joined.contains(name)).collect();
    if !missing.is_empty() {
        return Outcome::fail(Failing::Missing { members: Names::of(missing) });
    }
    let surplus: Vec<&MemberName> =
        joined.into_iter().filter(|name| !wanted.contains(name)).collect();
    match surplus.is_empty() {
        true => Outcome::pass(Reason::MembersExist),
        false => Outcome::fail(Failing::Surplus { members: Names::of(surplus) }),
    }
}

/// Is any seed live?
pub fn seeds_live(facts: &Facts<'_>, valid: Option<&Valid>) -> Outcome {
    let addresses = match valid {
        Some(valid) => seeds::of(facts, valid),
        None => facts.status.seeds.clone(),
    };
    let is_seed = |m: &&MemberFact| m.recorded_address().is_some_and(|a| addresses.contains(a));
    let seeds: Vec<&MemberFact> = facts.joined().filter(is_seed).collect();
    if seeds.is_empty() {
        return Outcome::unclear(Unclear::NoMember);
    }
    // One whose agent has just come up is not said to be dead.
    let is_live = |m: &&MemberFact| {
        let is_new = m.watched() == Watched::NotYet && m.lives_by_its_own_word(&facts.nodes);
        is_new || m.is_live(&facts.nodes)
    };
    match seeds.iter().any(is_live) {
        true => Outcome::pass(Reason::SeedsLive),
        false => Outcome::fail(Failing::NoSeed { seeds: named(&seeds) }),
    }
}

/// How one member is, for the check of health.
enum Found {
    Healthy,
    HealthyByMode,
    Unhealthy(String),
    NotYet,
    NotReady,
    Silent,
}

/// Does the newest result of every member say that it is healthy?
pub fn are_healthy(facts: &Facts<'_>) -> Outcome {
    let all: Vec<(&MemberFact, Found)> = facts.joined().map(|m| (m, found(facts, m))).collect();
    let those = |is: fn(&Found) -> bool| -> Vec<&MemberFact> {
        all.iter().filter(|(_, found)| is(found)).map(|(member, _)| *member).collect()
    };
    let ill = all.iter().find_map(|(member, found)| match found {
        Found::Unhealthy(why) => Some((member.name.clone(), why.clone())),
        Found::Healthy | Found::HealthyByMode | Found::NotYet | Found::NotReady | Found::Silent => {
            None
        }
    });
    if let Some((member, why)) = ill {
        let unhealthy = those(|found| matches!(found, Found::Unhealthy(_)));
        return Outcome::fail(match unhealthy.len() {
            0 | 1 => Failing::Unhealthy { member, why },
            _ => Failing::Several { members: named(&unhealthy), member, why },
        });
    }
    let silent = those(|found| matches!(found, Found::Silent));
    if !silent.is_empty() {
        return Outcome::unclear(Unclear::HealthSilent { members: named(&silent) });
    }
    let not_ready = those(|found| matches!(found, Found::NotReady));
    if !not_ready.is_empty() {
        return Outcome::unclear(Unclear::NotReady { members: named(&not_ready) });
    }
    let new = those(|found| matches!(found, Found::NotYet));
    if !new.is_empty() {
        return Outcome::unclear(Unclear::NotWatched { members: named(&new) });
    }
    let by_mode = those(|found| matches!(found, Found::HealthyByMode));
    match by_mode.is_empty() {
        true => Outcome::pass(Reason::MembersHealthy),
        false => Outcome::given(Given::ByMode { members: named(&by_mode) }),
    }
}

fn found(facts: &Facts<'_>, member: &MemberFact) -> Found {
    // What a dead machine said last is no answer.
    if !member.agent_answers(&facts.nodes) {
        return Found::Silent;
    }
    let server = || server_words(member).to_string();
    match member.watched() {
        Watched::Silent => Found::Silent,
        Watched::Found(record) => match record.result {
            // The kubelet asks the same agent. Where it hears something else, what
            // stands in the status is old: the agent does not reach the API server.
            HealthResult::Healthy if !is_ready(member) => Found::NotReady,
            HealthResult::Healthy => Found::Healthy,
            HealthResult::Unhealthy => {
                Found::Unhealthy(record.message.clone().unwrap_or_else(server))
            }
            // What stopped or failed says more of itself.
            HealthResult::NoAnswer | HealthResult::Unknown => Found::Unhealthy(server()),
        },
        Watched::NotReported if member.is_normal() && member.takes_clients() => {
            if is_ready(member) { Found::HealthyByMode } else { Found::NotReady }
        }
        Watched::NotYet if runs(member) => Found::NotYet,
        Watched::NotReported | Watched::NotYet => Found::Unhealthy(server()),
    }
}

fn is_ready(member: &MemberFact) -> bool {
    member.pod.as_ref().is_some_and(PodFact::is_ready)
}

/// Does every member report that it is a full one?
pub fn are_normal(facts: &Facts<'_>) -> Outcome {
    let (speaking, silent) = split(facts);
    let others: Vec<&MemberFact> = speaking.into_iter().filter(|m| !m.is_normal()).collect();
    if !others.is_empty() {
        return Outcome::fail(Failing::NotNormal { members: named(&others) });
    }
    match silent.is_empty() {
        true => Outcome::pass(Reason::MembersNormal),
        false => Outcome::unclear(Unclear::ModeSilent { members: named(&silent) }),
    }
}

/// Does every agent report, from a machine that answers?
pub fn agents_speak(facts: &Facts<'_>) -> Outcome {
    let silent: Vec<&MemberFact> = facts.joined().filter(|m| is_silent(facts, m)).collect();
    match silent.is_empty() {
        true => Outcome::pass(Reason::AgentsSpeak),
        false => Outcome::fail(Failing::AgentsSilent { members: named(&silent) }),
    }
}

/// What a dead machine said last is no answer, nor is what an agent said before it was
/// asked in vain.
fn is_silent(facts: &Facts<'_>, member: &MemberFact) -> bool {
    !member.agent_answers(&facts.nodes) || facts.silence(member).is_some()
}

/// Is the server of every member up?
pub fn servers_run(facts: &Facts<'_>) -> Outcome {
    let (speaking, silent) = split(facts);
    let down: Vec<&MemberFact> = speaking.into_iter().filter(|m| !runs(m)).collect();
    if !down.is_empty() {
        return Outcome::fail(Failing::NotRunning { members: named(&down) });
    }
    match silent.is_empty() {
        true => Outcome::pass(Reason::ServersRun),
        false => Outcome::unclear(Unclear::StateSilent { members: named(&silent) }),
    }
}

fn runs(member: &MemberFact) -> bool {
    member.reported_server().is_some_and(|s| s.state == ServerState::Running)
}

/// Members whose agents report, and those of which they do not.
fn split<'a>(facts: &'a Facts<'_>) -> (Vec<&'a MemberFact>, Vec<&'a MemberFact>) {
    facts.joined().partition(|m| m.agent_answers(&facts.nodes))
}

fn named(members: &[&MemberFact]) -> Names {
    Names::of(members.iter().map(|m| &m.name))
}
