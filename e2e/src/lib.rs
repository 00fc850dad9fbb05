//! What the tests on the testbed share: the testbed itself, namespaces, rings
//! and patience. The tests run one at a time against the testbed that
//! `PALLADION_TESTBED` names, on which `cargo xtask test` has installed
//! Palladion.

pub mod bed;
pub mod machines;
pub mod person;
pub mod ring;
pub mod zoned;

pub use bed::{Bed, wait_for};
pub use ring::Ring;
