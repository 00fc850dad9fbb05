//! What is so, what is being done, and what is waited for and since when:
//! observations only, no decision is taken from them.

mod contact;
mod departure;
mod health;
mod racks;
mod regions;
mod schemas;
mod service;
mod trouble;
mod unused;
pub mod views;

use crate::decide::archive::point_in_time;
use crate::decide::draft::{Draft, is_upkeep};
use crate::decide::restart::upgraded;
use crate::decide::turn::seeds;
use crate::decide::turn::stopping::{self, Standing};
use crate::decide::wanted::unmet;
use crate::facts::words::{pod_words, server_words};
use crate::facts::{Facts, JOB_NONCE, MemberFact};
use crate::resources as kinds;
use crate::validate::{self, Valid};
use crate::words::jobs::Waiting;
use crate::words::refusal::Refusal;
use crate::words::schedules::Held;
use crate::words::status::{Accepted, Available, Paused, Rest, Running, Starting, Unknown};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::cluster::{CassandraClusterSpec, DecidedWith, InternodeTlsMode};
use palladion_api::conditions::{ACCEPTED, AVAILABLE, PAUSED, PROGRESSING};
use palladion_plan::words::{Message, Names};
use palladion_plan::{Conditions, Reason, Step, Truth, wait};
use serde_json::{Value, json};

/// The setting that is the version of the operator.
pub const OPERATOR_VERSION: &str = "version";

/// Status of a cluster that was understood.
pub fn of(facts: &Facts<'_>, valid: &Valid, draft: &Draft) -> Value {
    let wanted: i32 = valid.racks.iter().map(|r| r.members).sum();
    let ready = facts.members.values().filter(|m| is_ready(m)).count();
    let unused = unused::claims(facts, valid);
    let mut writer = stored(facts);
    writer.set_true(ACCEPTED, Accepted::Valid);
    available(&mut writer, facts, wanted);
    if !is_at_rest(facts, draft, ready, wanted) {
        progressing(&mut writer, facts, draft);
    } else {
        writer.set_false(PROGRESSING, unused::rest(facts, &unused));
    }
    trouble::degraded(&mut writer, facts, draft);
    let mut status = of_any(facts, Some(valid), writer);
    let more = json!({
        "waits": wait::in_status(&facts.status.waits, &draft.waits, facts.now()),
        "unmet": unmet::of(facts, valid, draft, pause(facts).as_ref()),
        "members": format!("{ready}/{wanted}"),
        "racks": racks::of(facts, valid),
        "unusedClaims": Some(unused).filter(|claims| !claims.is_empty()),
        "seeds": seeds::of(facts, valid),
        "internodeTls": internode_tls(facts, valid),
        "pointInTime": point_in_time(facts, valid),
        "highestReleaseLine": upgraded::line_on_record(facts),
        "newestLine": Value::Null,
        "createdAt": created_at(facts, wanted),
    });
    if let (Value::Object(status), Value::Object(more)) = (&mut status, more) {
        status.extend(more);
    }
    status
}

/// How members speak to each other, where that was ever said.
fn internode_tls(facts: &Facts<'_>, valid: &Valid) -> Option<InternodeTlsMode> {
    let is_off = || validate::internode(&facts.spec).map(|_| InternodeTlsMode::Off);
    valid.internode_tls.or_else(is_off)
}

/// What is said of a cluster whether its spec is valid or not.
fn of_any(facts: &Facts<'_>, valid: Option<&Valid>, mut writer: Conditions) -> Value {
    let health = health::of(facts, valid, &mut writer);
    regions::condition(&mut writer, facts);
    departure::condition(&mut writer, facts);
    paused(&mut writer, facts);
    json!({
        "observedGeneration": facts.snapshot.owner.meta.generation,
        "conditions": writer.all(),
        "health": health,
        "contactPoints": contact::points(facts),
        "service": service::of(facts, valid),
        "waits": Value::Null,
        "decidedWith": decided_with(facts),
    })
}

/// Status of a cluster that was refused: what runs goes on running, and what becomes of
/// it is told.
pub fn refused(facts: &Facts<'_>, refusal: &Refusal, draft: &Draft) -> Value {
    let mut writer = stored(facts);
    writer.set_false(ACCEPTED, refusal.clone());
    writer.set_false(PROGRESSING, refusal.clone());
    available(&mut writer, facts, wanted_by(&facts.spec));
    trouble::degraded(&mut writer, facts, draft);
    of_any(facts, None, writer)
}

