//! What the tests of stores of objects have in common.

pub mod conformance;
pub mod fault;
pub mod front;
pub mod s3;
