//! Feature flags: read, and the stable ones enabled one by one.

use super::{Done, Hands};
use crate::read::Flag;
use crate::wire::ctl::{Input, Program};
use crate::words::job::{Doing, Done as Words, NotSo};
use anyhow::{Context, Result, bail};
use palladion_api::words::Names;
use std::time::Duration;

/// To enable one may rewrite tables on all nodes.
const FLAG_TIME: Duration = Duration::from_secs(300);

impl Hands {
    /// All feature flags.
    ///
    /// # Errors
    /// They cannot be read.
    pub async fn flags(&self) -> Result<Vec<Flag>> {
        let columns = ["list_feature_flags", "name", "state", "stability", "provided_by"];
        self.ctl.read(&columns).await.context(Doing::ReadFlags)
    }

    /// Enable all stable ones, and never an experimental one.
    pub(super) async fn enable_feature_flags(&self) -> Result<Done> {
        for flag in self.flags().await?.iter().filter(|flag| flag.is_due()) {
            let arguments = ["enable_feature_flag", &flag.name];
            let enabled = self.ctl.call(Program::Ctl, &arguments, Input::None, FLAG_TIME).await;
            enabled.with_context(|| Doing::EnableFlag { name: flag.name.clone() })?;
        }
        let flags = self.flags().await?;
        let left: Vec<&str> =
            flags.iter().filter(|flag| flag.is_due()).map(|flag| flag.name.as_str()).collect();
        match left.is_empty() {
            true => Ok(Done::of(Words::FlagsEnabled)),
            false => bail!(NotSo::FlagsDisabled { flags: Names::of(left) }),
        }
    }
}
