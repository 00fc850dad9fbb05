//! Addresses under which clients find members.

use palladion_api::ids::{ClientAddress, MemberName};

palladion_plan::sentences! {
    /// What is waited for.
    pub enum Waiting {
        Address { member: MemberName, namespace: String, service: String } => WaitingForAddress,
            "member {member} is to announce the address of its load balancer to clients, but Service {service} has none yet; until it has, the member is neither started nor restarted for it. Run `kubectl describe -n {namespace} service {service}` to see the events of the controller of load balancers";
        NoAddressNow { member: MemberName, namespace: String, service: String, address: ClientAddress } => WaitingForAddress,
            "Service {service} has no address any more; member {member} announces {address} to clients, who may not reach it there. Run `kubectl describe -n {namespace} service {service}` to see the events of the controller of load balancers";
    }

    /// What needs a person.
    pub enum Problem {
        IsAName { member: MemberName, service: String, name: String } => AddressIsAName,
            "the load balancer of member {member} (Service {service}) has the name {name} and no address, but a server can only announce an address to clients; have the controller of load balancers give one, or set `network.broadcast.clients` to another value";
        AgentTooOld { member: MemberName, agent: String } => AgentTooOld,
            "`network.broadcast.clients` is not carried out: the agent of member {member} (version {agent}), whose image new pods would get, can announce the ClusterIP only; let `sidecarImage` name an agent of this release, or leave it out";
    }

    /// Events.
    pub enum Happened {
        Changed { member: MemberName, before: ClientAddress, now: ClientAddress } => Synced,
            "The load balancer of member {member} has address {now} instead of {before}; the member restarts to announce it to clients";
        Deleted { service: String } => Synced,
            "Service {service} was deleted: no member announces its address to clients";
    }

    /// Steps.
    pub enum Doing {
        Record { member: MemberName, address: ClientAddress } =>
            "record that member {member} announces {address} to clients";
        Forget { member: MemberName } =>
            "record that member {member} announces no load balancer to clients";
        Delete { service: String } => "delete Service {service}";
    }
}
