//! A model of Cassandra rings, for scenario tests of the mind: what real
//! servers were seen to do. Operator and agents are the real ones: their
//! decisions, over simulated disks, servers and API.

pub mod act;
pub mod actors;
pub mod agent;
pub mod archive;
pub mod balancers;
pub mod boot;
pub mod cdc;
pub mod certificates;
pub mod compare;
pub mod destroyed;
pub mod far;
pub mod formats;
pub mod gossip;
pub mod invariants;
pub mod jobs;
pub mod manifests;
pub mod nature;
pub mod operations;
pub mod phases;
pub mod regions;
pub mod repair;
pub mod report;
pub mod restores;
mod retention;
pub mod rewind;
pub mod ring;
pub mod rows;
mod seal;
pub mod streams;
pub mod transfers;
pub mod volume;
pub mod whole;
pub mod work;
pub mod world;

pub use compare::End;
pub use world::World;
