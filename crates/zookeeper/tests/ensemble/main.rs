//! The mind of `ZookeeperCluster` over a model of ZooKeeper: stories, each as events
//! and what they lead to, and histories with a fault at every write.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod acts;
mod agent;
mod agents_rule;
mod changes;
mod creation;
mod disturbed;
mod interrupted;
mod joiners;
mod known_bugs;
mod lag;
mod losses;
mod model;
mod mutations;
mod nodes;
mod provers;
mod reasons;
mod refused;
mod report;
mod rescues;
mod second_losses;
mod start;
mod told;
mod volume;
mod world;
