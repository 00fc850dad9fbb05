//! The words of Palladion: its kinds, defaults, labels, names, conditions and
//! reasons. No I/O, no clock, no randomness; every other crate stands on it.

// `clippy.toml` lists them: clock, randomness, environment, files, network, output.
#![cfg_attr(
    not(test),
    forbid(clippy::disallowed_methods, clippy::disallowed_types, clippy::disallowed_macros)
)]
#![expect(
    clippy::duplicated_attributes,
    reason = "the lint takes the types of two printer columns for one attribute given twice"
)]

pub mod answers;
pub mod backup;
pub mod backup_schedule;
pub mod cluster;
pub mod component;
pub mod conditions;
pub mod crd;
pub mod file_system;
pub mod gate;
pub mod ids;
pub mod labels;
pub mod member;
pub mod metrics;
pub mod names;
pub mod node_agents;
pub mod operator_config;
pub mod rabbitmq;
pub mod reasons;
pub mod registration;
pub mod repair;
pub mod reserved;
pub mod restore;
pub mod rights;
pub mod rules;
pub mod runtime;
pub mod server_config;
pub mod service;
pub mod service_member;
pub mod stack;
pub mod staged;
pub mod task;
pub mod task_schedule;
pub mod waits;
pub mod word;
pub mod words;
pub mod yaml;
pub mod zoned_stateful_set;
pub mod zookeeper;

pub use cluster::{CassandraCluster, CassandraClusterSpec, CassandraClusterStatus};
pub use component::{Component, ComponentSpec, ComponentStatus};
pub use member::{CassandraMember, CassandraMemberSpec, CassandraMemberStatus};
pub use node_agents::{
    NodeAgentGroup, NodeAgentGroupSpec, NodeAgentGroupStatus, NodeAgentProfile,
    NodeAgentProfileSpec,
};
pub use operator_config::{OperatorConfig, OperatorConfigSpec};
pub use rabbitmq::{RabbitmqCluster, RabbitmqClusterSpec, RabbitmqClusterStatus};
pub use reasons::Reason;
pub use registration::{Registration, RegistrationSpec, RegistrationStatus};
pub use service_member::{ServiceMember, ServiceMemberSpec, ServiceMemberStatus};
pub use stack::{Stack, StackSpec, StackStatus};
pub use task::{CassandraTask, CassandraTaskSpec, CassandraTaskStatus};
pub use task_schedule::{
    CassandraTaskSchedule, CassandraTaskScheduleSpec, CassandraTaskScheduleStatus,
};
pub use zoned_stateful_set::{ZonedStatefulSet, ZonedStatefulSetSpec, ZonedStatefulSetStatus};
pub use zookeeper::{ZookeeperCluster, ZookeeperClusterSpec, ZookeeperClusterStatus};

/// The API group of every kind.
pub const GROUP: &str = "palladion.dev";
/// The API version of every kind.
pub const VERSION: &str = "v1alpha1";
