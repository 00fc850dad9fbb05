//! Admission rules in CEL, one function each, named for what they demand. They
//! stand beside the fields they guard by `#[x_kube(validation = …)]`.
//!
//! Limits of what CEL may cost come from the API server: every list and text
//! that a rule walks needs a `maxItems` or `maxLength`, `has()` is cheap where
//! `.?` is not, and texts are put together by `format`, not by `+`. Rules that
//! compare with `oldSelf` stand on the parent, where they also see a field that
//! is set or taken away.

pub mod audit;
pub mod backup;
pub mod cdc;
pub mod claims;
pub mod cluster;
pub mod component;
pub mod jvm_options;
pub mod member;
pub mod network;
pub mod node_agents;
pub mod operator_config;
pub mod rabbitmq;
pub mod registration;
pub mod repair;
pub mod restore;
pub mod ring;
pub mod security;
pub mod service;
pub mod service_member;
pub mod sidecar;
pub mod stack;
pub mod staged;
pub mod task;
pub mod task_schedule;
pub mod zookeeper;

use kube_core::{Message, Reason, Rule};

/// A rule with a fixed message.
fn must(rule: impl Into<String>, message: impl Into<String>) -> Rule {
    Rule::new(rule).message(Message::Message(message.into()))
}

/// A rule whose message names what is wrong.
fn must_saying(rule: impl Into<String>, message: impl Into<String>) -> Rule {
    Rule::new(rule).message(Message::Expression(message.into()))
}

/// A rule that holds for the life of the object.
fn fixed(rule: impl Into<String>, message: impl Into<String>) -> Rule {
    must_saying(rule, message).reason(Reason::FieldValueForbidden)
}

/// Only the object of this name is read.
pub fn named_default() -> Rule {
    must(
        "self.metadata.name == 'default'",
        "the OperatorConfig must be named `default`; any other name is ignored",
    )
}
