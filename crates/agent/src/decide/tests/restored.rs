//! Members of a ring that begins with a backup: with which tokens they start, and to whom they
//! are open.

use super::super::seal::{Keys, Seal};
use super::super::testing::*;
use super::super::*;
use crate::render::{Door, Entry};
use crate::volume::Data;
use crate::volume::changes::Cause;
use crate::volume::ledger::{End, Membership};
use crate::volume::roles::Roles;
use crate::volume::tokens::{FirstTokens, TokensNote};
use palladion_agent_transfer::tokens::hash_of;
use palladion_api::member::{Guard, RestoredStart};

use DataBeforeStart::{Keep, MustBeEmpty, Retire, Wipe};

const SOURCE: &str = "5f3c2b1a-0000-4000-8000-000000000009";

fn tokens() -> Vec<String> {
    vec!["-5".into(), "7".into()]
}

fn a_note() -> TokensNote {
    let (source, tokens_hash) = (SOURCE.into(), hash_of(&tokens()));
    TokensNote { source, manifest_hash: "ab".into(), tokens: tokens(), tokens_hash }
}

/// A permit that names the tokens, on a volume where they are noted.
fn permitted(kind: PermitKind, data: DataBeforeStart) -> World {
    a_new_member().permit(kind, data).with(|w| {
        w.found.tokens = FirstTokens::Noted(Box::new(a_note()));
        let restore = RestoredStart { source: SOURCE.into(), tokens_hash: hash_of(&tokens()) };
        w.spec().start.as_mut().unwrap().restore = Some(restore);
    })
}

fn named(world: &mut World) -> &mut RestoredStart {
    world.spec().start.as_mut().unwrap().restore.as_mut().unwrap()
}

fn noted(world: &mut World) -> &mut TokensNote {
    match &mut world.found.tokens {
        FirstTokens::Noted(note) => note,
        other => panic!("{other:?}"),
    }
}

fn asks() -> Seal {
    Seal { guards: vec![Guard::Password], running: None, lacks: None }
}

/// A full member whose server was started closed.
fn a_closed_member() -> World {
    a_running_member().with(|w| (w.closed, w.found.note.closed) = (true, true))
}

#[test]
fn the_first_start_is_with_the_tokens_that_are_noted_and_closed() {
    let entry = Entry::Restore { tokens: tokens() };
    let first = permitted(PermitKind::Initialize, MustBeEmpty).start();
    assert_eq!((&first.identity.entry, first.identity.door), (&entry, Door::Closed));
    assert_eq!(first.identity.seeds, [ADDRESS.into()]);
    assert!(closed::noted_before(&first, false));
    let join = permitted(PermitKind::Restore, MustBeEmpty)
        .with(|w| w.spec().seeds = vec![ADDRESS.into(), SEED.into()])
        .start();
    assert_eq!((&join.identity.entry, join.identity.door), (&entry, Door::Closed));
    assert_eq!(join.identity.seeds, [SEED.into()], "never itself");
    let alone =
        permitted(PermitKind::Restore, MustBeEmpty).with(|w| w.spec().seeds = vec![ADDRESS.into()]);
    assert!(alone.settles(PermitState::Refused).contains("no seeds other than itself"));
}

