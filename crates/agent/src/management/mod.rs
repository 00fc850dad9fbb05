//! What the agent and its server's management interface agree on before they
//! talk: which MBeans there are, who the agent is, and where it comes from.

pub mod beans;

use serde::{Deserialize, Serialize};

/// The only origin that the policy allows: no page in a browser can be it.
pub const ORIGIN: &str = "palladion-agent://member";

/// Who we are for Jolokia; made anew at each start of the server.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Credentials {
    /// User.
    pub user: String,
    /// Password.
    pub password: String,
}

impl Credentials {
    /// Random ones.
    pub fn random() -> Self {
        let word = || uuid::Uuid::new_v4().simple().to_string();
        Self { user: word(), password: format!("{}{}", word(), word()) }
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials(hidden)")
    }
}
