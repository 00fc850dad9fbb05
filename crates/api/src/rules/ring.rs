//! Rules of a ring that has members elsewhere.

use kube_core::Rule;

use super::{fixed, must};

/// Are there seeds elsewhere?
const SEEDS: &str = "has(self.externalSeeds) && size(self.externalSeeds) > 0";

/// Nothing of it has been tried against a Scylla server.
pub fn scylla_is_one_datacenter() -> Rule {
    must(
        format!("self.mode != 'scylla' || (!has(self.ring) && !({SEEDS}))"),
        "`ring` and `externalSeeds` apply to Cassandra only: a ring of ScyllaDB has one datacenter",
    )
}

/// Its ring has no other datacenter to go on without it.
pub fn scylla_does_not_leave() -> Rule {
    must(
        "self.mode != 'scylla' || !has(self.datacenter.leave) || !self.datacenter.leave",
        "`datacenter.leave` applies to Cassandra only: a ring of ScyllaDB has one datacenter; to delete it, delete the CassandraCluster",
    )
    .field_path(".datacenter.leave")
}

/// A ring that was made here does not become another one, nor the other way round.
pub fn origin_is_fixed() -> Rule {
    fixed(
        "(has(oldSelf.ring) ? oldSelf.ring.origin : 'New') == (has(self.ring) ? self.ring.origin : 'New')",
        "'`ring.origin` is immutable (%s): create another CassandraCluster instead'.format([has(oldSelf.ring) ? oldSelf.ring.origin : 'New'])",
    )
    .field_path(".ring")
}

/// Nobody finds a ring without one address of it.
pub fn existing_needs_seeds() -> Rule {
    must(
        format!("!has(self.ring) || self.ring.origin != 'Existing' || ({SEEDS})"),
        "`ring.origin: Existing` needs `externalSeeds`: list the seeds of the ring that this datacenter joins",
    )
    .field_path(".ring")
}

/// Members elsewhere connect to the addresses that ours broadcast.
pub fn external_seeds_need_routes() -> Rule {
    must(
        format!("!({SEEDS}) || (has(self.network) && self.network.clusterIPsAreRouted)"),
        "members broadcast the ClusterIPs of their Services, so members elsewhere must reach those: route the Service network of this Kubernetes cluster to them and theirs to it, without an address that both use, then set `network.clusterIPsAreRouted: true`",
    )
    .field_path(".externalSeeds")
}

/// The authority of a cluster signs for the members of one datacenter alone.
pub fn external_seeds_need_their_authorities() -> Rule {
    must(
        format!("!({SEEDS}) || !has(self.tls) || !has(self.tls.internode) || self.tls.internode.mode == 'Off' || (has(self.tls.internode.additionalTrust) && size(self.tls.internode.additionalTrust) > 0)"),
        "with `externalSeeds`, TLS between members needs the authorities of the other datacenters: list their certificates in `tls.internode.additionalTrust`, or set `tls.internode.mode: Off`",
    )
    .field_path(".externalSeeds")
}

/// With a policy all members there need a way in; without one the list would look like protection.
pub fn seeds_have_networks_with_a_policy() -> Rule {
    must(
        format!("!({SEEDS}) || self.externalSeeds.all(s, has(s.networks) == (has(self.network) && self.network.policy == 'Managed'))"),
        "list the `networks` of each of the `externalSeeds` with `network.policy: Managed`, and only then: they say who may connect to port 7000",
    )
    .field_path(".externalSeeds")
}

/// Names are for people.
pub fn seed_places_are_unique() -> Rule {
    must(
        "self.all(s, self.exists_one(t, t.name == s.name))",
        "names of `externalSeeds` must be unique",
    )
}

/// Addresses of IPv4 and DNS names look alike; one of IPv6 has two colons, a port one.
pub fn seeds_are_addresses() -> Rule {
    let name =
        "^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?(\\\\.[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?)*$";
    let ipv6 = "^[0-9A-Fa-f]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*$";
    must(
        format!("self.all(a, size(a) > 0 && (a.matches('{name}') || a.matches('{ipv6}')))"),
        "each address is an IPv4 or IPv6 address or a DNS name, without a port",
    )
}

/// As a NetworkPolicy takes them.
pub fn networks_are_blocks() -> Rule {
    must(
        "self.all(n, n.matches('^[0-9A-Fa-f:.]+/[0-9]{1,3}$'))",
        "each network is a block of addresses, for example 10.4.0.0/16",
    )
}
