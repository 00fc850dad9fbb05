//! The agent of a server of ZooKeeper, as a library so that its parts can be tested.
//! What every agent has is in `palladion-agent-core`.
//!
//! Read in this order: [`cli`] (what a pod starts), [`agent`] (the loop), [`volume`] (who
//! are we, and is all of it there), [`decide`] (what may be done), [`launch`] (how the
//! server is started), [`wire`] and [`read`] (how it is asked), [`ensemble`] (what is
//! asked), [`report`] (what is told).

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod agent;
pub mod cli;
pub mod decide;
pub mod ensemble;
pub mod launch;
pub mod metrics;
pub mod read;
pub mod report;
pub mod settings;
pub mod volume;
pub mod wire;
pub mod words;
