//! Under which address clients find the server that is started. What a server announces holds
//! until its next start, so nothing of it is asked of one that runs (safety rule 7.22).

use crate::render::Clients;
use crate::words::start::Waiting;
use palladion_api::cluster::ClientAddresses;
use palladion_api::member::CassandraMemberSpec;

/// The address that the configuration asks for. That of a load balancer is in the spec, and so
/// also in the one beside the ledger: a member that has started once comes back with it.
///
/// # Errors
/// The load balancer has no address yet: under another one nobody would find the server whom the
/// spec wants to find it.
pub fn address(
    asked: Option<ClientAddresses>,
    spec: &CassandraMemberSpec,
) -> Result<Clients, Waiting> {
    match asked {
        None | Some(ClientAddresses::ServiceClusterIp) => Ok(Clients::AsMembers),
        Some(ClientAddresses::PodIp) => Ok(Clients::OfPod),
        Some(ClientAddresses::LoadBalancer) => {
            spec.client_address.clone().map(Clients::At).ok_or(Waiting::NoClientAddress)
        }
    }
}
