//! The kinds of Kubernetes itself that minds see and write, declared once.

use crate::object::Resource;

/// StatefulSets.
pub const STATEFUL_SET: Resource =
    Resource::namespaced("apps", "v1", "StatefulSet", "statefulsets");
/// DaemonSets.
pub const DAEMON_SET: Resource = Resource::namespaced("apps", "v1", "DaemonSet", "daemonsets");
/// Pods.
pub const POD: Resource = Resource::namespaced("", "v1", "Pod", "pods");
/// Services.
pub const SERVICE: Resource = Resource::namespaced("", "v1", "Service", "services");
/// ConfigMaps.
pub const CONFIG_MAP: Resource = Resource::namespaced("", "v1", "ConfigMap", "configmaps");
/// Secrets.
pub const SECRET: Resource = Resource::namespaced("", "v1", "Secret", "secrets");
/// Volume claims.
pub const CLAIM: Resource =
    Resource::namespaced("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims");
/// Service accounts.
pub const SERVICE_ACCOUNT: Resource =
    Resource::namespaced("", "v1", "ServiceAccount", "serviceaccounts");
/// Role bindings.
pub const ROLE_BINDING: Resource =
    Resource::namespaced("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings");
/// Disruption budgets.
pub const DISRUPTION_BUDGET: Resource =
    Resource::namespaced("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets");
/// Network policies.
pub const NETWORK_POLICY: Resource =
    Resource::namespaced("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies");
/// Storage classes.
pub const STORAGE_CLASS: Resource =
    Resource::cluster("storage.k8s.io", "v1", "StorageClass", "storageclasses");
/// Volumes.
pub const VOLUME: Resource = Resource::cluster("", "v1", "PersistentVolume", "persistentvolumes");
/// Nodes.
pub const NODE: Resource = Resource::cluster("", "v1", "Node", "nodes");

/// Settings of the operator, which every mind reads.
pub const OPERATOR_CONFIG: Resource = Resource::cluster(
    palladion_api::GROUP,
    palladion_api::VERSION,
    "OperatorConfig",
    "operatorconfigs",
);
