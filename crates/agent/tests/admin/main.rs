//! The two back ends of `ServerAdmin` against small fakes that follow the real
//! interfaces: the same questions must give the same answers.
#![allow(clippy::unwrap_used, missing_docs)]

mod cassandra;
mod contract;
mod fake;
mod jobs;
mod scylla;
mod silent;
