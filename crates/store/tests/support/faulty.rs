//! Backups into a store that fails in every way that stores do, and what must come of them.

use crate::ring::{Files, Sending, host, id, keys, repository};
use crate::support::fault::{Faults, KINDS};
use palladion_backup::Trouble;
use palladion_backup::catalog::Catalog;
use palladion_backup::hash::Hash;
use palladion_backup::store::Store;
use palladion_backup::store::memory::Seeded;
use palladion_backup::vault::{Sealing, Vault};
use palladion_backup::verify::{Depth, verify};
use palladion_store::objects::Objects;

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

/// Of each seed one backup, tried until it is complete, and then read byte for byte. The store
/// below a prefix, for whoever does not wait long, and for whoever does: a machine that is busy
/// must not look like a backup that is not there. What has happened.
pub fn back_up_with_faults(
    seeds: u64,
    faults: &Faults,
    open: &dyn Fn(&str) -> Objects,
    patient: &dyn Fn(&str) -> Objects,
) -> String {
    let (mut complete, mut failed) = (0, 0);
    for seed in 0..seeds {
        let sealing = if seed.is_multiple_of(2) { Sealing::Plain } else { Sealing::Sealed };
        let prefix = format!("ring-{seed}");
        for try_ in 0..TRIES {
            let number = seed * TRIES + try_;
            faults.seed(number, 10 + seed % 20);
            let ended = back_up(&open(&prefix), number, sealing);
            faults.seed(0, 0);
            let Ok(hash) = ended else {
                failed += 1;
                continue;
            };
            complete += 1;
            let (store, random) = (patient(&prefix), Seeded::new(7));
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
    let counts = faults.counts();
    let all: u64 = counts.values().sum();
    let told = format!("{all} faults, {complete} complete, {failed} tries failed: {counts:?}");
    assert!(all >= LEAST_FAULTS * seeds, "only {told}");
    assert_eq!(counts.len(), KINDS.len(), "every kind of fault has happened: {told}");
    assert!(complete > seeds / 2 && failed > seeds / 4, "{told}");
    told
}
