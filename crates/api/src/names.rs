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

/// What the name of a member's load balancer ends in. A member's own name ends in a number.
const LOAD_BALANCER: &str = "-lb";

/// The Service of type LoadBalancer by which clients outside of the Kubernetes cluster reach a
/// member. With the longest name of a member it has room in the 63 characters of a Service.
pub fn load_balancer(member: &MemberName) -> String {
    format!("{member}{LOAD_BALANCER}")
}

/// The member whose load balancer has this name.
pub fn member_of_load_balancer(service: &str) -> Option<MemberName> {
    let member = service.strip_suffix(LOAD_BALANCER)?;
    let is_member = member.rsplit_once('-').is_some_and(|(_, n)| n.parse::<u32>().is_ok());
    is_member.then(|| MemberName::new(member))
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

    #[test]
    fn a_load_balancer_is_known_by_its_name_and_no_member_has_one_like_it() {
        let of = |name: &str| member_of_load_balancer(name);
        assert_eq!(of(&load_balancer(&"demo-dc1-a-12".into())), Some("demo-dc1-a-12".into()));
        // A rack may be called so, and a Service may hold the address of a member that is gone.
        for other in ["demo-dc1-lb-0", "demo-dc1-a-0", "demo-lb", "demo-dc1-a-0-was-10-96-0-7"] {
            assert_eq!(of(other), None, "{other}");
        }
        let longest = member(&"a".repeat(STATEFUL_SET_NAME_MAX), 9999);
        assert!(load_balancer(&longest).len() <= 63);
    }
}
