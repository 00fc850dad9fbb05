//! What the operator may do for these minds, and why.

use crate::resources::{
    CASSANDRA, CLAIM, COMPONENT, CONFIG_MAP, DAEMON_SET, GROUP, NODE, OPERATOR_CONFIG, POD,
    PROFILE, RABBITMQ, REGISTRATION, SERVICE, STACK, STATEFUL_SET, STORAGE_CLASS, ZOOKEEPER,
};
use palladion_api::rights::Verb::{Create, Delete, Get, List, Patch, Update, Watch};
use palladion_api::rights::{Right, Verb};

/// Of an object that is created, kept as it should be and deleted when it is not wanted.
const ALL: &[Verb] = &[Get, List, Watch, Create, Patch, Delete];
/// Of an object that is created, kept as it should be, and Kubernetes' to delete.
const WRITTEN: &[Verb] = &[Get, List, Watch, Create, Patch];
const SEEN: &[Verb] = &[List, Watch];

/// Everything that the mind of Components needs.
pub const OF_COMPONENTS: &[Right] = &[
    COMPONENT.right(SEEN, "Staged services, and what they say of themselves to others"),
    COMPONENT.right(&[Patch], "Observed state, and what dependents read").on("status"),
    COMPONENT.right(&[Update], "Owner references that block the owner's deletion").on("finalizers"),
    CASSANDRA.right(SEEN, "Whether a ring that a service depends on is there"),
    ZOOKEEPER.right(SEEN, "Whether an ensemble that a service depends on is there"),
    RABBITMQ.right(SEEN, "Whether a cluster of RabbitMQ that a service depends on is there"),
    STATEFUL_SET.right(WRITTEN, "The pods of a service are one StatefulSet"),
    CLAIM.right(SEEN, "A pod whose claim is being deleted is not ended: its data would go with it"),
    NODE.right(SEEN, "A pod on a node that is not ready does not stop when it is asked to"),
    SERVICE.right(ALL, "Addresses of the pods, and the Services of them all"),
    CONFIG_MAP.right(
        WRITTEN,
        "The configuration of the pods is one ConfigMap; those that a template names must be there",
    ),
    STORAGE_CLASS.right(SEEN, "Whether the storage class exists"),
    POD.right(
        &[List, Watch, Patch, Delete],
        "Tickets that open the gates of pods are labels; a restart is a deletion",
    ),
    OPERATOR_CONFIG.right(SEEN, "Pausing every service"),
];

/// Everything that the mind of groups of node agents needs.
pub const OF_GROUPS: &[Right] = &[
    GROUP.right(SEEN, "Groups of node agents; those of all namespaces exclude each other"),
    GROUP.right(&[Patch], "Observed state").on("status"),
    GROUP.right(&[Update], "Owner references that block the owner's deletion").on("finalizers"),
    PROFILE.right(SEEN, "How the nodes of a group are set up"),
    COMPONENT.right(SEEN, "Whether a service that agents depend on is there"),
    CASSANDRA.right(SEEN, "Whether a ring that agents depend on is there"),
    ZOOKEEPER.right(SEEN, "Whether an ensemble that agents depend on is there"),
    RABBITMQ.right(SEEN, "Whether a cluster of RabbitMQ that agents depend on is there"),
    CLAIM.right(SEEN, "A pod whose claim is being deleted is not ended: its data would go with it"),
    DAEMON_SET.right(WRITTEN, "The pods of a group are one DaemonSet"),
    CONFIG_MAP.right(
        WRITTEN,
        "The configuration of the agents is one ConfigMap; those that a template names must be there",
    ),
    POD.right(
        &[List, Watch, Patch, Delete],
        "Tickets that open the gates of pods are labels; a restart is a deletion",
    ),
    NODE.right(SEEN, "Which nodes are in a group, and in more than one"),
    OPERATOR_CONFIG.right(SEEN, "Pausing every group"),
];

const WHY: &str = "Services of a Stack are created, and given the spec that it has for them";

/// Everything that the mind of Stacks needs.
pub const OF_STACKS: &[Right] = &[
    STACK.right(SEEN, "Stacks"),
    STACK.right(&[Patch], "Observed state of all services").on("status"),
    STACK
        .right(&[Update], "Owner references of services that go with their Stack")
        .on("finalizers"),
    CASSANDRA.right(WRITTEN, WHY),
    ZOOKEEPER.right(WRITTEN, WHY),
    RABBITMQ.right(WRITTEN, WHY),
    COMPONENT.right(WRITTEN, WHY),
    REGISTRATION.right(WRITTEN, WHY),
    PROFILE.right(WRITTEN, WHY),
    GROUP.right(WRITTEN, WHY),
    OPERATOR_CONFIG.right(SEEN, "Pausing every Stack"),
];

/// Everything that the mind of Registrations needs. Secrets are none of it: a
/// namespace allows each by name, with a Role of its own.
pub const OF_REGISTRATIONS: &[Right] = &[
    REGISTRATION.right(&[Get, List, Watch], "Registrations; read again right before a call"),
    REGISTRATION.right(&[Patch], "Calls are recorded before they are sent").on("status"),
    COMPONENT.right(SEEN, "The service that is called, and those whose pods are registered"),
    GROUP.right(SEEN, "Groups whose agents are registered"),
    POD.right(SEEN, "Addresses of the pods that are registered"),
    CONFIG_MAP.right(&[Get], "Who may have signed the certificate of a service that is called"),
    OPERATOR_CONFIG.right(SEEN, "Pausing every Registration"),
];
