//! The built-in kinds whose behaviour is simulated.

use crate::object::Resource;

/// StatefulSets.
pub const STATEFUL_SET: Resource =
    Resource::namespaced("apps", "v1", "StatefulSet", "statefulsets");
/// Pods.
pub const POD: Resource = Resource::namespaced("", "v1", "Pod", "pods");
/// Services.
pub const SERVICE: Resource = Resource::namespaced("", "v1", "Service", "services");
/// ConfigMaps.
pub const CONFIG_MAP: Resource = Resource::namespaced("", "v1", "ConfigMap", "configmaps");
/// Claims.
pub const CLAIM: Resource =
    Resource::namespaced("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims");
/// Storage classes.
pub const STORAGE_CLASS: Resource =
    Resource::cluster("storage.k8s.io", "v1", "StorageClass", "storageclasses");
/// Volumes.
pub const VOLUME: Resource = Resource::cluster("", "v1", "PersistentVolume", "persistentvolumes");
/// Nodes.
pub const NODE: Resource = Resource::cluster("", "v1", "Node", "nodes");
