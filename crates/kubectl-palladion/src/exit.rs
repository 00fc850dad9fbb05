//! How a verb ended: the exit codes, and what is said of an end that is not good.

use crate::read::member::Member;
use crate::read::task::Task;
use crate::words::trouble::{Hint, Said};
use palladion_engine::door::rights::{Class, Refusal};
use palladion_engine::words::NoWay;
use std::fmt::Write as _;
use std::process::ExitCode;

/// The exit codes. They are documented, and scripts rely on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done, or the ring is well.
    Done = 0,
    /// The ring is not well, a task did not end well, or somebody has to act.
    NotWell = 1,
    /// The command line is wrong.
    Usage = 2,
    /// What was named does not exist.
    NotFound = 3,
    /// A right is missing; its rule is named.
    NoRight = 4,
    /// Refused: by the API server, or because it was not confirmed.
    Refused = 5,
    /// `--wait` has run out.
    TimeOut = 6,
    /// The API server cannot be reached.
    NoConnection = 7,
}

impl Exit {
    /// All of them, for the reference.
    pub const ALL: [Exit; 8] = [
        Exit::Done,
        Exit::NotWell,
        Exit::Usage,
        Exit::NotFound,
        Exit::NoRight,
        Exit::Refused,
        Exit::TimeOut,
        Exit::NoConnection,
    ];

    /// What it means.
    pub fn meaning(self) -> &'static str {
        match self {
            Exit::Done => "Done; of `status`: the ring is well.",
            Exit::NotWell => {
                "The ring is not well, the task did not succeed, or the plan needs you to act."
            }
            Exit::Usage => "The command line is not valid.",
            Exit::NotFound => "What you named does not exist.",
            Exit::NoRight => "You lack a right; the message shows the rule that grants it.",
            Exit::Refused => "The API server refused it, or you did not confirm it.",
            Exit::TimeOut => "`--wait` timed out; what was started continues.",
            Exit::NoConnection => "The API server cannot be reached.",
        }
    }

    /// The number.
    pub fn number(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.number())
    }
}

/// An end that is not good: what was tried on which object, why it failed, and
/// the next step.
#[derive(Debug)]
pub struct Trouble {
    /// The exit code.
    pub exit: Exit,
    /// What was tried, and why it failed.
    pub said: Box<Said>,
    /// Lines to copy, such as a rule for a role.
    pub lines: Option<String>,
    /// The next step.
    pub hint: Option<Box<Hint>>,
}

impl Trouble {
    /// Trouble with an exit code.
    pub fn new(exit: Exit, said: Said) -> Self {
        Self { exit, said: Box::new(said), lines: None, hint: None }
    }

    /// With the next step.
    pub fn hint(mut self, hint: Hint) -> Self {
        self.hint = Some(Box::new(hint));
        self
    }

    /// A task has ended otherwise than it was meant to.
    pub fn ended(task: Task) -> Self {
        let said = Said::TaskEnded { task: task.name, phase: task.phase, message: task.message };
        Self::new(Exit::NotWell, said)
    }

    /// Somebody has asked for something else meanwhile; `what` names what was asked for.
    pub fn overruled(what: &str) -> Self {
        Self::new(Exit::NotWell, Said::Overruled { what: what.to_string() })
    }

    /// A member waits for what only a person can give; `what` names what was asked for.
    pub fn needs_a_person(what: &str, member: &Member) -> Self {
        let (what, reason) = (what.to_string(), member.reason.clone());
        let said = Said::NeedsAPerson { what, member: member.name.clone(), why: member.why() };
        Self::new(Exit::NotWell, said).hint(Hint::Explain { reason })
    }

    /// Nobody reads the output any more: what is done goes on all the same.
    ///
    /// # Errors
    /// Any other trouble.
    pub fn unless_nobody_reads(self) -> Result<(), Self> {
        if self.is_unread() { Ok(()) } else { Err(self) }
    }

    /// Is it only that nobody reads the output?
    pub fn is_unread(&self) -> bool {
        matches!(*self.said, Said::ReaderGone)
    }

    /// May it pass: did nobody answer?
    pub fn may_pass(&self) -> bool {
        self.exit == Exit::NoConnection
    }

    /// The reads or writes that there is no right to, all at once.
    pub fn no_rights(refusals: &[Refusal]) -> Self {
        let first = refusals.first();
        let said = Said::NoRight {
            attempt: first.map(|r| r.attempt.to_string()).unwrap_or_default(),
            answer: first.map(|r| r.answer.to_string()).unwrap_or_default(),
        };
        let mut lines = String::new();
        for role in ["Role", "ClusterRole"] {
            let mut rules: Vec<String> = refusals
                .iter()
                .filter(|r| r.attempt.role() == role)
                .map(|r| r.attempt.rule())
                .collect();
            rules.sort();
            rules.dedup();
            if !rules.is_empty() {
                // Writing to a String cannot fail.
                let _ = writeln!(lines, "{role}:\n{}", rules.join("\n"));
            }
        }
        let hint = first.map(|r| Hint::CanI {
            verb: r.attempt.verb.as_str(),
            resource: match r.attempt.resource.group {
                "" => r.attempt.in_a_role(),
                group => format!("{}.{group}", r.attempt.in_a_role()),
            },
            place: match &r.attempt.namespace {
                Some(namespace) => format!("-n {namespace}"),
                None => "-A".to_string(),
            },
        });
        Self {
            exit: Exit::NoRight,
            said: Box::new(said),
            lines: Some(lines),
            hint: hint.map(Box::new),
        }
    }
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Self {
        let attempt = refusal.attempt.to_string();
        let answer = refusal.answer.to_string();
        let kind = refusal.attempt.resource;
        let is_ours = kind.group == palladion_api::GROUP;
        match (refusal.class(), &refusal.attempt.name) {
            (Class::NoRight, _) => Self::no_rights(&[refusal]),
            (Class::NotFound, Some(name)) => {
                let (kind, name) = (kind.kind, name.clone());
                let namespace = refusal.attempt.namespace.clone().unwrap_or_default();
                let said = Said::NotFound { kind, name, namespace };
                let trouble = Self::new(Exit::NotFound, said);
                if is_ours { trouble.hint(Hint::AllRings) } else { trouble }
            }
            (Class::NotFound, None) if is_ours => {
                let said = Said::NotInstalled { kind: kind.plural };
                Self::new(Exit::NotFound, said).hint(Hint::Install)
            }
            (Class::NotFound, None) => Self::new(Exit::NotFound, Said::Failed { attempt, answer }),
            (Class::Refused, _) => Self::new(Exit::Refused, Said::Failed { attempt, answer }),
            (Class::NoConnection, _) if refusal.is_open() => {
                let said = Said::FailedPerhaps { attempt, answer };
                Self::new(Exit::NoConnection, said).hint(Hint::Connection)
            }
            (Class::NoConnection, _) => {
                let trouble = Self::new(Exit::NoConnection, Said::Failed { attempt, answer });
                trouble.hint(Hint::Connection)
            }
        }
    }
}

impl From<NoWay> for Trouble {
    fn from(why: NoWay) -> Self {
        let said = Said::NoWay { why: why.to_string() };
        Self::new(Exit::NoConnection, said).hint(Hint::Kubeconfig)
    }
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            // Whoever read the output has seen enough.
            std::io::ErrorKind::BrokenPipe => Self::new(Exit::Done, Said::ReaderGone),
            _ => Self::new(Exit::NotWell, Said::Output { why: error.to_string() }),
        }
    }
}
