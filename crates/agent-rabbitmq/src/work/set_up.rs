//! Setting up a new cluster, of one node that is closed for clients: its virtual host, its
//! users, its definitions.

use super::Hands;
use super::definitions::Definitions;
use super::node::Application;
use crate::words::job::{Doing, NotSo};
use anyhow::{Context, Result, bail};

impl Hands {
    /// Set it up.
    pub(super) async fn set_up(&self) -> Result<()> {
        if self.booted().await?.app != Application::Running {
            bail!(NotSo::NotStarted);
        }
        let vhost = &self.mounted.config.vhost;
        self.make_vhost(vhost).await?;
        self.make_agent_user().await?;
        self.make_service_user(vhost).await?;
        if let Some(definitions) = self.first_definitions()? {
            // Definitions may have parameters, policies and types of exchanges that only a
            // plugin knows. Its listener opens with it: nobody is led to a pod that is not ready.
            self.enable_plugins().await?;
            self.import(&definitions).await.context(Doing::SetUpDefinitions)?;
        }
        // Last: until here it is the only one that may do anything.
        self.delete_guest().await
    }

    fn first_definitions(&self) -> Result<Option<Definitions>> {
        self.found_definitions().context(Doing::SetUpDefinitions)
    }
}