#[test]
fn without_the_tokens_that_the_permit_names_nothing_starts() {
    type Change = fn(&mut World);
    let changes: [(Change, &str); 8] = [
        (|w| w.found.tokens = FirstTokens::None, "are not noted"),
        (|w| w.found.tokens = FirstTokens::Unreadable, "cannot be read"),
        (|w| noted(w).source = "h8".into(), "those of member h8"),
        (|w| named(w).tokens_hash = "cd".into(), "with hash cd"),
        // What was reported is not what is there.
        (|w| noted(w).tokens[0] = "-6".into(), "expected tokens with hash"),
        (|w| noted(w).tokens_hash = "cd".into(), "expected tokens with hash"),
        (|w| noted(w).tokens.clear(), "expected tokens with hash"),
        (
            |w| {
                noted(w).tokens.clear();
                noted(w).tokens_hash = hash_of(&[]);
                named(w).tokens_hash = hash_of(&[]);
            },
            "expected tokens with hash",
        ),
    ];
    for kind in [PermitKind::Initialize, PermitKind::Restore] {
        permitted(kind, MustBeEmpty).start();
        for (change, words) in changes {
            let why = permitted(kind, MustBeEmpty).with(change).settles(PermitState::Refused);
            assert!(why.contains(words), "{kind:?}: {why}");
        }
    }
    let nameless = permitted(PermitKind::Restore, MustBeEmpty)
        .with(|w| w.spec().start.as_mut().unwrap().restore = None);
    assert!(nameless.settles(PermitState::Refused).contains("must name whose tokens"));
    // Nor is it guessed for one that names none.
    let plain = permitted(PermitKind::Initialize, MustBeEmpty)
        .with(|w| w.spec().start.as_mut().unwrap().restore = None);
    assert_eq!(plain.start().identity.entry, Entry::Plain);
    for kind in [PermitKind::Join, PermitKind::Replace] {
        let why = permitted(kind, MustBeEmpty).settles(PermitState::Refused);
        assert!(why.contains("cannot name tokens"), "{why}");
    }
}

#[test]
fn a_restore_wants_an_empty_volume_or_wipes_what_a_failed_try_has_left() {
    let joining = || Membership::Joining { kind: PermitKind::Restore, nonce: "n0".into() };
    let left_overs = |data| {
        permitted(PermitKind::Restore, data).membership(joining()).data().with(|w| {
            w.found.note.closed = true;
        })
    };
    let again = left_overs(Wipe).start();
    assert!(matches!(again.cause, Cause::Permit { data: Wipe, .. }));
    assert_eq!(again.identity.entry, Entry::Restore { tokens: tokens() });
    for data in [MustBeEmpty, Keep, Retire] {
        left_overs(data).settles(PermitState::Refused);
    }
    permitted(PermitKind::Restore, MustBeEmpty).membership(joining()).start();
    for data in [MustBeEmpty, Wipe] {
        let lost = permitted(PermitKind::Restore, data).with(|w| {
            w.spec().volume_id = Some("v0".into());
            w.ledger().successor_of = Some("v0".into());
        });
        lost.settles(PermitState::Refused);
        let joined = permitted(PermitKind::Restore, data).membership(Membership::Joined);
        assert!(!matches!(joined.with(|w| w.found.data = Data::Absent).action(), Action::Start(_)));
    }
}

#[test]
fn a_ring_that_asks_for_passwords_is_sealed_first_and_then_closed() {
    let first = permitted(PermitKind::Initialize, MustBeEmpty).with(|w| w.seal = asks()).start();
    assert_eq!(first.identity.door, Door::Sealed);
    assert_eq!(first.identity.entry, Entry::Restore { tokens: tokens() });
    assert!(closed::noted_before(&first, false), "noted already");
    assert_eq!(seal::noted_before(&first, &[Guard::Password], Roles::NotNoted), Roles::Sealing);
    let again = |roles| {
        a_joined_member().with(|w| {
            w.seal = asks();
            (w.found.note.roles, w.found.note.closed) = (roles, true);
        })
    };
    assert_eq!(again(Roles::Sealing).start().identity.door, Door::Sealed);
    assert_eq!(again(Roles::Made).start().identity.door, Door::Closed);
    // The seal ends as ever.
    let made = a_running_member().with(|w| {
        w.seal = Seal { running: Some(Keys::Held), ..asks() };
        (w.found.note.roles, w.found.note.closed) = (Roles::Made, true);
        w.reading.as_mut().unwrap().native_transport = Some(false);
    });
    assert_eq!(made.action(), Action::Stop(StopWhy::SealEnds));
    let join = permitted(PermitKind::Restore, MustBeEmpty).with(|w| w.seal = asks()).start();
    assert_eq!(join.identity.door, Door::Closed);
    assert_eq!(
        seal::noted_before(&join, &[Guard::Password], Roles::NotNoted),
        Roles::Made,
        "the ring has its roles"
    );
}

