//! The mind of `RabbitmqCluster` over a model of RabbitMQ: stories, each as events and what
//! they lead to, and histories with a fault at every write.
//!
//! The agents are a model of their own, small, and written from the member protocol: it is
//! not the real agent's decisions that are driven here.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod acts;
mod agent;
mod changes;
mod creation;
mod disturbed;
mod losses;
mod model;
mod mutations;
mod network;
mod queues;
mod reasons;
mod refusals;
mod report;
mod upgrades;
mod volume;
mod work;
mod world;
