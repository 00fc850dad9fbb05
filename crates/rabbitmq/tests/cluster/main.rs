//! The mind of `RabbitmqCluster` over a model of RabbitMQ: stories, each as events and what
//! they lead to, and histories with a fault at every write.
//!
//! What a volume is and whether a permit starts a node on it, the real agent's rules say;
//! the rest of the agents is a small model, written from the member protocol.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod acts;
mod agent;
mod agents_rule;
mod alarms;
mod changes;
mod creation;
mod disturbed;
mod failing;
mod gives_way;
mod half;
mod interrupted;
mod joiners;
mod known_bugs;
mod lag;
mod leavers;
mod lengths;
mod losses;
mod model;
mod mutations;
mod needed;
mod network;
mod nodes;
mod permissions;
mod provers;
mod queues;
mod reasons;
mod recreation;
mod refusals;
mod report;
mod second_losses;
mod stranded;
mod taken_in;
mod tries;
mod unmoved;
mod upgrades;
mod volume;
mod work;
mod world;
