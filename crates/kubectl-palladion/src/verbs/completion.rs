//! `completion`: the script that a shell reads. Needs no connection.

use crate::exit::{Exit, Trouble};
use crate::session::Session;
use clap::{Args, ValueEnum};
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Zsh};

/// The variable by which a shell asks for the words that may follow.
const VARIABLE: &str = "COMPLETE";

/// See the module.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion completion bash\n\nFor this shell, now: source <(palladion completion bash). kubectl itself completes `kubectl palladion` if kubectl_complete-palladion is in the PATH."
)]
pub struct Completion {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Shells that can ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shell {
    /// Bash
    Bash,
    /// Elvish
    Elvish,
    /// Fish
    Fish,
    /// PowerShell
    Powershell,
    /// Zsh
    Zsh,
}

impl Completion {
    /// Run the verb.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let completer: &dyn EnvCompleter = match self.shell {
            Shell::Bash => &Bash,
            Shell::Elvish => &Elvish,
            Shell::Fish => &Fish,
            Shell::Powershell => &Powershell,
            Shell::Zsh => &Zsh,
        };
        for name in ["palladion", "kubectl-palladion"] {
            let mut script = Vec::new();
            completer.write_registration(VARIABLE, name, name, name, &mut script)?;
            session.out.write_all(&script)?;
        }
        Ok(Exit::Done)
    }
}
