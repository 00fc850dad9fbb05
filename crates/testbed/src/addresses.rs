//! Which private addresses a testbed uses inside its own network namespaces.
//!
//! Nothing is routed to or from the host, so two testbeds could use the same
//! addresses; they differ by name only so that logs can be told apart.

use std::net::Ipv4Addr;

use sha2::{Digest, Sha256};

use crate::names::ClusterName;

/// The most nodes the plan has room for; far more than one machine can carry.
pub const MOST_NODES: u8 = 100;

/// All addresses of one testbed: `10.X.0.0/18` Services, `10.X.64.0/24` nodes,
/// `10.X.128.0/17` Pods, with X made from the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressPlan {
    second: u8,
}

impl AddressPlan {
    /// The plan for a name; always the same for the same name.
    pub fn of(name: &ClusterName) -> Self {
        let hash = Sha256::digest(name.as_str().as_bytes());
        Self { second: 64 + hash[0] % 64 }
    }

    /// The range of Service addresses.
    pub fn services(self) -> String {
        format!("10.{}.0.0/18", self.second)
    }

    /// Whether an address is a Service's.
    pub fn is_service(self, address: Ipv4Addr) -> bool {
        matches!(address.octets(), [10, second, third, _] if second == self.second && third < 64)
    }

    /// The address of the `kubernetes` Service.
    pub fn kubernetes_service(self) -> Ipv4Addr {
        Ipv4Addr::new(10, self.second, 0, 1)
    }

    /// The address of the `kube-dns` Service.
    pub fn dns_service(self) -> Ipv4Addr {
        Ipv4Addr::new(10, self.second, 0, 10)
    }

    /// The control plane's own address, on the bridge that joins the nodes.
    pub fn control_plane(self) -> Ipv4Addr {
        Ipv4Addr::new(10, self.second, 64, 1)
    }

    /// A node's address; `number` counts from 1.
    pub fn node(self, number: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, self.second, 64, 10 + number)
    }

    /// The prefix length of the network of control plane and nodes.
    pub fn node_prefix(self) -> u8 {
        24
    }

    /// The range of all Pod addresses.
    pub fn all_pods(self) -> String {
        format!("10.{}.128.0/17", self.second)
    }

    /// The node's own address on its pods' network, their way out; `number`
    /// counts from 1.
    pub fn pod_gateway(self, number: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, self.second, 128 + number, 1)
    }

    /// A node's range of Pod addresses; `number` counts from 1.
    pub fn pods(self, number: u8) -> String {
        format!("10.{}.{}.0/24", self.second, 128 + number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(name: &str) -> AddressPlan {
        AddressPlan::of(&ClusterName::parse(name).expect("should parse"))
    }

    #[test]
    fn the_plan_follows_from_the_name_alone() {
        assert_eq!(plan("ci"), plan("ci"));
        assert_ne!(plan("ci").services(), plan("palladion").services());
    }

    #[test]
    fn every_node_has_its_own_address_and_pod_range() {
        let plan = plan("palladion");
        let mut seen = std::collections::BTreeSet::new();
        for number in 1..=MOST_NODES {
            assert!(seen.insert(plan.node(number).to_string()));
            assert!(seen.insert(plan.pods(number)));
        }
        assert!(!seen.contains(&plan.control_plane().to_string()));
    }

    #[test]
    fn well_known_services_lie_in_the_service_range() {
        let plan = plan("x");
        let [a, b, ..] = plan.dns_service().octets();
        assert_eq!(plan.services(), format!("{a}.{b}.0.0/18"));
        assert_eq!(plan.dns_service().octets()[2..], [0, 10]);
        assert_eq!(plan.kubernetes_service().octets()[2..], [0, 1]);
        assert!(plan.is_service(plan.dns_service()));
        assert!(!plan.is_service(plan.node(1)) && !plan.is_service(plan.pod_gateway(1)));
    }
}
