//! What the stories on the testbed share: the runner that plays them, the
//! testbed itself, namespaces, rings and patience. The README says how a story
//! is declared and played.

mod access;
pub mod audits;
pub mod bed;
pub mod checked;
pub mod fields;
pub mod machines;
mod mend;
pub mod mistakes;
pub mod outside;
pub mod person;
pub mod rabbitmq;
pub mod ring;
pub mod s3;
pub mod service;
pub mod stack;
pub mod story;
pub mod tool;
pub mod wanted;
pub mod writing;
pub mod zoned;
pub mod zookeeper;

pub use bed::{Bed, bed, wait_for};
pub use checked::Writes;
pub use ring::Ring;
pub use wanted::{WantedRing, a_ring};
