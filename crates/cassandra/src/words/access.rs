//! Agents that cannot log in to their servers.

use palladion_api::ids::MemberName;

palladion_plan::sentences! {
    /// What needs a person.
    pub enum Problem {
        Missing { member: MemberName, secret: String } => CredentialsMissing,
            "the server of member {member} requires a user name and a password, but Secret {secret} does not exist or lacks `username` or `password`. Create or complete the Secret. If the ring has no roles yet, restart one member afterwards to create them";
        Refused { member: MemberName, secret: String, why: String } => CredentialsRefused,
            "the server of member {member} rejects the user name and password from Secret {secret}: {why}. Correct the Secret, or log in as a superuser and create the role or change its password. If the ring has no roles yet, restart one member to create them";
        DefaultUserOpen { member: MemberName, agents: String, superuser: String } => DefaultUserOpen,
            "anybody can log in to the server of member {member} as superuser `cassandra` with the password `cassandra`. The agents do not close this user because Secret {agents} or Secret {superuser} names it. Name another user in both, and the agents create it and close `cassandra`; or keep it and change its password now";
        Unanswered { member: MemberName, why: String } => NoProgress,
            "the agent of member {member} cannot log in to its server over CQL: {why}; until it can, the operator may be unable to update the replication of the system keyspaces";
        Certificate { member: MemberName, secret: String, why: String } => CertificateRefused,
            "the agent of member {member} cannot verify the certificate of its server against `ca.crt` in Secret {secret}: {why}; make sure that `ca.crt` contains the CA certificate that signed the server certificate, and that the server certificate has not expired";
        SignedCertificate { member: MemberName, why: String } => CertificateRefused,
            "the agent of member {member} cannot verify the certificate of its server, which the operator signed: {why}; the server reads a new one within ten minutes, so restart the member if this lasts";
    }
}
