//! The rules of `Component`, `NodeAgentGroup`, `Registration` and `Stack`, each as events and what they
//! lead to.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod changes;
mod claims;
mod disturbed;
mod gates;
mod groups;
mod lost_nodes;
mod moving;
mod node_names;
mod objects;
mod recreation;
mod refused;
mod registrations;
mod rejected;
mod reported;
mod service;
mod silence;
mod stacks;
mod world;
