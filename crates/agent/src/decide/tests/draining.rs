//! A server that is drained and goes on running.

use super::super::testing::*;
use super::super::*;
use palladion_api::member::Drain;

const NONCE: &str = "d1";

/// The order for the server that runs.
fn ordered() -> World {
    a_running_member().with(|w| {
        let started_at = w.ledger().starts[0].record.started_at.clone();
        w.spec().drain = Some(Drain {
            nonce: NONCE.into(),
            host_id: HOST.into(),
            volume_id: VOLUME.into(),
            started_at,
        });
    })
}

fn asked(answer: Option<Result<(), String>>) -> Option<DrainCall> {
    Some(DrainCall { nonce: NONCE.into(), answer })
}

#[test]
fn a_server_is_asked_once_for_each_order() {
    assert_eq!(ordered().action(), Action::Drain { nonce: NONCE.into() });
    let under_way = ordered().with(|w| w.drain_call = asked(None));
    assert_eq!(under_way.action(), Action::Nothing);
    let another = ordered().with(|w| {
        w.drain_call = Some(DrainCall { nonce: "d0".into(), answer: Some(Ok(())) });
    });
    assert_eq!(another.action(), Action::Drain { nonce: NONCE.into() });
}

#[test]
fn what_the_server_answered_is_told() {
    let failed = ordered().with(|w| w.drain_call = asked(Some(Err("no space".into()))));
    let decision = failed.decide();
    assert_eq!(decision.action, Action::Nothing);
    let told = decision.message.map(|m| m.to_string()).unwrap_or_default();
    assert_eq!(told, "the server could not be drained: no space");
}

#[test]
fn a_drained_server_says_so_and_is_left_alone() {
    let drained = ordered().with(|w| w.reading.as_mut().unwrap().mode = Some("DRAINED".into()));
    let decision = drained.decide();
    assert_eq!((decision.action, decision.state), (Action::Nothing, ServerState::Running));
    let told = decision.message.map(|m| m.to_string()).unwrap_or_default();
    assert!(told.contains("until it is restarted"), "{told}");
}

#[test]
fn an_order_for_somebody_else_or_for_an_earlier_start_drains_nobody() {
    let orders: [fn(&mut Drain); 3] = [
        |order| order.host_id = "h0".into(),
        |order| order.volume_id = "v0".into(),
        |order| order.started_at = crate::volume::seconds(Timestamp::from_second(7).unwrap()),
    ];
    for change in orders {
        let world = ordered().with(|w| change(w.spec().drain.as_mut().unwrap()));
        assert_eq!(world.action(), Action::Nothing);
    }
    // What is beside the ledger may be an order that was taken back since.
    assert_eq!(ordered().with(|w| w.source = Source::Saved).action(), Action::Nothing);
}
