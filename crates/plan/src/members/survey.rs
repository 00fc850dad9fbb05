//! The start of a new service: once, on one volume, and only if nothing that exists could
//! be an older one. What exists before is all empty, in doubt, or a start that was begun
//! and is not complete.

use super::objects::replicas;
use super::spec::ServiceSpec;
use super::{Draft, MemberFact, ServiceFacts};
use crate::draft::Flow;
use crate::plan::Step;
use crate::words::Several;
use crate::words::initialize::{Doing, Doubt, Problem, Waiting};
use crate::{hash, turn as lock};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::ids::{Nonce, Uid};
use palladion_api::labels;
use palladion_api::service::{AskKind, ServiceInitialization, ServiceTurn};
use palladion_api::service_member::{MemberVolume, MemberVolumeState};
use serde_json::{Value, json};

/// What is there.
enum Survey<'a> {
    /// Something has not answered yet.
    Waiting(Waiting, Option<&'a MemberFact>),
    /// Nobody will ever look at the claim of this member: it gets no pod.
    NeverAsked(&'a MemberFact),
    /// All have answered, and this may be an older service.
    Doubt(Vec<Found>),
    /// This member began to initialize the service, and has not completed it.
    Resume(&'a MemberFact),
    /// All is empty.
    Clear,
}

/// Something that may be an older service: what people are told, and what their
/// permission stands for.
struct Found {
    /// In words.
    doubt: Doubt,
    data: Value,
}

impl Found {
    fn volume(member: &MemberFact, volume: &MemberVolume) -> Self {
        let MemberVolume { volume_id, state, cluster, .. } = volume;
        Self {
            doubt: Doubt::Volume { member: member.name.clone(), found: (*state).into() },
            data: json!({ "volumeID": volume_id, "state": state, "cluster": cluster }),
        }
    }

    /// The volume that it is about.
    fn volume_id(&self) -> Option<String> {
        let id = self.data.get("volumeID").or(self.data.get("gone"));
        id.and_then(Value::as_str).map(str::to_string)
    }

    fn first_gone(begun: &ServiceInitialization) -> Self {
        let (member, volume) = (begun.member.clone(), begun.volume_id.clone());
        let data = json!({ "gone": volume });
        Self { doubt: Doubt::FirstVolumeGone { member, volume }, data }
    }
}

/// The nonce of a permission: it stands for all that was found, and fits nothing else.
fn nonce(cluster: &Uid, found: &[Found]) -> Nonce {
    let mut all: Vec<&Value> = found.iter().map(|f| &f.data).collect();
    all.sort_by_cached_key(|data| data.to_string());
    Nonce::new(hash::of(&json!([cluster, all])))
}

/// Look at every volume that exists. What was not looked at is waited for, whatever
/// else was found.
fn survey<'a>(facts: &'a ServiceFacts<'_>, spec: &ServiceSpec) -> Survey<'a> {
    let begun = facts.initialized();
    let mut found = Vec::new();
    for name in replicas::names(facts, spec) {
        if !facts.members.contains_key(&name) {
            return Survey::Waiting(Waiting::Created { member: name }, None);
        }
    }
    for member in facts.members.values() {
        let Some(volume) = member.volume() else {
            match unseen(facts, spec, member) {
                Some(unseen) => return unseen,
                None => continue,
            }
        };
        let is_begun = begun.is_some_and(|b| b.volume_id == volume.volume_id);
        match volume.state {
            MemberVolumeState::Empty => {}
            MemberVolumeState::Unknown => {
                let waiting = Waiting::NotKnown { member: member.name.clone() };
                return Survey::Waiting(waiting, Some(member));
            }
            MemberVolumeState::Incomplete if is_begun => {}
            MemberVolumeState::Incomplete
            | MemberVolumeState::Joined
            | MemberVolumeState::Left
            | MemberVolumeState::Lost
            | MemberVolumeState::NotMounted
            | MemberVolumeState::Foreign
            | MemberVolumeState::Unaccounted
            | MemberVolumeState::RolledBack => found.push(Found::volume(member, volume)),
        }
    }
    match begun {
        Some(begun) => resume(facts, begun, found),
        None if found.is_empty() => Survey::Clear,
        None => Survey::Doubt(found),
    }
}

/// The volume of a member whose agent has not reported, if there may be one.
fn unseen<'a>(
    facts: &ServiceFacts<'_>,
    spec: &ServiceSpec,
    member: &'a MemberFact,
) -> Option<Survey<'a>> {
    let gets_a_pod = replicas::names(facts, spec).any(|name| name == member.name);
    let is_asked = member.pod.is_some() || gets_a_pod;
    match &member.claim {
        Some(claim) if !claim.bound && !is_asked => None, // Nothing was ever mounted from it.
        Some(_) if !is_asked => Some(Survey::NeverAsked(member)),
        Some(_) => Some(report(member)),
        None => is_asked.then(|| report(member)),
    }
}

/// A start is on record. It goes on where it was begun, as long as that volume may
/// still hold it.
fn resume<'a>(
    facts: &'a ServiceFacts<'_>,
    begun: &ServiceInitialization,
    mut found: Vec<Found>,
) -> Survey<'a> {
    let Some(first) = facts.members.get(&begun.member) else {
        return Survey::Waiting(Waiting::Created { member: begun.member.clone() }, None);
    };
    let Some(volume) = first.volume() else {
        return report(first);
    };
    if volume.volume_id != begun.volume_id {
        found.push(Found::first_gone(begun));
    }
    match found.is_empty() {
        true => Survey::Resume(first),
        false => Survey::Doubt(found),
    }
}

