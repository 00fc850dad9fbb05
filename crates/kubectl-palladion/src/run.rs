//! From the command line to the exit code.

use crate::arguments::{Arguments, Verb};
use crate::clean::{self, line};
use crate::exit::{Exit, Trouble};
use crate::paint::{Colour, Paint, Tone};
use crate::place::At;
use crate::session::{Answers, Session};
use crate::verbs::pause;
use crate::verbs::repair::Repair;
use crate::verbs::schedule::{Schedule, suspend};
use crate::verbs::task::Task;
use clap::{CommandFactory, FromArgMatches};
use jiff::Timestamp;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

/// The names under which this program is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// `kubectl-palladion`: by kubectl, or by its own name.
    Kubectl,
    /// `palladion`.
    Palladion,
    /// `kubectl_complete-palladion`: kubectl asks how a line may go on.
    KubectlComplete,
}

impl Name {
    /// By the first word of the command line.
    pub fn of_this_program() -> Self {
        let first = std::env::args_os().next().unwrap_or_default();
        Self::of(Path::new(&first))
    }

    fn of(program: &Path) -> Self {
        match program.file_stem().and_then(|name| name.to_str()) {
            Some("palladion") => Name::Palladion,
            Some("kubectl_complete-palladion") => Name::KubectlComplete,
            Some(_) | None => Name::Kubectl,
        }
    }

    /// As people type it.
    pub fn typed(self) -> &'static str {
        match self {
            Name::Palladion => "palladion",
            Name::Kubectl | Name::KubectlComplete => "kubectl palladion",
        }
    }
}

/// The command line as it is parsed and documented.
pub fn command(called: Name) -> clap::Command {
    Arguments::command().bin_name(called.typed())
}

/// Run as a program.
pub fn main(called: Name) -> ExitCode {
    let matches = match command(called).try_get_matches() {
        Ok(matches) => matches,
        // Help and version are answers, not errors.
        Err(error) => {
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Done };
            let _ = error.print();
            return exit.into();
        }
    };
    let arguments = match Arguments::from_arg_matches(&matches) {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return Exit::Usage.into();
        }
    };
    let (mut out, mut notes) = (std::io::stdout(), std::io::stderr());
    let is_asked = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let mut session = Session {
        paint: Paint::of(arguments.color, &std::io::stdout()),
        out: &mut out,
        notes: &mut notes,
        answers: if is_asked { Answers::Terminal } else { Answers::Nobody },
        clock: Timestamp::now,
        door: None,
        at: At::default(),
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let trouble = Trouble::from(error);
            return report(&trouble, &At::default(), arguments.color, &mut std::io::stderr())
                .into();
        }
    };
    let ended = runtime.block_on(run(&arguments.verb, &mut session));
    let at = session.at.clone();
    // What still reads from the terminal is not waited for.
    runtime.shutdown_background();
    match ended {
        Ok(exit) => exit.into(),
        Err(trouble) => report(&trouble, &at, arguments.color, &mut std::io::stderr()).into(),
    }
}

/// Run a verb.
///
/// # Errors
/// What was tried, why it failed, and the exit code.
pub async fn run(verb: &Verb, session: &mut Session<'_>) -> Result<Exit, Trouble> {
    match verb {
        Verb::Status(verb) => verb.run(session).await,
        Verb::Ring(verb) => verb.run(session).await,
        Verb::Members(verb) => verb.run(session).await,
        Verb::Plan(verb) => verb.run(session).await,
        Verb::Contact(verb) => verb.run(session).await,
        Verb::Task(Task::Run(verb)) => verb.run(session).await,
        Verb::Task(Task::List(verb)) => verb.run(session).await,
        Verb::Task(Task::Watch(verb)) => verb.run(session).await,
        Verb::Task(Task::Abort(verb)) => verb.run(session).await,
        Verb::Schedule(Schedule::List(verb)) => verb.run(session).await,
        Verb::Schedule(Schedule::Run(verb)) => verb.run(session).await,
        Verb::Schedule(Schedule::Suspend(verb)) => {
            verb.run(session, suspend::Wanted::Suspended).await
        }
        Verb::Schedule(Schedule::Resume(verb)) => verb.run(session, suspend::Wanted::Resumed).await,
        Verb::Repair(Repair::Status(verb)) => verb.run(session).await,
        Verb::Backup(verb) => verb.run(session),
        Verb::Restart(verb) => verb.run(session).await,
        Verb::Stop(verb) => verb.run(session).await,
        Verb::Start(verb) => verb.run(session).await,
        Verb::Terminate(verb) => verb.run(session).await,
        Verb::Seed(verb) => verb.run(session).await,
        Verb::Replace(verb) => verb.run(session).await,
        Verb::Pause(verb) => verb.run(session, pause::Wanted::Paused).await,
        Verb::Resume(verb) => verb.run(session, pause::Wanted::Resumed).await,
        Verb::Logs(verb) => verb.run(session).await,
        Verb::Cqlsh(verb) => verb.run(session).await,
        Verb::Events(verb) => verb.run(session).await,
        Verb::Explain(verb) => verb.run(session),
        Verb::Completion(verb) => verb.run(session),
        Verb::Version(verb) => verb.run(session).await,
    }
}

/// Say what went wrong; the exit code.
pub fn report(
    trouble: &Trouble,
    at: &At,
    color: Colour,
    to: &mut (impl Write + IsTerminal),
) -> Exit {
    if trouble.is_unread() {
        return trouble.exit;
    }
    let paint = Paint::of(color, to);
    let text = said(trouble, at, paint);
    // Whoever does not read it sees the exit code.
    let _ = writeln!(to, "{text}");
    trouble.exit
}

/// The trouble as it is shown.
pub fn said(trouble: &Trouble, at: &At, paint: Paint) -> String {
    let mut text =
        format!("{} {}", paint.paint(Tone::Bad, "error:"), line(&trouble.said.to_string()));
    if let Some(lines) = &trouble.lines {
        text.push_str("\nneeds these rules:\n");
        text.push_str(&clean::lines(lines.trim_end()));
    }
    if let Some(hint) = &trouble.hint {
        let hint = line(&at.command(hint));
        text.push_str(&format!("\n{} {hint}", paint.paint(Tone::Head, "hint:")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command(Name::Kubectl).debug_assert();
    }

    #[test]
    fn one_program_answers_to_three_names() {
        let of = |path: &str| Name::of(Path::new(path));
        assert_eq!(of("/usr/local/bin/kubectl-palladion"), Name::Kubectl);
        assert_eq!(of("palladion"), Name::Palladion);
        assert_eq!(of("./kubectl_complete-palladion"), Name::KubectlComplete);
    }

    #[test]
    fn every_verb_has_an_example_that_is_a_valid_line() {
        fn leaves(command: &clap::Command, out: &mut Vec<clap::Command>) {
            out.push(command.clone());
            for verb in command.get_subcommands() {
                leaves(verb, out);
            }
        }
        let mut all = Vec::new();
        leaves(&command(Name::Kubectl), &mut all);
        assert!(all.len() > 15);
        for verb in all {
            let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            let lines: Vec<&str> =
                help.lines().filter_map(|l| l.strip_prefix("  kubectl palladion ")).collect();
            assert!(!lines.is_empty(), "{} has no example", verb.get_name());
            for line in lines {
                let words = ["kubectl-palladion"].into_iter().chain(line.split(' '));
                let words = words.map(|w| w.trim_matches('\''));
                assert!(
                    command(Name::Kubectl).try_get_matches_from(words).is_ok(),
                    "not valid: {line}"
                );
            }
        }
    }
}
