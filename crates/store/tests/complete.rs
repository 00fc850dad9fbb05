//! A store that fails in every way that stores do: a backup that is called complete
//! is there, byte for byte, however many requests have failed before.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

#[path = "../../backup/tests/support/mod.rs"]
mod ring;
mod support;

use palladion_backup::Trouble;
use palladion_backup::catalog::Catalog;
use palladion_backup::hash::Hash;
use palladion_backup::store::Store;
use palladion_backup::store::memory::Seeded;
use palladion_backup::vault::{Sealing, Vault};
use palladion_backup::verify::{Depth, verify};
use palladion_store::objects::Objects;
use palladion_store::settings::{Patience, Settings};
use ring::{Files, Sending, host, id, keys, repository};
use support::fault::KINDS;
use support::s3::{S3, credentials, objects};

/// Seeds before a landing: half a second each on a busy machine.
const FEW: u64 = 40;
/// More than a thousand faults.
const MANY: u64 = 340;
/// A backup that has not come to an end is tried again so often.
const TRIES: u64 = 12;
/// Faults of a seed, on average: fewer, and the layer of faults no longer works.
const LEAST_FAULTS: u64 = 2;

/// One try: what is sent has new names, as a child that was started again has.
fn back_up(store: &dyn Store, seed: u64, sealing: Sealing) -> Result<Hash, Trouble> {
    let random = Seeded::new(seed);
    let keys = (sealing == Sealing::Sealed).then(|| keys("ab"));
    let vault = Vault::create(store, keys, &random, repository(sealing))?;
    let mut sending = Sending::new(&vault, &format!("b{seed}"))?;
    for number in [1, 2] {
        let files = if seed % 64 == 7 { Files::of } else { Files::small };
        sending.send(&vault, number, &files(number, &[1, 2, 3]), None)?;
    }
    sending.finish(&vault)
}

#[test]
fn no_fault_of_a_store_makes_a_backup_complete_that_is_not() {
    back_up_with_faults(FEW);
}

#[test]
#[ignore = "minutes: more than a thousand faults"]
fn none_of_a_thousand_faults_does() {
    back_up_with_faults(MANY);
}

fn back_up_with_faults(seeds: u64) {
    let s3 = S3::new();
    let (mut complete, mut failed) = (0, 0);
    for seed in 0..seeds {
        let sealing = if seed.is_multiple_of(2) { Sealing::Plain } else { Sealing::Sealed };
        let address = format!("s3://bucket/ring-{seed}");
        for try_ in 0..TRIES {
            let number = seed * TRIES + try_;
            s3.faults.seed(number, 10 + seed % 20);
            let ended = back_up(&s3.open(&address), number, sealing);
            s3.faults.seed(0, 0);
            let Ok(hash) = ended else {
                failed += 1;
                continue;
            };
            complete += 1;
            // A machine that is busy must not look like a backup that is not there.
            let settings = Settings { patience: Patience::default(), ..s3.settings() };
            let store = Objects::open(&objects(&address), &settings, &credentials()).unwrap();
            let random = Seeded::new(7);
            let keys = (sealing == Sealing::Sealed).then(|| keys("ab"));
            let vault = Vault::open(&store, keys, &random).unwrap();
            let id = id(&format!("b{number}"));
            let catalog = Catalog::read(&vault).unwrap();
            let (manifest, found) = catalog.complete(&id).unwrap();
            assert_eq!((found, manifest.members.len()), (&hash, 2), "seed {seed}");
            assert!(manifest.members.iter().any(|member| member.host == host(2)));
            let report = verify(&vault, &id, Depth::Read).unwrap();
            assert_eq!(report.damaged, [], "seed {seed} has a false Complete");
            break;
        }
    }
    let counts = s3.faults.counts();
    let faults: u64 = counts.values().sum();
    println!("{faults} faults, {complete} complete, {failed} tries failed: {counts:?}");
    assert!(faults >= LEAST_FAULTS * seeds, "only {faults} faults: {counts:?}");
    assert_eq!(counts.len(), KINDS.len(), "every kind of fault has happened: {counts:?}");
    assert!(complete > seeds / 2 && failed > seeds / 4, "{complete} {failed}");
}
