//! Histories of a cluster, told by the simulator: the real deciders, and
//! around them everything that can happen.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

#[path = "../sim/mod.rs"]
mod sim;

mod absences;
mod access;
mod chaos;
mod clocks;
mod creation;
mod disturbed;
mod every;
mod former_names;
mod growth;
mod guards;
mod history;
mod holes;
mod initialization;
mod inputs;
mod known_bugs;
mod leaves;
mod maintenance;
mod newer_words;
mod nodes;
mod outages;
mod palladion_upgrades;
mod reasons;
mod removals;
mod rolling;
mod tasks;
mod terminated;
mod told;
mod wishes;
