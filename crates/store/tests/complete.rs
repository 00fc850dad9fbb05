//! A store that fails in every way that stores do: a backup that is called complete
//! is there, byte for byte, however many requests have failed before.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

#[path = "support/faulty.rs"]
mod faulty;
#[path = "../../backup/tests/support/mod.rs"]
mod ring;
mod support;

use palladion_store::objects::Objects;
use palladion_store::settings::{Patience, Settings};
use support::s3::{S3, credentials, objects};

/// Seeds before a landing: half a second each on a busy machine.
const FEW: u64 = 40;
/// More than a thousand faults.
const MANY: u64 = 340;

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
    let at = |prefix: &str, settings: &Settings| {
        let address = objects(&format!("s3://bucket/{prefix}"));
        Objects::open(&address, settings, &credentials()).unwrap()
    };
    let patient = Settings { patience: Patience::default(), ..s3.settings() };
    let told = faulty::back_up_with_faults(
        seeds,
        &s3.faults,
        &|prefix| at(prefix, &s3.settings()),
        &|prefix| at(prefix, &patient),
    );
    println!("{told}");
}
