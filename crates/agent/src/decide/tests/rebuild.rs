//! Members of a datacenter that was added to a ring: closed until they are rebuilt.

use crate::decide::rebuild::{Next, Shut, closes, opens};
use crate::decide::testing::*;
use crate::decide::{Facts, Source};
use crate::render::Door;
use crate::volume::ledger::Membership;
use jiff::Timestamp;
use palladion_api::member::{Closing, Opening, RunState, ServerState};
use palladion_api::reasons::Reason;
use palladion_api::server_config::Opens;
use std::collections::BTreeMap;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn added(world: World) -> World {
    world.with(|w| w.opens = Some(Opens::WhenRebuilt))
}

fn door(world: World) -> Door {
    added(world).start().identity.door
}

#[test]
fn a_member_joins_without_a_native_transport_and_so_it_starts_each_time_until_it_is_open() {
    let join = |rebuilt: Option<BTreeMap<String, u32>>| {
        let world = a_new_member().permit(PermitKind::Join, DataBeforeStart::MustBeEmpty);
        world.with(|w| w.spec().start.as_mut().unwrap().rebuilt = rebuilt)
    };
    assert_eq!(door(join(None)), Door::AwaitsRebuild);
    assert_eq!(door(join(Some([("shop".into(), 2)].into()))), Door::Open, "its datacenter is open");
    assert_eq!(join(None).start().identity.door, Door::Open, "any other ring");
    assert_eq!(door(a_joined_member()), Door::AwaitsRebuild, "nothing is noted");
    let saved = a_joined_member().with(|w| w.source = Source::Saved);
    assert_eq!(door(saved), Door::AwaitsRebuild, "the API server is away");
    let rebuilt = |open| {
        a_joined_member().with(|w| {
            w.found.rebuilt.open = open;
            w.found.rebuilt.note("shop", 2);
        })
    };
    assert_eq!((door(rebuilt(false)), door(rebuilt(true))), (Door::AwaitsRebuild, Door::Open));
}

/// An operator of before, rolled back, renders a configuration that does not ask for it.
#[test]
fn a_member_that_was_closed_stays_closed_without_a_word_in_its_configuration() {
    let closed = || a_joined_member().with(|w| w.found.rebuilt.closed = true);
    assert_eq!(closed().start().identity.door, Door::AwaitsRebuild);
    let opened = closed().with(|w| w.found.rebuilt.opened());
    assert_eq!(opened.start().identity.door, Door::Open);
    assert_eq!(a_joined_member().start().identity.door, Door::Open, "any other ring");
    let new = a_new_member().permit(PermitKind::Join, DataBeforeStart::MustBeEmpty);
    let new = new.with(|w| w.found.rebuilt.closed = true);
    assert_eq!(new.start().identity.door, Door::Open, "of an earlier member");
}

/// What an earlier member had on this volume is not what the next one has.
#[test]
fn who_enters_as_new_has_what_its_permit_says() {
    for kind in [PermitKind::Join, PermitKind::Replace] {
        let world = a_new_member().permit(kind, DataBeforeStart::MustBeEmpty);
        let world = world.with(|w| w.found.rebuilt.open = true);
        assert_eq!(door(world), Door::AwaitsRebuild, "{kind:?}");
    }
}

fn waiting() -> World {
    added(a_running_member()).with(|w| {
        w.awaits_rebuild = true;
        w.reading.as_mut().unwrap().native_transport = Some(false);
    })
}

#[test]
fn it_is_a_full_member_that_says_why_nobody_is_served() {
    let decision = waiting().decide();
    assert_eq!((decision.state, decision.reason), (ServerState::Running, Reason::RebuildOwed));
    let opened = waiting().with(|w| w.found.rebuilt.open = true).decide();
    assert_eq!(opened.reason, Reason::Running);
}

#[test]
fn its_join_is_done_although_it_takes_no_clients() {
    let joined = |world: World| {
        world.with(|w| {
            w.spec().run = RunState::Running;
            let ledger = w.ledger();
            ledger.membership = Membership::Joined;
            ledger.use_permit(&"n1".into());
        })
    };
    joined(waiting()).settles(PermitState::Done);
    let plain = joined(waiting()).with(|w| w.awaits_rebuild = false);
    assert!(!matches!(plain.action(), crate::decide::Action::SettlePermit { .. }));
}

fn next(world: &World, lacks: Option<&[&String]>) -> Next {
    world.ask(|facts: &Facts<'_>| opens(facts, world.found.ledger.as_ref().unwrap(), lacks))
}

#[test]
fn it_is_opened_by_an_order_for_its_volume_and_only_where_it_lacks_nothing() {
    let ordered = |volume: &'static str| {
        waiting().with(|w| w.spec().opening = Some(Opening { volume_id: volume.into() }))
    };
    let shop = "shop".to_string();
    assert_eq!(next(&ordered(VOLUME), Some(&[])), Next::Note);
    assert_eq!(next(&ordered(VOLUME), Some(&[&shop])), Next::Nothing, "it is behind");
    assert_eq!(next(&ordered(VOLUME), None), Next::Nothing, "that is not known");
    assert_eq!(next(&ordered("another"), Some(&[])), Next::Nothing);
    assert_eq!(next(&waiting(), Some(&[])), Next::Nothing, "nobody has ordered it");
    let saved = ordered(VOLUME).with(|w| w.source = Source::Saved);
    assert_eq!(next(&saved, Some(&[])), Next::Nothing, "an order of earlier");
    let joining =
        ordered(VOLUME).with(|w| w.reading.as_mut().unwrap().mode = Some("JOINING".into()));
    assert_eq!(next(&joining, Some(&[])), Next::Nothing);
}

