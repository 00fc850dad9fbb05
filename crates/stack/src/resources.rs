//! The kinds that these minds see and write, and what they keep of each.

use palladion_api::component::names;
use palladion_api::node_agents::names as group_names;
use palladion_api::stack::StackKind;
use palladion_api::staged::DependencyKind;
pub use palladion_plan::kinds::{
    CLAIM, CONFIG_MAP, DAEMON_SET, NODE, OPERATOR_CONFIG, POD, SERVICE, STATEFUL_SET, STORAGE_CLASS,
};
use palladion_plan::workload::{home, pod};
use palladion_plan::{Keep, Resource, Route, Watch};

/// `Component`.
pub const COMPONENT: Resource = Resource::ours("Component", "components");
/// `NodeAgentGroup`.
pub const GROUP: Resource = Resource::ours("NodeAgentGroup", "nodeagentgroups");
/// `NodeAgentProfile`.
pub const PROFILE: Resource = Resource::ours("NodeAgentProfile", "nodeagentprofiles");
/// `Registration`.
pub const REGISTRATION: Resource = Resource::ours("Registration", "registrations");
/// `Stack`.
pub const STACK: Resource = Resource::ours("Stack", "stacks");
/// `CassandraCluster`.
pub const CASSANDRA: Resource = Resource::ours("CassandraCluster", "cassandraclusters");
/// `ZookeeperCluster`.
pub const ZOOKEEPER: Resource = Resource::ours("ZookeeperCluster", "zookeeperclusters");
/// `RabbitmqCluster`.
pub const RABBITMQ: Resource = Resource::ours("RabbitmqCluster", "rabbitmqclusters");

/// Selects what Palladion made; the same words in every mind, so that the
/// engine needs one watch for all.
const OURS: &str = "app.kubernetes.io/managed-by=palladion";

/// Selects the claims of the sets of Components. The StatefulSet controller gives each the
/// labels that the set selects its pods by, and no others.
const OF_SETS: &str = names::OWNER;

/// All that dependents read of a service.
const SERVICE_ALONE: Keep = Keep::Only(&["/status/service"]);

/// The kind of a dependency.
pub fn of(kind: DependencyKind) -> Resource {
    match kind {
        DependencyKind::CassandraCluster => CASSANDRA,
        DependencyKind::ZookeeperCluster => ZOOKEEPER,
        DependencyKind::RabbitmqCluster => RABBITMQ,
        DependencyKind::Component => COMPONENT,
    }
}

/// What the mind of Components watches.
pub fn watches() -> Vec<Watch> {
    let by_owner = Route::Label(names::OWNER);
    let watch = |resource, selector, keep, route| Watch { resource, selector, keep, route };
    vec![
        watch(COMPONENT, "", Keep::Everything, Route::Owner),
        // The others of the namespace: who depends on whom, and how they are.
        watch(COMPONENT, "", Keep::Only(&["/spec/dependsOn", "/status/service"]), Route::Namespace),
        watch(CASSANDRA, "", SERVICE_ALONE, Route::Namespace),
        watch(ZOOKEEPER, "", SERVICE_ALONE, Route::Namespace),
        watch(RABBITMQ, "", SERVICE_ALONE, Route::Namespace),
        watch(OPERATOR_CONFIG, "", Keep::Only(&["/spec"]), Route::Every),
        watch(STATEFUL_SET, OURS, Keep::Everything, by_owner),
        watch(POD, OURS, Keep::Projection(pod::project), by_owner),
        watch(SERVICE, OURS, Keep::Everything, by_owner),
        watch(CONFIG_MAP, OURS, Keep::Everything, by_owner),
        watch(CLAIM, OF_SETS, Keep::Only(&[]), by_owner),
        watch(NODE, "", Keep::Projection(home::project_node), Route::Every),
        // In the words of the other minds, so that the process keeps each once.
        watch(
            STORAGE_CLASS,
            "",
            Keep::Only(&["/provisioner", "/allowVolumeExpansion"]),
            Route::Every,
        ),
    ]
}

/// Kinds that must be known before anything is decided. A service that others
/// depend on may be unknown: that holds up those who depend on it.
pub const NEEDED: [Resource; 9] = [
    COMPONENT,
    OPERATOR_CONFIG,
    STATEFUL_SET,
    POD,
    SERVICE,
    CONFIG_MAP,
    CLAIM,
    NODE,
    STORAGE_CLASS,
];

