//! Who may connect to the members of a ring.

use super::ring;
use crate::words::refusal::{PeerField, Refusal};
use k8s_openapi::api::networking::v1::{IPBlock, NetworkPolicyPeer};
use palladion_api::cluster::{CassandraClusterSpec, ClientAddresses, Mode, PolicyMode};
use palladion_plan::words::Quoted;
use std::net::IpAddr;

/// Who may connect where. An empty list is everybody.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValidNetwork {
    /// To the port for clients.
    pub clients: Vec<NetworkPolicyPeer>,
    /// To the ports with metrics.
    pub metrics: Vec<NetworkPolicyPeer>,
    /// To the port for members, beside those of this datacenter: nobody, where it is empty.
    pub members: Vec<NetworkPolicyPeer>,
}

/// Under which addresses clients find members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ValidClients {
    /// Those of their Services, as members do.
    #[default]
    ServiceClusterIp,
    /// Those of their pods.
    PodIp,
    /// Those of load balancers, which let these ranges in.
    LoadBalancer {
        /// At least one.
        source_ranges: Vec<String>,
    },
}

/// What servers are told of it: nothing, where they announce what they always did.
pub fn announced(spec: &CassandraClusterSpec) -> Option<ClientAddresses> {
    let broadcast = spec.network.as_ref()?.broadcast.as_ref()?;
    Some(broadcast.clients).filter(|clients| *clients != ClientAddresses::ServiceClusterIp)
}

/// As the spec says.
///
/// # Errors
/// What admission refuses, too, and ranges that are none, which it cannot read.
pub fn clients(spec: &CassandraClusterSpec) -> Result<ValidClients, Refusal> {
    let Some(broadcast) = spec.network.as_ref().and_then(|network| network.broadcast.as_ref())
    else {
        return Ok(ValidClients::default());
    };
    let ranges = &broadcast.source_ranges;
    if (broadcast.clients == ClientAddresses::LoadBalancer) == ranges.is_empty() {
        return Err(Refusal::RangesAndLoadBalancers);
    }
    if let Some(text) = ranges.iter().find(|range| Range::read(range).is_none()) {
        return Err(Refusal::SourceRange { text: Quoted(text.clone()) });
    }
    Ok(match broadcast.clients {
        ClientAddresses::ServiceClusterIp => ValidClients::ServiceClusterIp,
        ClientAddresses::PodIp => ValidClients::PodIp,
        ClientAddresses::LoadBalancer => {
            ValidClients::LoadBalancer { source_ranges: ranges.clone() }
        }
    })
}

/// As the spec says; `None` where the operator keeps no policy.
///
/// # Errors
/// What admission refuses, too, and addresses that are none, which it cannot read.
pub fn of(spec: &CassandraClusterSpec) -> Result<Option<ValidNetwork>, Refusal> {
    let Some(network) = &spec.network else {
        return Ok(None);
    };
    if spec.mode == Mode::Scylla {
        return Err(Refusal::NetworkOfScylla);
    }
    let (clients, metrics) = (&network.clients_from, &network.metrics_from);
    peers(clients, PeerField::Clients)?;
    peers(metrics, PeerField::Metrics)?;
    match network.policy {
        PolicyMode::None if clients.is_empty() && metrics.is_empty() => Ok(None),
        PolicyMode::None => Err(Refusal::PeersWithoutPolicy),
        PolicyMode::Managed => {
            let members = ring::peers(&spec.external_seeds)?;
            Ok(Some(ValidNetwork { clients: stored(clients), metrics: stored(metrics), members }))
        }
    }
}

fn peers(all: &[NetworkPolicyPeer], field: PeerField) -> Result<(), Refusal> {
    for peer in all {
        let selects = peer.pod_selector.is_some() || peer.namespace_selector.is_some();
        if peer.ip_block.is_some() == selects {
            return Err(Refusal::Peer { field });
        }
        if let Some(text) = peer.ip_block.as_ref().and_then(wrong_block) {
            return Err(Refusal::PeerBlock { field, text: Quoted(text.clone()) });
        }
    }
    Ok(())
}

/// As the API server stores them: without the lists and maps that are empty.
fn stored(all: &[NetworkPolicyPeer]) -> Vec<NetworkPolicyPeer> {
    let mut all = all.to_vec();
    for peer in &mut all {
        for selector in [&mut peer.pod_selector, &mut peer.namespace_selector].into_iter().flatten()
        {
            selector.match_labels.take_if(|labels| labels.is_empty());
            selector.match_expressions.take_if(|all| all.is_empty());
            for expression in selector.match_expressions.iter_mut().flatten() {
                expression.values.take_if(|values| values.is_empty());
            }
        }
        if let Some(block) = &mut peer.ip_block {
            block.except.take_if(|except| except.is_empty());
        }
    }
    all
}

/// The range that is none, or an exception that is not inside of it.
fn wrong_block(block: &IPBlock) -> Option<&String> {
    let Some(whole) = Range::read(&block.cidr) else {
        return Some(&block.cidr);
    };
    let is_inside = |text: &&String| Range::read(text).is_some_and(|part| part.is_inside(&whole));
    block.except.iter().flatten().find(|text| !is_inside(text))
}

/// A range of addresses: one of them, and how many bits all have in common.
struct Range {
    address: IpAddr,
    bits: u32,
}

impl Range {
    fn read(text: &str) -> Option<Self> {
        let (address, bits) = text.split_once('/')?;
        let range = Range { address: address.parse().ok()?, bits: bits.parse().ok()? };
        (range.bits <= range.width()).then_some(range)
    }

    fn width(&self) -> u32 {
        if self.address.is_ipv4() { 32 } else { 128 }
    }

    /// The first so many bits.
    fn beginning(&self, bits: u32) -> u128 {
        let number = match self.address {
            IpAddr::V4(address) => u128::from(address.to_bits()),
            IpAddr::V6(address) => address.to_bits(),
        };
        number.checked_shr(self.width() - bits).unwrap_or_default()
    }

    fn is_inside(&self, whole: &Range) -> bool {
        self.width() == whole.width()
            && self.bits > whole.bits
            && self.beginning(whole.bits) == whole.beginning(whole.bits)
    }
}