/// What is noted is carried out, whoever is away.
#[test]
fn what_is_noted_as_open_is_opened() {
    let noted = waiting().with(|w| {
        w.found.rebuilt.open = true;
        w.source = Source::Saved;
    });
    assert_eq!(next(&noted, None), Next::Call);
    let open = noted.with(|w| w.awaits_rebuild = false);
    assert_eq!(next(&open, None), Next::Nothing);
}

fn shut(world: &World) -> Shut {
    world.ask(|facts: &Facts<'_>| closes(facts, world.found.ledger.as_ref().unwrap()))
}

fn leaving(world: World, volume: &'static str) -> World {
    world.with(|w| {
        w.spec().closing = Some(Closing::of(volume.into()));
    })
}

/// The note comes before the call, and each start after it is closed.
#[test]
fn a_member_whose_datacenter_leaves_takes_no_clients_and_no_start_opens_it() {
    let ordered = leaving(a_running_member(), VOLUME);
    assert_eq!(shut(&ordered), Shut::Note);
    assert_eq!(shut(&a_running_member()), Shut::Nothing, "nobody has ordered it");
    assert_eq!(shut(&leaving(a_running_member(), "another")), Shut::Nothing);
    let noted =
        ordered.with(|w| w.found.rebuilt.shut(Some(&[("shop".to_string(), 2)].into()), NOW));
    assert_eq!(noted.found.rebuilt.copies(), [("shop".to_string(), 2)].into());
    assert_eq!(shut(&noted), Shut::Call);
    let saved = noted.with(|w| w.source = Source::Saved);
    assert_eq!(shut(&saved), Shut::Call, "what closes it needs no fresh word");
    let closed = saved.with(|w| {
        w.awaits_rebuild = true;
        w.reading.as_mut().unwrap().native_transport = Some(false);
    });
    assert_eq!(shut(&closed), Shut::Nothing);
    assert_eq!(closed.decide().reason, Reason::DatacenterLeaving);
    let again = a_joined_member().with(|w| w.found.rebuilt.shut(None, NOW));
    assert_eq!(again.start().identity.door, Door::AwaitsRebuild, "the next start");
}

fn port(world: World, is_up: Option<bool>, was_open: bool) -> World {
    world.with(|w| {
        w.was_open = was_open;
        w.reading.as_mut().unwrap().native_transport = is_up;
    })
}

/// A server opens its port some time after it is NORMAL, and a call before that does nothing. One
/// that somebody opens by hand is closed again.
#[test]
fn a_server_is_closed_when_its_port_is_and_not_when_it_was_called() {
    let noted = || leaving(a_running_member(), VOLUME).with(|w| w.found.rebuilt.shut(None, NOW));
    assert_eq!(shut(&port(noted(), Some(false), false)), Shut::Nothing, "it is yet to open");
    assert_eq!(shut(&port(noted(), Some(true), true)), Shut::Call);
    assert_eq!(shut(&port(noted(), Some(false), true)), Shut::Call, "it was called, or may be");
    assert_eq!(shut(&port(noted(), None, true)), Shut::Nothing, "nobody knows");
    let called = || noted().with(|w| w.awaits_rebuild = true);
    assert_eq!(shut(&port(called(), Some(false), true)), Shut::Nothing);
    assert_eq!(shut(&port(called(), Some(true), true)), Shut::Call, "opened by hand");
}

/// An order to close that nobody has noted yet closes each start, also of one that takes the place
/// of another, whose volume it does not name.
#[test]
fn no_start_is_open_while_an_order_to_close_stands() {
    assert_eq!(leaving(a_joined_member(), VOLUME).start().identity.door, Door::AwaitsRebuild);
    let saved = leaving(a_joined_member(), VOLUME).with(|w| w.source = Source::Saved);
    assert_eq!(saved.start().identity.door, Door::AwaitsRebuild, "the API server is away");
    let new = a_new_member().permit(PermitKind::Replace, DataBeforeStart::MustBeEmpty);
    assert_eq!(leaving(new, "another").start().identity.door, Door::AwaitsRebuild);
}

/// The order was taken back before the note, or between the note and the call.
#[test]
fn an_order_that_is_taken_back_leaves_nobody_closed() {
    let started = a_running_member().with(|w| w.awaits_rebuild = true);
    let started = port(started, Some(false), false);
    assert_eq!(next(&started, None), Next::Call, "nothing is noted");
    assert_eq!(next(&leaving(started, "another"), None), Next::Nothing);
    let noted = a_running_member().with(|w| {
        w.found.rebuilt.shut(None, NOW);
        w.spec().opening = Some(Opening { volume_id: VOLUME.into() });
    });
    assert_eq!(next(&noted, Some(&[])), Next::Note, "it takes clients, and its note says no");
}

/// An order to open it that stands there from before opens nobody.
#[test]
fn a_member_that_is_to_close_is_opened_by_no_order() {
    let both = waiting().with(|w| w.spec().opening = Some(Opening { volume_id: VOLUME.into() }));
    assert_eq!(next(&both, Some(&[])), Next::Note);
    assert_eq!(next(&leaving(both, VOLUME), Some(&[])), Next::Nothing);
}
