//! Agents that cannot log in to their servers.

use palladion_api::ids::MemberName;

palladion_plan::sentences! {
    /// What needs a person.
    pub enum Problem {
        Missing { member: MemberName, secret: String } => CredentialsMissing,
            "the server of member {member} requires a user name and a password, but Secret {secret} does not exist or lacks `username` or `password`; create or complete the Secret; if the ring has no roles yet, then restart one member so that they are created";
        Refused { member: MemberName, secret: String, why: String } => CredentialsRefused,
            "the server of member {member} rejects the user name and password in Secret {secret}: {why}; correct the Secret, or create the role as a superuser; if the ring has no roles yet, restart one member so that they are created";
        Unanswered { member: MemberName, why: String } => NoProgress,
            "the server of member {member} does not answer its agent over CQL: {why}; until it does, the operator cannot keep the replication of the system keyspaces up to date";
        Certificate { member: MemberName, secret: String, why: String } => CertificateRefused,
            "the agent of member {member} cannot verify the certificate of its server against `ca.crt` in Secret {secret}: {why}; correct the Secret";
    }
}
