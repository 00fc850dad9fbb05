//! `version`: of this tool, of the operator, and of Kubernetes.

use crate::exit::{Exit, Trouble};
use crate::format::{PlainOutput, print};
use crate::place::Anywhere;
use crate::read::text;
use crate::session::Session;
use crate::words::trouble::{Hint, Said};
use clap::Args;
use serde_json::json;
use std::collections::BTreeSet;

/// Version of this tool.
pub const MINE: &str = env!("CARGO_PKG_VERSION");

/// The operator's is the one that the rings here have on record.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kubectl palladion version --client")]
pub struct Version {
    /// Only that of this tool; needs no connection
    #[arg(long)]
    client: bool,
    #[command(flatten)]
    output: PlainOutput,
    #[command(flatten)]
    at: Anywhere,
}

impl Version {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let format = self.output.output.into();
        if self.client {
            let data = json!({ "client": MINE });
            print(session, format, &data, || vec![format!("client      {MINE}")])?;
            return Ok(Exit::Done);
        }
        let place = self.at.open(session).await?;
        let server = place.door.server_version().await.map_err(|error| {
            let (attempt, answer) = ("get the version of Kubernetes".into(), error.to_string());
            Trouble::new(Exit::NoConnection, Said::Failed { attempt, answer })
                .hint(Hint::Connection)
        })?;
        let rings = place.door.list(&place.rings_selection()).await?;
        let operators: BTreeSet<String> = rings
            .iter()
            .map(|ring| text(ring, "/status/decidedWith/version"))
            .filter(|version| !version.is_empty())
            .collect();
        let data = json!({ "client": MINE, "operator": operators, "kubernetes": server });
        print(session, format, &data, || {
            let operators: Vec<String> = operators.iter().cloned().collect();
            let operator = match operators.join(", ") {
                none if none.is_empty() => "not on record in any ring here".to_string(),
                some => some,
            };
            vec![
                format!("client      {MINE}"),
                format!("operator    {operator}"),
                format!("kubernetes  {server}"),
            ]
        })?;
        Ok(Exit::Done)
    }
}
