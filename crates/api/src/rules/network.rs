//! Rules of who may connect to a ring.

use kube_core::Rule;

use super::must;

/// Nothing of it has been tried against a Scylla server, which listens on other ports, too.
pub fn scylla_takes_no_network() -> Rule {
    must(
        "self.mode != 'scylla' || !has(self.network)",
        "`network` applies to Cassandra only: create a NetworkPolicy of your own instead",
    )
    .field_path(".network")
}

/// A list that nothing enforces would look like protection.
pub fn peers_need_a_policy() -> Rule {
    must(
        "self.policy == 'Managed' || (!has(self.clientsFrom) && !has(self.metricsFrom))",
        "`clientsFrom` and `metricsFrom` take effect with `policy: Managed` only: set it, or remove them",
    )
    .field_path(".policy")
}

/// The API server refuses the others in a NetworkPolicy.
pub fn peers_are_of_one_kind() -> Rule {
    must(
        "self.all(p, has(p.ipBlock) != (has(p.podSelector) || has(p.namespaceSelector)))",
        "each peer is either an `ipBlock`, or pods by `podSelector`, `namespaceSelector` or both",
    )
}

/// Who a load balancer is open to is said, and nothing is said of what is not there.
pub fn ranges_need_load_balancers() -> Rule {
    must(
        "(self.clients == 'LoadBalancer') == has(self.sourceRanges)",
        "`clients: LoadBalancer` and `sourceRanges` need each other: list the ranges of addresses from which clients connect, or remove `sourceRanges`",
    )
    .field_path(".sourceRanges")
}

/// As a Service takes them.
pub fn source_ranges_are_blocks() -> Rule {
    must(
        "self.all(r, r.matches('^[0-9A-Fa-f:.]+/[0-9]{1,3}$'))",
        "each range is a block of addresses, for example 203.0.113.0/24",
    )
}
