//! Names of the objects made for a cluster, and their limits.

use crate::ids::{MemberName, RackName};

/// Longest name of a StatefulSet whose pods can still be labelled: the
/// controller puts `<name>-<10 characters of hash>` into a label value of 63.
pub const STATEFUL_SET_NAME_MAX: usize = 52;

/// A name of which a label of DNS can be made, as names of Services are.
pub const LABEL: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
/// A name that an object of Kubernetes can have.
pub const SUBDOMAIN: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

/// `<cluster>-<datacenter>-<rack>`, in the characters of a DNS label. This and
/// the other names are those of Rook's Cassandra operator (`docs/sources.md`).
pub fn rack_set(cluster: &str, datacenter: &str, rack: &RackName) -> String {
    format!("{cluster}-{}-{}", dns(datacenter), dns(rack.as_str()))
}

/// The StatefulSet of a ZookeeperCluster.
pub fn zookeeper_set(cluster: &str) -> String {
    format!("{cluster}-zk")
}

/// The StatefulSet of a RabbitmqCluster.
pub fn rabbitmq_set(cluster: &str) -> String {
    format!("{cluster}-rmq")
}

/// The Secret with the credentials of a RabbitmqCluster, where the spec names none.
pub fn rabbitmq_secret(cluster: &str) -> String {
    format!("{cluster}-rmq")
}

/// The Secret with the credentials of the store of backups, where the spec names none.
pub fn backup_secret(cluster: &str) -> String {
    format!("{cluster}-backup")
}

/// The Secret with the keys that seal backups.
pub fn backup_key_secret(cluster: &str) -> String {
    format!("{cluster}-backup-key")
}

/// The headless Service of all members of a set, ready or not.
pub fn nodes_service(set: &str) -> String {
    format!("{set}-nodes")
}

/// A member, its pod and its Service: `<set>-<ordinal>`.
pub fn member(set: &str, ordinal: i32) -> MemberName {
    MemberName::new(format!("{set}-{ordinal}"))
}

/// A member's claim: `<template>-<member>`, as the StatefulSet controller names it.
pub fn claim(template: &str, member: &MemberName) -> String {
    format!("{template}-{member}")
}

/// The headless Service for drivers.
pub fn client_service(cluster: &str) -> String {
    format!("{cluster}-client")
}

/// ServiceAccount and RoleBinding of the member pods.
pub fn member_account(cluster: &str) -> String {
    format!("{cluster}-member")
}

/// The Secret with user and password of the agents.
pub fn agents_secret(cluster: &str) -> String {
    format!("{cluster}-agents")
}

/// The Secret with user and password of the people's superuser, where the spec names none.
pub fn superuser_secret(cluster: &str) -> String {
    format!("{cluster}-superuser")
}

/// The ConfigMap with the authorities that clients trust, where the operator signs.
pub fn client_ca(cluster: &str) -> String {
    format!("{cluster}-client-ca")
}

/// Key of that ConfigMap.
pub const CLIENT_CA_FILE: &str = "ca.crt";

/// The one Secret that the operator may read, in its own namespace: the keys of the
/// authorities that it signs with.
pub const AUTHORITIES_SECRET: &str = "palladion-authorities";

/// The ordinal at the end of the name of a pod (or member), if it is one of this set.
pub fn ordinal(set: &str, pod: &str) -> Option<i32> {
    let digits = pod.strip_prefix(set)?.strip_prefix('-')?;
    let number: i32 = digits.parse().ok()?;
    (number >= 0 && number.to_string() == digits).then_some(number)
}

/// Lower case, with `_` and `.` as `-`: Cassandra's names allow what DNS labels do not.
pub fn dns(name: &str) -> String {
    name.to_ascii_lowercase().replace(['_', '.'], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals_are_read_back_from_member_names() {
        assert_eq!(ordinal("demo-dc1-a", "demo-dc1-a-12"), Some(12));
        assert_eq!(ordinal("demo-dc1-a", "demo-dc1-a-b-0"), None);
        assert_eq!(ordinal("demo-dc1-a", "demo-dc1-a-01"), None);
        assert_eq!(ordinal("demo-dc1-a", "demo-dc1-ab-1"), None);
    }
}
