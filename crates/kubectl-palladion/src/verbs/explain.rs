//! `explain`: the catalogue of reasons. Needs no connection.

use crate::exit::{Exit, Trouble};
use crate::format::{PlainOutput, print};
use crate::session::Session;
use crate::table::Table;
use crate::words::trouble::{Hint, Said};
use clap::Args;
use clap_complete::engine::ArgValueCandidates;
use palladion_api::reasons::Reason;
use palladion_api::words::Quoted;
use serde_json::{Value, json};

/// See the module.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion explain DataTooOld\n\nWithout REASON: all of them."
)]
pub struct Explain {
    /// A reason, as in conditions, waits and events
    #[arg(add = ArgValueCandidates::new(crate::candidates::reasons))]
    reason: Option<String>,
    #[command(flatten)]
    output: PlainOutput,
}

impl Explain {
    /// Run the verb.
    ///
    /// # Errors
    /// There is no such reason.
    pub fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let format = self.output.output.into();
        let Some(name) = &self.reason else {
            let all: Vec<Value> = Reason::ALL.iter().map(|r| data(*r)).collect();
            let mut table = Table::new(&["REASON", "MEANING"]);
            for reason in Reason::ALL {
                table.row(vec![reason.as_str().into(), reason.meaning().into()]);
            }
            let paint = session.paint;
            print(session, format, &json!({ "items": all }), || table.lines(paint))?;
            return Ok(Exit::Done);
        };
        let found = Reason::ALL.iter().find(|r| r.as_str().eq_ignore_ascii_case(name));
        let Some(reason) = found else {
            let said = Said::NoReason { name: Quoted(name.clone()) };
            return Err(Trouble::new(Exit::NotFound, said).hint(Hint::AllReasons));
        };
        print(session, format, &data(*reason), || {
            vec![
                reason.as_str().to_string(),
                format!("means  {}", reason.meaning()),
                format!("next   {}", reason.next_step()),
            ]
        })?;
        Ok(Exit::Done)
    }
}

fn data(reason: Reason) -> Value {
    json!({
        "reason": reason.as_str(),
        "meaning": reason.meaning(),
        "next": reason.next_step(),
    })
}
