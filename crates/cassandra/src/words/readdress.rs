//! Members that come back under another address.

use super::evidence::Objection;
use super::members::Server;
use palladion_api::ids::{HostId, MemberName, StaticAddress};
use palladion_plan::words::Names;
use palladion_plan::workload::words::MemberPod;

palladion_plan::sentences! {
    /// What a member with another address waits for.
    pub enum Waiting {
        ForPod { member: MemberName, pod: MemberPod } => AddressChanged,
            "member {member} cannot start under its new address yet: {pod}";
        SeenUp { member: MemberName, address: StaticAddress, by: Names } => AddressChanged,
            "member {member} cannot start under its new address {address} yet: {by} still see it as up";
        StillKnown { member: MemberName, address: StaticAddress, witness: MemberName, other: MemberName } => AddressChanged,
            "member {member} cannot start under its new address {address} yet: member {witness} still knows member {other} under it";
        Runs { member: MemberName, address: StaticAddress, why: Objection } => AddressChanged,
            "the server of member {member} runs under address {address}, which leads nowhere, and cannot restart yet: {why}; delete the pod of the member to restart it anyway";
        ClaimGoes { member: MemberName } => ClaimTerminating,
            "the server of member {member} cannot restart under its new address: its PersistentVolumeClaim is being deleted, and would go with the pod";
        Starts { member: MemberName, address: StaticAddress, server: Server } => AddressChanged,
            "member {member} is starting under its new address {address}: {server}";
        OthersStart { member: MemberName, other: MemberName, server: Server } => AddressChanged,
            "member {member} cannot start under its new address before another member is up; member {other}: {server}";
        OthersNotHeard { member: MemberName, other: MemberName, server: Server } => AddressChanged,
            "member {member} cannot start under its new address yet, because the server of member {other} may be running: {server}; if the machine of that member is gone for good, delete its Node";
    }

    /// What needs a person.
    pub enum Problem {
        NobodyUp {
            member: MemberName,
            before: StaticAddress,
            now: StaticAddress,
            namespace: String,
            cluster: String,
            annotation: &'static str,
        } => AddressChanged,
            "the address of member {member} has changed from {before} to {now}, and no other member is up to confirm that it is down; if no server of this ring is running anywhere, run `kubectl annotate -n {namespace} cassandracluster {cluster} --overwrite {annotation}={before}`";
        InUse { member: MemberName, address: StaticAddress, other: MemberName } => AddressChanged,
            "the Service of member {member} has ClusterIP {address}, under which the ring knows member {other}; delete the Service, so that it is recreated with another address";
        Known { member: MemberName, address: StaticAddress, witness: MemberName, host_id: HostId } => AddressChanged,
            "the Service of member {member} has ClusterIP {address}, under which member {witness} still knows host ID {host_id}; delete the Service, so that it is recreated with another address, or remove that host ID from the ring (`nodetool removenode {host_id}`)";
        OldAgent { member: MemberName, version: String } => AddressChanged,
            "member {member} has a new address, but its agent (version {version}) cannot start the server under it; a rollout of the rack upgrades the agent";
        AgentRefused { member: MemberName, why: String } => AddressChanged,
            "the agent of member {member} refused to start the server under its new address: {why}; delete the pod of the member to try again";
    }

    /// Why a change of address ends before its work is done.
    pub enum Ended {
        Marked => "its volume is marked for replacement";
        OtherVolume => "it now has a different volume";
        NotMoved => "its address is the one that the ring knows, or its server is not to start";
        NobodyUp => "no other member is up any more";
        NoPod => "its pod has not come back in time";
        ClaimGoes => "its PersistentVolumeClaim is being deleted";
        InUse { other: MemberName } => "the ring knows member {other} under its new address";
        Forbidden { why: Objection } => "{why}";
        Refused { why: String } => "its agent refused to start the server: {why}";
        ByItself => "its server starts under the new address without a permit from now on";
    }

    /// Events.
    pub enum Happened {
        Readdressed { member: MemberName, before: StaticAddress, now: StaticAddress } => Synced,
            "Member {member} is back under address {now} (before: {before})";
    }

    /// Steps.
    pub enum Doing {
        Start { member: MemberName } => "begin the change of address of member {member}";
        Record { member: MemberName, address: StaticAddress } =>
            "record the ClusterIP {address} of the Service of member {member}";
        UsedUp { address: StaticAddress } =>
            "remove address {address}, which a member no longer has, from those that a user abandoned";
    }
}
