//! Whether an agent may speak CQL with its own server. Written by that agent alone.

use serde::{Deserialize, Serialize};

/// What keeps an agent from logging in to its server over CQL.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct AccessProblem {
    /// What it is.
    pub kind: AccessProblemKind,
    /// The server's words, or the cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Kinds of [`AccessProblem`].
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessProblemKind {
    /// The server asks for a user and a password, and no Secret with both is mounted.
    CredentialsMissing,
    /// The server rejects user and password of the Secret.
    CredentialsRefused,
    /// The server's certificate is not one of the authorities that the agent was given.
    CertificateRefused,
    /// The server serves and has not answered for a minute whether it accepts the agent.
    Unanswered,
    /// The agent is in, and so is anybody: the user `cassandra` has its known password, and is not closed because a Secret names it.
    DefaultUserOpen,
    /// The agent has not logged in since the server started; nothing is known to be wrong.
    Pending,
    /// The server is sealed, and its agent has done what it can there: the server is to be restarted for clients.
    Sealed,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}
