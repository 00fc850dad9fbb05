//! What the tests of stores of objects have in common.

pub mod fault;
pub mod s3;
