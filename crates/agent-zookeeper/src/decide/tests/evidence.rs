//! Questions: each nonce once, by the volume that is asked.

use super::super::evidence::{Next, next};
use super::super::testing::*;
use super::super::*;
use palladion_agent_core::volume::seconds;
use palladion_api::member::EvidenceRequest;
use palladion_api::service_member::{MemberEvidence, ServerMode};

fn asked() -> World {
    a_member()
        .runs(ServerMode::Follower, config(7 << 32, &[1, 2, 3], &[]))
        .with(|w| w.spec().evidence = Some(EvidenceRequest { nonce: "q1".into() }))
}

fn answer(nonce: &'static str, volume: &'static str) -> MemberEvidence {
    MemberEvidence {
        nonce: nonce.into(),
        read_at: seconds(Timestamp::UNIX_EPOCH),
        volume_id: volume.into(),
        ensemble: None,
        broker: None,
        queues: None,
    }
}

#[test]
fn a_question_is_answered_once_by_each_volume() {
    let ask = Next::Ask { nonce: "q1".into(), volume_id: VOLUME.into() };
    let after =
        |answered: Option<MemberEvidence>| asked().asked(|facts| next(facts, answered.as_ref()));
    assert_eq!(after(None), ask);
    assert_eq!(after(Some(answer("q0", VOLUME))), ask);
    assert_eq!(after(Some(answer("q1", "v0"))), ask);
    assert_eq!(after(Some(answer("q1", VOLUME))), Next::Nothing);
}

#[test]
fn where_no_server_runs_there_is_nothing_to_see_and_where_nobody_knows_nothing_is_said() {
    let next_of = |world: World| world.asked(|facts| next(facts, None));
    let nothing = Next::AnswerNothing { nonce: "q1".into(), volume_id: VOLUME.into() };
    assert_eq!(next_of(asked().with(|w| w.process = Process::Absent)), nothing);
    let unknown = asked().with(|w| w.process = Process::Unknown("init is silent".into()));
    assert_eq!(next_of(unknown), Next::Nothing);
    assert_eq!(next_of(asked().with(|w| w.source = Source::Saved)), Next::Nothing);
    assert_eq!(next_of(asked().with(|w| w.found.marker = None)), Next::Nothing);
}
