//! The kinds that this mind sees and writes, and what it keeps of each.

use palladion_api::labels;
use palladion_api::service_member::{ServiceMemberSpec, ServiceSystem};
pub use palladion_plan::kinds::{
    CLAIM, CONFIG_MAP, DISRUPTION_BUDGET, NODE, OPERATOR_CONFIG, POD, ROLE_BINDING, SECRET,
    SERVICE, SERVICE_ACCOUNT, STATEFUL_SET, STORAGE_CLASS, VOLUME,
};
pub use palladion_plan::members::MEMBER;
use palladion_plan::members::{self, ServiceKind};
use palladion_plan::{Resource, Watch};

/// `RabbitmqCluster`.
pub const CLUSTER: Resource = Resource::ours("RabbitmqCluster", "rabbitmqclusters");

/// On a ServiceMember: the nonce of the turn in which its node takes replicas of queues. Removed
/// when it has them.
pub const YET_TO_GROW: &str = "palladion.dev/yet-to-grow";

/// The container in which a node runs, with its agent.
pub const CONTAINER: &str = "rabbitmq";

/// What distinguishes a cluster of RabbitMQ from other clustered services.
pub static SERVICE_KIND: ServiceKind = ServiceKind {
    owner: CLUSTER,
    system: ServiceSystem::RabbitMQ,
    label: labels::RABBITMQ,
    app: "rabbitmq",
    container: CONTAINER,
    identity: labels::NODE_NAME,
    identity_of: node_name,
};

fn node_name(spec: &ServiceMemberSpec) -> Option<String> {
    spec.node_name.as_ref().map(ToString::to_string)
}

/// One watch per kind for the whole process. Secrets are not among them: the operator
/// creates one, and reads none.
pub fn watches() -> Vec<Watch> {
    members::watches(&SERVICE_KIND)
}