/// How many members a spec asks for that may be any.
fn wanted_by(spec: &CassandraClusterSpec) -> i32 {
    let of_racks = spec.datacenter.racks.iter().map(|rack| rack.members);
    of_racks.fold(0, i32::saturating_add)
}

/// Status of a cluster that is being deleted: what its end waits for, or what
/// stands in its way. Nothing is written of one that goes at once.
pub fn deleting(facts: &Facts<'_>, draft: &Draft) -> Value {
    let wait = draft.waits.first();
    if wait.is_none() && facts.snapshot.failure.is_none() {
        return Value::Null;
    }
    let mut writer = stored(facts);
    available(&mut writer, facts, wanted_by(&facts.spec));
    if let Some(wait) = wait {
        writer.set(PROGRESSING, Truth::True, wait.reason, &wait.message);
    }
    trouble::degraded(&mut writer, facts, draft);
    json!({
        "observedGeneration": facts.snapshot.owner.meta.generation,
        "conditions": writer.all(),
        "waits": wait::in_status(&facts.status.waits, &draft.waits, facts.now()),
    })
}

/// So that whoever asks what the operator would do asks with the same settings.
/// It changes with the operator alone, so it costs no write at rest.
fn decided_with(facts: &Facts<'_>) -> DecidedWith {
    let mut settings = (*facts.snapshot.settings).clone();
    let version = settings.remove(OPERATOR_VERSION);
    DecidedWith { version, settings }
}

/// Is everything for this cluster, or the cluster, paused? Says where.
pub fn pause(facts: &Facts<'_>) -> Option<Paused> {
    if facts.operator_config.as_ref().is_some_and(|c| c.paused) {
        return Some(Paused::Everywhere);
    }
    facts.spec.paused.then_some(Paused::Here)
}

/// Why schedules create no tasks while nothing is decided for the ring.
pub fn holding(facts: &Facts<'_>) -> Held {
    let cluster = || facts.snapshot.owner.meta.name.clone();
    match pause(facts) {
        Some(Paused::Everywhere) => Held::Everywhere,
        Some(Paused::Here) => Held::Cluster { cluster: cluster() },
        None => Held::NotAccepted { cluster: cluster() },
    }
}

/// What tasks wait for while nothing is decided for the ring.
pub fn holding_tasks(facts: &Facts<'_>) -> Waiting {
    let cluster = || facts.snapshot.owner.meta.name.clone();
    match pause(facts) {
        Some(Paused::Everywhere) => Waiting::PausedEverywhere,
        Some(Paused::Here) => Waiting::Paused { cluster: cluster() },
        None => Waiting::NotAccepted { cluster: cluster() },
    }
}

fn stored(facts: &Facts<'_>) -> Conditions {
    let generation = facts.snapshot.owner.meta.generation;
    Conditions::new(&facts.status.conditions, generation, facts.now())
}

fn is_ready(member: &MemberFact) -> bool {
    member.pod.as_ref().is_some_and(|p| p.is_ready())
}

/// Whether the ring serves, as it is now: not as it is wanted.
fn available(writer: &mut Conditions, facts: &Facts<'_>, wanted: i32) {
    if is_stopped(facts) {
        return writer.set_false(AVAILABLE, Rest::Stopped);
    }
    let size = size(facts, wanted);
    let quorum = size / 2 + 1;
    let those_ready: Vec<&MemberFact> = facts.joined().filter(|m| is_ready(m)).collect();
    // Members that see each other down answer no QUORUM together.
    let (together, ready) = (views::together(facts, &those_ready), those_ready.len());
    match together >= quorum {
        true if together == ready => writer.set_true(AVAILABLE, Available::Quorum { ready, size }),
        true => writer.set_true(AVAILABLE, Available::QuorumTogether { ready, size, together }),
        false if together == ready => {
            writer.set_false(AVAILABLE, Available::NoQuorum { ready, size })
        }
        false => writer.set_false(AVAILABLE, Available::NoQuorumTogether { ready, size, together }),
    }
}

/// How many members the ring has. One that is still being created is to have
/// as many as are wanted.
fn size(facts: &Facts<'_>, wanted: i32) -> usize {
    let joined = facts.joined().count();
    match facts.is_created() && joined > 0 {
        true => joined,
        false => joined.max(usize::try_from(wanted).unwrap_or_default()),
    }
}

