//! The agent of a ring member, as a library so that its parts can be tested. What
//! every agent has, whichever its server, is in `palladion-agent-core`.
//!
//! Read in this order: [`init`] (process 1), [`agent`] (the loop), [`volume`]
//! (who are we), [`decide`] (what may be done), [`render`] and [`launch`] (how
//! the server is started), [`admin`] (how it is asked), [`jobs`] (its jobs),
//! [`repair`] (what is due), [`transfer`] (its backups), [`archive`] (its commit log),
//! [`cdc`] (readers of changes), [`report`] and [`kubernetes`] (how it is told).

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub use palladion_agent_core::{drain, http, init, install, supervisor};

pub mod access;
pub mod admin;
pub mod agent;
pub mod archive;
pub mod capabilities;
pub mod cdc;
pub mod certificate;
pub mod cql;
pub mod decide;
pub mod issued;
pub mod jobs;
pub mod kubernetes;
pub mod launch;
pub mod launch_record;
pub mod leave;
pub mod management;
pub mod metrics;
pub mod ranges;
pub mod render;
pub mod repair;
pub mod replication;
pub mod report;
pub mod runtime;
pub mod seal;
pub mod settings;
pub mod tombstones;
pub mod transfer;
pub mod volume;
pub mod words;
