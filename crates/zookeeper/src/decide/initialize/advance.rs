//! The turn to initialize: from the permit to the first server that serves.

use crate::decide::draft::Draft;
use crate::decide::evidence;
use crate::decide::turn::lock;
use crate::decide::turn::permit::{self, Course, Permit, TRIES};
use crate::facts::words::{pod_words, server_words};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::initialize::{Doing, Happened, Problem, Waiting};
use crate::words::turn::Ended;
use jiff::SignedDuration;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::service::{ServiceInitialization, ServiceTurn};
use palladion_api::service_member::{DataBeforeServiceStart, MemberVolumeState};
use palladion_plan::{Event, Flow, turn};
use serde_json::{Value, json};

/// Before there is an ensemble, nobody remembers a failed start.
const RETRY: SignedDuration = SignedDuration::from_secs(10);

/// Go on with the turn.
pub fn advance(facts: &Facts<'_>, _valid: &Valid, turn: &ServiceTurn, draft: &mut Draft) {
    let Some(member) = facts.members.get(&turn.member) else {
        return lock::release(facts, turn, Ended::MemberGone, draft);
    };
    match permit::course(turn, member) {
        Course::NotGiven => before_permit(facts, turn, member, draft),
        Course::PodEnded => lock::release(facts, turn, Ended::PodGone, draft),
        Course::Open => {
            let waiting =
                Waiting::Serving { member: member.name.clone(), server: server_words(member) };
            draft.wait_for(waiting).about(member.subject());
        }
        Course::Done => finish(facts, turn, member, draft),
        Course::Failed if turn.attempt < TRIES => retry(facts, turn, member, draft),
        // Its pod must change before it is tried again.
        Course::Failed | Course::Refused(_) => {
            let (name, server) = (member.name.clone(), server_words(member));
            draft.report(Problem::Failed { member: name, server });
        }
    }
}

fn before_permit(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    match permit::keeps_volume(turn, member) {
        None => {
            let waiting = Waiting::Report { member: member.name.clone(), pod: pod_words(member) };
            draft.wait_for(waiting).about(member.subject());
            return;
        }
        Some(false) => return lock::release(facts, turn, Ended::OtherVolume, draft),
        Some(true) => {}
    }
    let address = member.service().and_then(|s| s.address.as_ref());
    let (Some(proof), Some(address)) = (evidence::is_first(facts, turn, member), address) else {
        return lock::release(facts, turn, Ended::NotWanted, draft);
    };
    let data = data(member);
    let permit = Permit { turn, member, address, peers: Vec::new(), data, proof: &proof };
    permit::give(facts, &permit, draft);
}

/// What has led may have acknowledged: it is never begun anew. Its agent says so by another
/// state than `Incomplete`, starts it by itself, and refuses to remove anything.
fn data(member: &MemberFact) -> DataBeforeServiceStart {
    let Some(volume) = member.volume() else {
        return DataBeforeServiceStart::MustBeEmpty;
    };
    match volume.state {
        MemberVolumeState::Incomplete => DataBeforeServiceStart::Wipe,
        MemberVolumeState::Empty
        | MemberVolumeState::Joined
        | MemberVolumeState::Left
        | MemberVolumeState::Lost
        | MemberVolumeState::NotMounted
        | MemberVolumeState::Foreign
        | MemberVolumeState::Unaccounted
        | MemberVolumeState::RolledBack
        | MemberVolumeState::Unknown => DataBeforeServiceStart::MustBeEmpty,
    }
}

fn retry(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    let again = turn.since.0 + RETRY;
    if facts.now() < again {
        let waiting =
            Waiting::Serving { member: member.name.clone(), server: server_words(member) };
        draft.wait_for(waiting).about(member.subject()).until(again);
        return;
    }
    let mut next = turn::again(facts.snapshot, turn);
    next.question = None;
    draft.steps.push(lock::write(facts, &next, Doing::Again { member: member.name.clone() }));
}

fn finish(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    draft.steps.extend(permit::withdraw(facts, member));
    let record = served(facts);
    let event = Event::normal(Happened::Initialized { member: member.name.clone() });
    draft.steps.push(lock::finish_with(facts, turn, &[("initialized", record)], Some(event)));
}

fn served(facts: &Facts<'_>) -> Value {
    let seconds = jiff::Timestamp::from_second(facts.now().as_second()).unwrap_or(facts.now());
    let served = |record: &ServiceInitialization| ServiceInitialization {
        served_at: Some(Time(seconds)),
        ..record.clone()
    };
    json!(facts.status.initialized.as_ref().map(served))
}

/// The first server serves and nobody has noted it: its turn ended before, with its pod.
pub fn complete(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    let record = facts.status.initialized.as_ref().filter(|i| i.served_at.is_none());
    let member = record.and_then(|i| facts.members.get(&i.member).map(|m| (i, m)));
    let Some((_, member)) = member.filter(|(i, m)| {
        let volume = m.volume();
        volume.is_some_and(|v| v.volume_id == i.volume_id && v.state == MemberVolumeState::Joined)
    }) else {
        return Flow::Free;
    };
    let doing = Doing::Start { member: member.name.clone() };
    let more = [("initialized", served(facts))];
    draft.steps.push(turn::write(facts.snapshot, None, &more, doing));
    Flow::Busy
}
