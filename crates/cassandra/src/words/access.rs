//! Agents that cannot log in to their servers.

use palladion_api::ids::MemberName;

palladion_plan::sentences! {
    /// What needs a person.
    pub enum Problem {
        Missing { member: MemberName, secret: String } => CredentialsMissing,
            "the server of member {member} asks for a user and a password, and Secret {secret} does not exist or lacks `username` or `password`; create it";
        Refused { member: MemberName, secret: String, why: String } => CredentialsRefused,
            "the server of member {member} rejects the user and password of Secret {secret}: {why}; create the role as a superuser, or correct the Secret";
        Certificate { member: MemberName, secret: String, why: String } => CertificateRefused,
            "the agent of member {member} cannot check the certificate of its server with `ca.crt` of Secret {secret}: {why}; correct the Secret";
    }
}
