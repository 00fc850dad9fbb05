//! Opening a node for clients as it runs: its plugins and its listeners, as the
//! configuration for its next start has them.

use super::Hands;
use crate::decide::Doors;
use crate::launch::conf::plugins;
use crate::wire::ctl::{Input, Program};
use crate::words::job::{Doing, NotSo};
use anyhow::{Context, Result, bail};
use std::time::Duration;

/// A plugin may bring in tables and listeners of its own.
const PLUGIN_TIME: Duration = Duration::from_secs(180);
/// Connections that wait to be taken, as RabbitMQ has it by default.
const ACCEPTORS: u32 = 10;

impl Hands {
    /// Enable the plugins, and start the listeners.
    pub(super) async fn open(&self) -> Result<()> {
        let config = &self.mounted.config;
        self.enable_plugins().await?;
        if !self.management.overview().await?.is_open() {
            let port = config.ports.amqp;
            let start = format!("rabbit_networking:start_tcp_listener({port}, {ACCEPTORS}).");
            self.eval(&start).await.context(Doing::Open)?;
        }
        match self.management.overview().await?.is_open() {
            true => Ok(()),
            false => bail!(NotSo::NotOpen),
        }
    }

    /// Enable all plugins of the configuration.
    pub(super) async fn enable_plugins(&self) -> Result<()> {
        let all = plugins(&self.mounted.config, Doors::Open)?;
        // `set` changes the file of the plugins, too: as it is at the next start.
        let arguments: Vec<&str> = ["set"].into_iter().chain(all).collect();
        let enabled = self.ctl.call(Program::Plugins, &arguments, Input::None, PLUGIN_TIME);
        enabled.await.context(Doing::EnablePlugins)?;
        Ok(())
    }
}
