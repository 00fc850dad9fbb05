//! Questions: each once, for our volume, and never denied on a guess.

use super::super::evidence::{Next, next};
use super::super::testing::*;
use super::super::*;
use palladion_agent_core::volume::seconds;
use palladion_api::member::EvidenceRequest;
use palladion_api::service_member::MemberEvidence;

fn asked() -> World {
    a_member().runs(&["a"], &["a"]).with(|w| {
        w.spec().evidence = Some(EvidenceRequest { nonce: "q1".into() });
    })
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
fn a_nonce_is_answered_once_for_each_volume() {
    let of = |answered: Option<&MemberEvidence>| asked().asked(|facts| next(facts, answered));
    let ask = Next::Ask { nonce: "q1".into(), volume_id: VOLUME.into() };
    assert_eq!(of(None), ask);
    assert_eq!(of(Some(&answer("q0", VOLUME))), ask);
    assert_eq!(of(Some(&answer("q1", "v0"))), ask);
    assert_eq!(of(Some(&answer("q1", VOLUME))), Next::Nothing);
}

#[test]
fn without_a_node_there_is_nothing_to_see_and_without_init_nothing_is_said() {
    let of = |world: World| world.asked(|facts| next(facts, None));
    let nothing = Next::AnswerNothing { nonce: "q1".into(), volume_id: VOLUME.into() };
    assert_eq!(of(asked().with(|w| w.process = Process::Absent)), nothing);
    assert_eq!(of(asked().with(|w| w.process = Process::Unknown("x".into()))), Next::Nothing);
    assert_eq!(of(asked().with(|w| w.source = Source::Saved)), Next::Nothing);
    assert_eq!(of(asked().with(|w| w.found.marker = None)), Next::Nothing);
}
