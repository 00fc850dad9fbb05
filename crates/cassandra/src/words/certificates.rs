//! Certificates that the operator signs.

use jiff::Timestamp;
use palladion_api::cluster::InternodeTlsMode;
use palladion_api::ids::{ClientAddress, MemberName};
use palladion_plan::words::Names;

palladion_plan::sentences! {
    /// What is waited for.
    pub enum Waiting {
        BeforeRestart { member: MemberName } => WaitingForCertificate,
            "member {member} is not restarted with TLS yet: its certificate is not on its volume";
        BeforeAddress { member: MemberName, address: ClientAddress } => WaitingForCertificate,
            "member {member} is not restarted to announce {address} to clients yet: the certificate on its volume does not name that address; a member gets at most one certificate in ten minutes";
        /// The next step of TLS between members.
        NextStep { now: InternodeTlsMode, wanted: InternodeTlsMode, member: MemberName } => InternodeTlsChanging,
            "TLS between members is at `{now:?}` on the way to `{wanted:?}`; the next step waits until member {member} is ready";
        ForTrust { member: MemberName } => WaitingForCertificate,
            "certificates for traffic between members are not signed until the server of member {member} trusts the new certificate authority, which takes up to 11 minutes";
        Step { now: InternodeTlsMode, wanted: InternodeTlsMode } => InternodeTlsChanging,
            "TLS between members is at `{now:?}` on the way to `{wanted:?}`; each step restarts the members one after the other";
    }

    /// What needs a person.
    pub enum Problem {
        PoliciesOff => SigningOff,
            "the operator signs no certificates, because the admission policies that protect the requests of members are switched off. Set the chart values `policies.status` and `policies.members` to true, or set `tls.client.mode` and `tls.internode.mode` to `Off`; for clients, `tls.client.certificates.secretName` does as well";
        OldAgent { member: MemberName, agent: String } => AgentTooOld,
            "the agent of member {member} (version {agent}) cannot ask for a certificate; it is replaced when the member restarts, unless `spec.sidecarImage` names an older version: then change it";
        NotYetValid { member: MemberName, node: String, why: String } => CertificateUnusable,
            "member {member} was given a certificate that is not valid yet by the clock of Node {node}: {why}. Correct the clock; where the member has no other valid certificate, it takes this one within a few minutes in any case";
        Expired { member: MemberName, node: String, why: String } => CertificateUnusable,
            "the certificate of member {member} has expired by the clock of Node {node}: {why}. If that clock is right, the operator has not signed in time: look at its log. Otherwise correct the clock";
        Refused { member: MemberName, why: String } => CertificateUnusable,
            "member {member} refuses the certificate that the operator signed: {why}. To have the agent ask again, delete the pod of the member";
        NotStored { member: MemberName, why: String } => CertificateUnusable,
            "member {member} cannot store its key or its certificate: {why}. Free space on its volume, or make it writable";
    }

    /// Certificates that run out.
    pub enum Expiring {
        Soon { members: Names, first: MemberName, end: Timestamp, unsigned: Unsigned } => CertificateExpiring,
            "the operator has not renewed the certificates that these members present to clients: {members}. That of {first} expires at {end}; from then on, clients that verify it cannot connect. {unsigned}";
        Over { members: Names, first: MemberName, end: Timestamp, unsigned: Unsigned } => CertificateExpiring,
            "the operator has not renewed the certificates that these members present to clients: {members}. That of {first} expired at {end}, so clients that verify it cannot connect. {unsigned}";
        InternodeSoon { members: Names, first: MemberName, end: Timestamp, unsigned: Unsigned } => CertificateExpiring,
            "the operator has not renewed the certificates that these members present to other members: {members}. That of {first} expires at {end}; from then on, members refuse its new connections. {unsigned}";
        InternodeOver { members: Names, first: MemberName, end: Timestamp, unsigned: Unsigned } => CertificateExpiring,
            "the operator has not renewed the certificates that these members present to other members: {members}. That of {first} expired at {end}, so members refuse its new connections. {unsigned}";
    }

    /// What keeps the operator from signing, and what to do.
    pub enum Unsigned {
        Paused => "Nothing is signed while the cluster is paused: set `spec.paused` to false, at least for some minutes";
        PausedEverywhere => "Nothing is signed while the operator is paused: set `paused` in the OperatorConfig `default` to false, at least for some minutes";
        NotAccepted => "Nothing is signed while the spec is not valid: correct what the condition `Accepted` names";
        PoliciesOff => "Set the chart values `policies.status` and `policies.members` to true";
        /// It tries, or its agent does not ask.
        Other => "Look at the log of the operator, and at `status.tls` of these CassandraMembers";
    }

    /// Events.
    pub enum Happened {
        AuthorityMade { authority: String } => Synced,
            "Certificate authority {authority} of this ring was created";
    }

    /// Steps.
    pub enum Doing {
        MakeAuthority { authority: String } => "create certificate authority {authority} of the ring";
        DropAuthorities => "drop the certificate authorities that have expired";
        Order { member: MemberName } => "order a certificate for member {member}";
        Sign { member: MemberName } => "sign the certificate of member {member}";
        OrderInternode { member: MemberName } => "order a certificate for member {member} to speak to other members with";
        SignInternode { member: MemberName } => "sign the certificate that member {member} speaks to other members with";
    }
}
