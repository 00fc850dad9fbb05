//! A model of Cassandra rings and of the agents that run them, for scenario
//! tests of the mind: what real servers were seen to do, and the agent's side
//! of the member protocol. The operator's side is the real one.

pub mod actors;
pub mod agent;
pub mod boot;
pub mod compare;
pub mod gossip;
pub mod invariants;
pub mod manifests;
pub mod nature;
pub mod permits;
pub mod phases;
pub mod report;
pub mod ring;
pub mod rows;
pub mod start;
pub mod volume;
pub mod world;

pub use compare::End;
pub use world::World;
