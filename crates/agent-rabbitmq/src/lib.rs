//! The agent of a node of RabbitMQ, as a library so that its parts can be tested.
//! What every agent has is in `palladion-agent-core`, and what the agents of all clustered
//! services have in its `service`.
//!
//! Read in this order: [`cli`] (what a pod starts), [`agent`] (the loop), [`volume`] (who
//! are we, and is all of it there), [`decide`] (what may be done), [`launch`] (how the
//! node is started), [`wire`] and [`read`] (how it is asked), [`work`] (what is done with a
//! node that runs), [`report`] (what is told).

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod agent;
pub mod cli;
pub mod decide;
pub mod launch;
pub mod metrics;
pub mod read;
pub mod report;
pub mod settings;
pub mod volume;
pub mod wire;
pub mod words;
pub mod work;
