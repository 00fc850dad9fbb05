//! How a line may go on: kubectl and shells ask, with the line as far as it is
//! typed. Verbs and flags come from the command line itself, names from
//! [`crate::candidates`].

use crate::arguments::Arguments;
use crate::clean::line;
use crate::run::{Name, command};
use clap::CommandFactory;
use clap_complete::env::CompleteEnv;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// kubectl's word for: add no blank of your own, and no files.
const NO_FILES: &str = ":4";

/// Answer a shell that asks by the environment (`COMPLETE=bash`), and end.
/// Returns if none asks.
pub fn for_a_shell(called: Name) {
    let bin = match called {
        Name::Palladion => "palladion",
        Name::Kubectl | Name::KubectlComplete => "kubectl-palladion",
    };
    CompleteEnv::with_factory(Arguments::command).bin(bin).complete();
}

/// Answer kubectl, which gives the words of the line after `palladion`.
pub fn for_kubectl() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let last = words.len().saturating_sub(1).max(1);
    let candidates =
        clap_complete::engine::complete(&mut command(Name::Kubectl), words, last, None);
    let mut text = String::new();
    for candidate in candidates.unwrap_or_default() {
        text.push_str(&line(&candidate.get_value().to_string_lossy()));
        if let Some(help) = candidate.get_help() {
            text.push('\t');
            text.push_str(&line(&help.to_string()));
        }
        text.push('\n');
    }
    // A shell that has gone wants no answer.
    let _ = writeln!(std::io::stdout(), "{text}{NO_FILES}");
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_and_reasons_are_offered() {
        let complete = |text: &str| {
            let words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
            let last = words.len() - 1;
            let found =
                clap_complete::engine::complete(&mut command(Name::Kubectl), words, last, None);
            let names = found.unwrap_or_default();
            names.iter().map(|c| c.get_value().to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(complete("kubectl-palladion stat"), ["status"]);
        assert_eq!(complete("kubectl-palladion task ab"), ["abort"]);
        assert_eq!(complete("kubectl-palladion explain DataToo"), ["DataTooOld"]);
    }
}