/// What the mind of groups of node agents watches.
pub fn watches_of_groups() -> Vec<Watch> {
    let by_owner = Route::Label(group_names::OWNER);
    let watch = |resource, selector, keep, route| Watch { resource, selector, keep, route };
    vec![
        watch(GROUP, "", Keep::Everything, Route::Owner),
        // The others of all namespaces: no node may run an agent twice.
        watch(GROUP, "", Keep::Only(&["/spec/agent", "/spec/nodeSelector"]), Route::Every),
        watch(PROFILE, "", Keep::Only(&["/spec"]), Route::Namespace),
        watch(COMPONENT, "", SERVICE_ALONE, Route::Namespace),
        watch(CASSANDRA, "", SERVICE_ALONE, Route::Namespace),
        watch(ZOOKEEPER, "", SERVICE_ALONE, Route::Namespace),
        watch(RABBITMQ, "", SERVICE_ALONE, Route::Namespace),
        watch(OPERATOR_CONFIG, "", Keep::Only(&["/spec"]), Route::Every),
        watch(DAEMON_SET, OURS, Keep::Everything, by_owner),
        watch(POD, OURS, Keep::Projection(pod::project), by_owner),
        watch(CONFIG_MAP, OURS, Keep::Everything, by_owner),
        // Those that templates name are read by name. None is of a group: this is the watch
        // that the process has for Components anyway.
        watch(CLAIM, OF_SETS, Keep::Only(&[]), by_owner),
        // Their labels, too: these are metadata, which every watch keeps.
        watch(NODE, "", Keep::Projection(home::project_node), Route::Every),
    ]
}

/// Kinds that must be known before anything is decided for a group.
pub const NEEDED_BY_GROUPS: [Resource; 7] =
    [GROUP, PROFILE, OPERATOR_CONFIG, DAEMON_SET, POD, CONFIG_MAP, NODE];

/// Kinds of services of a Stack.
pub const KINDS: [StackKind; 7] = [
    StackKind::CassandraCluster,
    StackKind::ZookeeperCluster,
    StackKind::RabbitmqCluster,
    StackKind::Component,
    StackKind::Registration,
    StackKind::NodeAgentProfile,
    StackKind::NodeAgentGroup,
];

/// The kind of a service of a Stack.
pub fn of_stack(kind: StackKind) -> Resource {
    match kind {
        StackKind::CassandraCluster => CASSANDRA,
        StackKind::ZookeeperCluster => ZOOKEEPER,
        StackKind::RabbitmqCluster => RABBITMQ,
        StackKind::Component => COMPONENT,
        StackKind::Registration => REGISTRATION,
        StackKind::NodeAgentProfile => PROFILE,
        StackKind::NodeAgentGroup => GROUP,
    }
}

/// What the mind of Stacks watches: every kind of its services whole, as the
/// minds of those kinds do, so that the process keeps each object once.
pub fn watches_of_stacks() -> Vec<Watch> {
    let whole = |resource, route| Watch { resource, selector: "", keep: Keep::Everything, route };
    let mut all = vec![whole(STACK, Route::Owner)];
    all.extend(KINDS.map(|kind| whole(of_stack(kind), Route::Namespace)));
    let keep = Keep::Only(&["/spec"]);
    all.push(Watch { resource: OPERATOR_CONFIG, selector: "", keep, route: Route::Every });
    all
}

/// What the mind of Registrations watches. Pods of all services of the namespace: a
/// Registration names services, and no pod names a Registration.
pub fn watches_of_registrations() -> Vec<Watch> {
    let whole = |resource, route| Watch { resource, selector: "", keep: Keep::Everything, route };
    let (resource, keep) = (POD, Keep::Projection(pod::project));
    let (settings, spec) = (OPERATOR_CONFIG, Keep::Only(&["/spec"]));
    vec![
        whole(REGISTRATION, Route::Owner),
        whole(COMPONENT, Route::Namespace),
        whole(GROUP, Route::Namespace),
        Watch { resource, selector: OURS, keep, route: Route::Namespace },
        Watch { resource: settings, selector: "", keep: spec, route: Route::Every },
    ]
}

/// Kinds that must be known before anything is decided for a Registration.
pub const NEEDED_BY_REGISTRATIONS: [Resource; 4] = [COMPONENT, GROUP, POD, OPERATOR_CONFIG];
