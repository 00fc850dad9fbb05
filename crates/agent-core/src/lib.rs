//! What every agent is made of, whichever server it starts: process 1 of the
//! container, its socket, files that survive a power cut, probes, and the one
//! object that the agent shares with the operator. It knows no system.
//!
//! Read in this order: [`init`] (process 1), [`supervisor`] (how it is asked),
//! [`runtime`] (the agent's one thread), [`volume`] (what is ours on the
//! volume), [`kubernetes`] (how the agent is told, and tells), [`service`] (what the agents of
//! clustered services share).

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod backoff;
pub mod drain;
pub mod facts;
pub mod http;
pub mod init;
pub mod install;
pub mod java;
pub mod kubernetes;
pub mod last_words;
pub mod launch_record;
pub mod look;
pub mod loopback;
pub mod metrics;
pub mod runtime;
pub mod service;
pub mod settings;
pub mod supervisor;
pub mod telling;
pub mod volume;
pub mod words;