#[test]
fn while_a_member_is_closed_every_start_is_also_one_by_itself() {
    let closed = a_joined_member().with(|w| w.found.note.closed = true);
    for source in [Source::Live, Source::Saved] {
        let start = closed.clone().with(|w| w.source = source).start();
        assert_eq!(start.cause, Cause::Autonomous);
        assert_eq!((start.identity.door, &start.identity.entry), (Door::Closed, &Entry::Plain));
        assert!(closed::noted_before(&start, true), "it stays");
    }
    // After a crash too.
    let died = closed.with(|w| {
        w.ledger().begin_start("t", "Autonomous", &[], Timestamp::UNIX_EPOCH);
        w.ledger().end_start(End::Died, Timestamp::UNIX_EPOCH, Some(1), None);
    });
    assert_eq!(died.start().identity.door, Door::Closed);
    assert_eq!(a_joined_member().start().identity.door, Door::Open);
}

#[test]
fn who_enters_a_ring_as_new_is_open_whatever_was_restored_on_its_volume() {
    let closed = |world: World| world.with(|w| w.found.note.closed = true);
    for kind in [PermitKind::Join, PermitKind::Replace, PermitKind::Initialize] {
        let start = closed(a_new_member().permit(kind, MustBeEmpty)).start();
        assert_eq!(start.identity.door, Door::Open, "{kind:?}");
        assert!(!closed::noted_before(&start, true), "{kind:?}");
    }
    // One that was in it already comes back as it was.
    let joining = Membership::Joining { kind: PermitKind::Restore, nonce: "n0".into() };
    let unnoticed = a_new_member().membership(joining).data().permit(PermitKind::Join, Keep);
    assert_eq!(closed(unnoticed).start().identity.door, Door::Closed);
}

#[test]
fn a_closed_server_is_a_full_member_that_is_not_ready() {
    let decision = a_closed_member().decide();
    assert_eq!(decision.action, Action::Nothing);
    assert_eq!((decision.state, decision.reason), (ServerState::Running, Reason::Restoring));
    let said = decision.message.unwrap().to_string();
    assert_eq!(said, "the server takes no clients until its ring is restored");
    let used = a_closed_member()
        .permit(PermitKind::Restore, MustBeEmpty)
        .with(|w| w.ledger().use_permit(&"n1".into()));
    used.settles(PermitState::Done);
    // What is wrong with it is said first.
    let down = a_closed_member().with(|w| {
        w.reading.as_mut().unwrap().native_transport = Some(false);
    });
    assert_eq!(down.decide().reason, Reason::Running);
}

#[test]
fn a_member_that_is_opened_is_started_again_once() {
    let opened = a_closed_member().with(|w| w.found.note.closed = false);
    assert_eq!(opened.action(), Action::Stop(StopWhy::Opens));
    let stopping = opened.clone().with(|w| w.stopping = Some(StopWhy::Opens)).decide();
    assert_eq!((stopping.action, stopping.state), (Action::Nothing, ServerState::Stopping));
    let joining = Membership::Joining { kind: PermitKind::Restore, nonce: "n1".into() };
    let early = opened.clone().membership(joining);
    assert_ne!(early.action(), Action::Stop(StopWhy::Opens), "its permit would have failed");
    assert_eq!(opened.with(|w| w.closed = false).action(), Action::Nothing);
    // A start that is stopped for it is no failure.
    assert_eq!(end_of(Some(StopWhy::Opens), Phase::Serving, Some(&())), End::Stopped);
}
