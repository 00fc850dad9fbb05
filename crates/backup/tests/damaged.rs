//! What was found damaged once stays known: no later backup takes it over, and no backup that
//! names it takes the place of a whole one.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod support;

use palladion_backup::catalog::Catalog;
use palladion_backup::earlier::earlier;
use palladion_backup::manifest::ring::Window;
use palladion_backup::names::DAMAGED;
use palladion_backup::store::Store;
use palladion_backup::store::memory::{Memory, Seeded};
use palladion_backup::vault::Vault;
use palladion_backup::verify::{Depth, verify};
use palladion_backup::words::trouble::{Failed, Wrong};
use palladion_backup::{DAY, Trouble, finish, prepare, sweep};
use support::*;

const MANY: std::ops::Range<u32> = 1..200;

/// What both members have sent: what the last one has is taken over.
fn sent(vault: &Vault<'_>, catalog: &Catalog, text: &str) -> Result<Sending, Trouble> {
    let mut sending = Sending::new(vault, text)?;
    for number in [1, 2] {
        let before = earlier(vault, catalog, &host(number))?;
        let files = Files::small(number, &MANY.collect::<Vec<_>>());
        sending.send(vault, number, &files, before.first())?;
    }
    Ok(sending)
}

/// A backup as members take it, of which a sample is read.
fn next(vault: &Vault<'_>, text: &str, day: i64) -> Result<(), Trouble> {
    let mut sending = sent(vault, &prepare::prepare(vault)?, text)?;
    let from = START + day * DAY;
    sending.window = Window { from, to: from + 60 };
    let order = sending.order(&[1, 2], Depth::Sample { of: 100, first: 99 });
    finish::finish(vault, &order).map(drop)
}

fn is_whole(vault: &Vault<'_>, text: &str) -> bool {
    verify(vault, &id(text), Depth::Read).unwrap().damaged.is_empty()
}

/// An object of the first member that no sample of these tests reads.
fn rot(memory: &Memory) -> String {
    let name = memory.list(&host(1).files()).unwrap()[150].name.clone();
    memory.damage(&name, |bytes| bytes[0] ^= 1);
    name
}

#[test]
fn the_backup_after_a_damaged_one_sends_what_is_damaged_again() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    next(&vault, "a", 0).unwrap();
    memory.advance(DAY);
    let rotten = rot(&memory);
    assert_eq!(look_and_note(&vault, "a"), 1);
    let objects = memory.list(&host(1).files()).unwrap().len();
    next(&vault, "b", 1).unwrap();
    assert_eq!(memory.list(&host(1).files()).unwrap().len(), objects + 1, "it alone is sent again");
    assert!(is_whole(&vault, "b"), "b has taken over {rotten}");
    // And is not taken over from the one before, if that is the base again.
    next(&vault, "c", 1).unwrap();
    assert!(is_whole(&vault, "c"));
    assert!(!is_whole(&vault, "a"));
}

#[test]
fn what_was_found_damaged_is_noted_once_and_stays_so_also_if_it_reads_well_later() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    next(&vault, "a", 0).unwrap();
    let rotten = rot(&memory);
    assert_eq!((look_and_note(&vault, "a"), look_and_note(&vault, "a")), (1, 0));
    assert_eq!(memory.list(DAMAGED).unwrap().len(), 1);
    memory.damage(&rotten, |bytes| bytes[0] ^= 1);
    let report = verify(&vault, &id("a"), Depth::Sizes).unwrap();
    let [damage] = &report.damaged[..] else { panic!("{report:?}") };
    assert!(matches!(&damage.wrong, Wrong::Noted { note } if note.starts_with("damaged/a~")));
    let notices = Catalog::read(&vault).unwrap().notices();
    assert!(notices.iter().any(|notice| notice.to_string().contains(&rotten)), "{notices:?}");
}

#[test]
fn a_backup_that_finds_damage_when_it_ends_notes_it_for_the_next_one() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    next(&vault, "a", 0).unwrap();
    memory.advance(DAY);
    let sending = sent(&vault, &Catalog::read(&vault).unwrap(), "b").unwrap();
    let rotten = rot(&memory);
    let said = sending.finish(&vault);
    assert_eq!(said, Err(Trouble::Object { name: rotten, wrong: Wrong::Hash }));
    finish::fail(&vault, &id("b"), &Failed::Aborted).unwrap();
    next(&vault, "c", 1).unwrap();
    assert!(is_whole(&vault, "c"));
}

#[test]
fn damage_that_is_noted_while_a_backup_sends_keeps_it_from_being_complete() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    next(&vault, "a", 0).unwrap();
    memory.advance(DAY);
    let sending = sent(&vault, &Catalog::read(&vault).unwrap(), "b").unwrap();
    let rotten = rot(&memory);
    look_and_note(&vault, "a");
    let said = finish::finish(&vault, &sending.order(&[1, 2], Depth::Sizes));
    assert!(
        matches!(&said, Err(Trouble::Object { name, wrong: Wrong::Noted { .. } }) if *name == rotten),
        "{said:?}"
    );
}

#[test]
fn a_damaged_backup_takes_the_place_of_no_whole_one() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    back_up(&vault, "whole", &[500]);
    next(&vault, "damaged", 0).unwrap();
    memory.advance(3 * DAY);
    let object = &memory.list(&host(2).files()).unwrap()[3].name;
    memory.damage(object, |bytes| bytes[0] ^= 1);
    look_and_note(&vault, "damaged");
    let refused = expire(&vault, &["whole"], 1).map(drop).unwrap_err();
    assert!(matches!(&refused, Trouble::KeepsTooFewSound { left: 0, keep: 1, .. }), "{refused:?}");
    assert!(refused.to_string().contains("damaged cannot"), "{refused}");
    // Itself it may go, and after another one both may.
    next(&vault, "next", 3).unwrap();
    assert!(expire(&vault, &["whole", "damaged"], 1).is_ok());
}

#[test]
fn a_note_stays_as_long_as_a_backup_names_what_it_names() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    next(&vault, "a", 0).unwrap();
    next(&vault, "b", 0).unwrap();
    rot(&memory);
    look_and_note(&vault, "a");
    next(&vault, "c", 0).unwrap();
    let gone = |all: &[&str]| {
        memory.advance(3 * DAY);
        expire(&vault, all, 1).unwrap();
        memory.advance(2 * DAY);
        sweep::carry_out(&vault, &sweep::plan(&vault).unwrap()).unwrap();
        memory.list(DAMAGED).unwrap().len()
    };
    assert_eq!(gone(&["a"]), 1, "b names it");
    assert!(!is_whole(&vault, "b"));
    assert_eq!(gone(&["b"]), 0);
}

#[test]
fn a_note_that_cannot_be_read_is_taken_for_no_word_that_all_is_well() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    next(&vault, "a", 0).unwrap();
    next(&vault, "b", 0).unwrap();
    rot(&memory);
    look_and_note(&vault, "a");
    memory.advance(3 * DAY);
    let note = memory.list(DAMAGED).unwrap()[0].name.clone();
    memory.damage(&note, |bytes| bytes[40] ^= 1);
    let is_it = |said: &Result<(), Trouble>| matches!(said, Err(Trouble::DamageUnread { .. }));
    assert!(is_it(&next(&vault, "c", 3)));
    assert!(is_it(&expire(&vault, &["a"], 1).map(drop)));
    assert!(!Catalog::read(&vault).unwrap().notices().is_empty());
    // The way out that its message names.
    memory.delete(&note).unwrap();
    look_and_note(&vault, "a");
    next(&vault, "c", 3).unwrap();
    assert!(is_whole(&vault, "c"));
}