/// When the ring had all its members for the first time: on record, or now.
fn created_at(facts: &Facts<'_>, wanted: i32) -> Option<Time> {
    // The last join is a part of the creation until its turn has ended.
    let is_complete = facts.turn().is_none()
        && usize::try_from(wanted).is_ok_and(|wanted| facts.joined().count() >= wanted);
    let now = || (facts.ring_exists() && is_complete).then(|| Time(facts.now()));
    facts.status.created_at.clone().or_else(now)
}

/// Is nothing to be done, and is everybody there?
fn is_at_rest(facts: &Facts<'_>, draft: &Draft, ready: usize, wanted: i32) -> bool {
    let works = !draft.waits.is_empty() || draft.steps.iter().any(is_progress);
    let all_ready = usize::try_from(wanted) == Ok(ready);
    all_ready && !works && pause(facts).is_none() && !is_stopped(facts)
}

/// What is being done, or why nothing is.
fn progressing(writer: &mut Conditions, facts: &Facts<'_>, draft: &Draft) {
    if let Some(paused) = pause(facts) {
        return writer.set_false(PROGRESSING, paused);
    }
    if let Some(wait) = draft.waits.first() {
        return writer.set(PROGRESSING, Truth::True, wait.reason, &wait.message);
    }
    if is_stopped(facts) {
        return writer.set_false(PROGRESSING, Rest::Stopped);
    }
    if let Some(step) = draft.steps.iter().find(|s| is_progress(s)) {
        return writer.set(
            PROGRESSING,
            Truth::True,
            Reason::CreatingObjects,
            Message::quoted(step.doing()),
        );
    }
    // A Service or a claim that is kept after its member is nobody who starts.
    let exist = |m: &&MemberFact| !m.is_gone() && (m.object.is_some() || m.pod.is_some());
    let away = facts.members.values().filter(exist).filter(|m| !is_ready(m));
    let (stopped, starting): (Vec<_>, Vec<_>) = away.partition(|m| m.is_stopped());
    if starting.is_empty() && !stopped.is_empty() {
        let members = Names::of(stopped.iter().map(|m| &m.name));
        return writer.set_false(PROGRESSING, Rest::MembersStopped { members });
    }
    let starting = starting.first().map(|m| {
        let (member, pod) = (m.name.clone(), pod_words(m));
        match m.reported_server() {
            None => Starting::Unreported { member, pod },
            Some(_) => Starting::Member { member, pod, server: server_words(m) },
        }
    });
    writer.set_true(PROGRESSING, starting.unwrap_or(Starting::NoMember));
}

/// Does a step bring the ring nearer to what is asked for? A task reports by conditions of
/// its own, and each of its steps would be two writes of the ring's.
fn is_progress(step: &Step) -> bool {
    let is_of_tasks = match step {
        Step::Patch { key, fences, .. } => {
            let is_fenced = fences.iter().any(|fence| fence.pointer == JOB_NONCE);
            key.resource == kinds::TASK || is_fenced
        }
        Step::CompareAndSet { status, .. } => {
            // A new leader renews the nonce of a job beside all else.
            let job = status.get("job").filter(|job| job.is_null() || job.get("task").is_some());
            job.is_some() && status.get("turn").is_none()
        }
        // Certificates are signed while all else goes on.
        Step::Issue { .. } => true,
        // Tasks are created and deleted after the status is stated.
        Step::Apply { .. } | Step::Create { .. } | Step::Delete { .. } => false,
    };
    !is_upkeep(step) && !is_of_tasks
}

fn is_stopped(facts: &Facts<'_>) -> bool {
    stopping::standing(facts) == Standing::Stops && facts.members.values().all(|m| m.pod.is_none())
}

fn paused(writer: &mut Conditions, facts: &Facts<'_>) {
    match pause(facts) {
        Some(paused) => writer.set_true(PAUSED, paused),
        None => writer.set_false(PAUSED, Running::NotPaused),
    }
}

/// Does a kind that must be known for any decision stand in the snapshot?
pub fn unknown(facts: &palladion_plan::Snapshot) -> Option<Unknown> {
    kinds::watches().iter().find_map(|w| {
        let why = facts.all(w.resource).err()?.to_string();
        Some(Unknown::Kind { kind: w.resource.plural, why })
    })
}
