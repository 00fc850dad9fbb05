//! The kinds that this mind sees and writes, and what it keeps of each.

use palladion_api::labels;
use palladion_api::service_member::{ServiceMemberSpec, ServiceSystem};
pub use palladion_plan::kinds::{
    CLAIM, CONFIG_MAP, DISRUPTION_BUDGET, NODE, OPERATOR_CONFIG, POD, ROLE_BINDING, SERVICE,
    SERVICE_ACCOUNT, STATEFUL_SET, STORAGE_CLASS, VOLUME,
};
pub use palladion_plan::members::MEMBER;
use palladion_plan::members::{self, ServiceKind};
use palladion_plan::{Resource, Watch};

/// `ZookeeperCluster`.
pub const CLUSTER: Resource = Resource::ours("ZookeeperCluster", "zookeeperclusters");

/// The container in which a server runs, with its agent.
pub const CONTAINER: &str = "zookeeper";

/// What distinguishes an ensemble from other clustered services.
pub static SERVICE_KIND: ServiceKind = ServiceKind {
    owner: CLUSTER,
    system: ServiceSystem::ZooKeeper,
    label: labels::ZOOKEEPER,
    app: "zookeeper",
    container: CONTAINER,
    identity: labels::SERVER_ID,
    identity_of: server_id,
};

fn server_id(spec: &ServiceMemberSpec) -> Option<String> {
    spec.server_id.map(|id| id.to_string())
}

/// One watch per kind for the whole process.
pub fn watches() -> Vec<Watch> {
    members::watches(&SERVICE_KIND)
}
