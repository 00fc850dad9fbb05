//! Under which addresses clients find members: what follows from the spec, the load balancers, and
//! what members announce.

use crate::facts::{Facts, MemberFact};
use crate::validate::{Valid, ValidClients};
use palladion_api::ids::{ClientAddress, MemberName};
use palladion_api::labels;
use palladion_api::member::{KNOWS_CLIENT_ADDRESSES, MemberCertificate, Purpose};

/// Would a server of this member wait for the address that it is to announce?
pub fn lacks_address(valid: &Valid, member: &MemberFact) -> bool {
    match &valid.clients {
        ValidClients::ServiceClusterIp | ValidClients::PodIp => false,
        ValidClients::LoadBalancer { .. } => recorded(member).is_none(),
    }
}

/// The address of its load balancer, as it is on record.
pub fn recorded(member: &MemberFact) -> Option<&ClientAddress> {
    member.spec.as_ref()?.client_address.as_ref()
}

/// What its server announced when its agent reported last, where that is not its static address.
pub fn announced(member: &MemberFact) -> Option<&ClientAddress> {
    member.status.server.as_ref()?.client_address.as_ref()
}

/// The recorded address, where the server that runs announces another one: its load balancer
/// has got another one since.
pub fn to_announce<'a>(valid: &Valid, member: &'a MemberFact) -> Option<&'a ClientAddress> {
    match &valid.clients {
        ValidClients::ServiceClusterIp | ValidClients::PodIp => None,
        ValidClients::LoadBalancer { .. } => {
            let announced = member.reported_server()?.client_address.as_ref()?;
            recorded(member).filter(|recorded| *recorded != announced)
        }
    }
}

/// An agent that knows the static address alone, of the image that new pods would get: they could
/// not read what their servers are to be started with.
pub fn too_old(facts: &Facts<'_>, valid: &Valid) -> Option<(MemberName, String)> {
    match &valid.clients {
        ValidClients::ServiceClusterIp => return None,
        ValidClients::PodIp | ValidClients::LoadBalancer { .. } => {}
    }
    facts.members.values().filter(|member| member.agent_speaks()).find_map(|member| {
        let image = member.pod.as_ref()?.annotations.get(labels::AGENT_IMAGE)?;
        let agent = member.status.agent.as_ref()?;
        let is_old = agent.protocol < KNOWS_CLIENT_ADDRESSES;
        let stays = image == valid.agent_image.reference();
        (is_old && stays).then(|| (member.name.clone(), agent.version.clone()))
    })
}

/// What a certificate for clients names besides the static address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// The addresses.
    pub addresses: Vec<ClientAddress>,
    /// Is one of them that of a pod for which nothing was signed yet? There is one for each pod,
    /// so it is signed at once.
    pub of_new_pod: bool,
}

/// Names of the certificate of a member, from what is on record and what Kubernetes has. What its
/// agent reports adds none: it only keeps one that was signed before, as long as the server
/// announces it.
pub fn named(
    valid: &Valid,
    member: &MemberFact,
    order: &MemberCertificate,
    purpose: Purpose,
) -> Named {
    let now = match (purpose, &valid.clients) {
        (Purpose::Internode, _) => return Named::default(),
        (Purpose::Client, ValidClients::ServiceClusterIp) => None,
        (Purpose::Client, ValidClients::PodIp) => of_pod(member),
        (Purpose::Client, ValidClients::LoadBalancer { .. }) => recorded(member).cloned(),
    };
    let of_new_pod = valid.clients == ValidClients::PodIp
        && now.as_ref().is_some_and(|now| !order.client_addresses.contains(now));
    let announced = announced(member).filter(|address| order.client_addresses.contains(address));
    let announced = announced.filter(|address| now.as_ref() != Some(*address)).cloned();
    Named { addresses: now.into_iter().chain(announced).collect(), of_new_pod }
}

/// The address of its pod.
pub fn of_pod(member: &MemberFact) -> Option<ClientAddress> {
    let address = member.pod.as_ref()?.address.as_deref()?;
    ClientAddress::parse(address).ok()
}