fn report(member: &MemberFact) -> Survey<'_> {
    let (name, pod) = (member.name.clone(), member.pod_words());
    Survey::Waiting(Waiting::Report { member: name, pod }, Some(member))
}

/// Does a start that is on record go on with this member, by all that is found now?
pub fn goes_on_with(facts: &ServiceFacts<'_>, spec: &ServiceSpec, member: &MemberFact) -> bool {
    match survey(facts, spec) {
        Survey::Resume(first) => first.name == member.name,
        Survey::Doubt(found) => is_allowed(facts, &nonce(&spec.uid, &found)),
        Survey::Waiting(..) | Survey::NeverAsked(_) | Survey::Clear => false,
    }
}

/// The member that may initialize the service now. `None` where it must wait; then the
/// draft says for what, or what a user is asked.
pub fn first<'a>(
    facts: &'a ServiceFacts<'_>,
    spec: &ServiceSpec,
    draft: &mut Draft,
) -> Option<&'a MemberFact> {
    match survey(facts, spec) {
        Survey::Waiting(waiting, member) => {
            draft.wait_for(waiting).object = member.map(MemberFact::subject);
            None
        }
        Survey::NeverAsked(member) => {
            let claim = member.claim.as_ref().map(|c| c.object.meta.name.clone());
            draft.report(Problem::NeverAsked {
                claim: claim.unwrap_or_default(),
                member: member.name.clone(),
                namespace: spec.namespace.clone(),
            });
            None
        }
        Survey::Doubt(found) => {
            let nonce = nonce(&spec.uid, &found);
            if is_allowed(facts, &nonce) {
                return candidate(facts, spec);
            }
            ask(facts, found, nonce, draft);
            None
        }
        // Without it there is no permit, and the turn would be given back at once.
        Survey::Resume(first) if !has_address(first) => {
            let waiting = Waiting::Address { member: first.name.clone() };
            draft.wait_for(waiting).about(first.subject());
            None
        }
        Survey::Resume(first) => Some(first),
        Survey::Clear => candidate(facts, spec),
    }
}

fn ask(facts: &ServiceFacts<'_>, found: Vec<Found>, nonce: Nonce, draft: &mut Draft) {
    let owner = &facts.snapshot.owner.meta;
    let about: Vec<String> = found.iter().filter_map(Found::volume_id).collect();
    let problem = Problem::Doubtful {
        doubts: Several(found.into_iter().map(|f| f.doubt).collect()),
        namespace: owner.namespace.clone(),
        kind: facts.kind.owner.kind.to_lowercase(),
        cluster: owner.name.clone(),
        annotation: labels::ALLOW_INITIALIZATION,
        nonce: nonce.clone(),
    };
    let kind = AskKind::Initialize;
    draft.more.ask = Some(super::ask::of(kind, nonce, about, &problem.to_string()));
    draft.report(problem);
}

/// Has a person allowed a new service with the nonce that is shown?
fn is_allowed(facts: &ServiceFacts<'_>, nonce: &Nonce) -> bool {
    let given = facts.snapshot.owner.meta.annotations.get(labels::ALLOW_INITIALIZATION);
    given.is_some_and(|given| Nonce::new(given) == *nonce)
}

/// The first of those that are wanted, on an empty volume.
fn candidate<'a>(facts: &'a ServiceFacts<'_>, spec: &ServiceSpec) -> Option<&'a MemberFact> {
    let members = spec.wanted().filter_map(|name| facts.members.get(&name));
    let is_empty = |m: &&MemberFact| {
        m.volume().is_some_and(|v| v.state == MemberVolumeState::Empty)
            && m.object.is_some()
            && has_address(m)
    };
    let mut found = members.filter(is_empty);
    found.next()
}

fn has_address(member: &MemberFact) -> bool {
    member.service().is_some_and(|service| service.address.is_some())
}

/// What goes on record with the turn to initialize: from then on only this volume may.
pub fn record(turn: &ServiceTurn) -> Value {
    json!(ServiceInitialization {
        member: turn.member.clone(),
        volume_id: turn.volume_id.clone(),
        nonce: turn.nonce.clone(),
        served_at: None,
    })
}

/// The same once the first server has served.
pub fn served(facts: &ServiceFacts<'_>) -> Value {
    let seconds = jiff::Timestamp::from_second(facts.now().as_second()).unwrap_or(facts.now());
    let served = |record: &ServiceInitialization| ServiceInitialization {
        served_at: Some(Time(seconds)),
        ..record.clone()
    };
    json!(facts.initialized().map(served))
}

/// The first server serves and nobody has noted it: its turn ended before, with its pod.
pub fn complete(facts: &ServiceFacts<'_>, draft: &mut Draft) -> Flow {
    let record = facts.initialized().filter(|i| i.served_at.is_none());
    let member = record.and_then(|i| facts.members.get(&i.member).map(|m| (i, m)));
    let Some((_, member)) = member.filter(|(i, m)| {
        let volume = m.volume();
        volume.is_some_and(|v| v.volume_id == i.volume_id && v.state == MemberVolumeState::Joined)
    }) else {
        return Flow::Free;
    };
    let doing = Doing::Start { member: member.name.clone() };
    let more = [("initialized", served(facts))];
    let step: Step = lock::write(facts.snapshot, None, &more, doing);
    draft.steps.push(step);
    Flow::Busy
}
