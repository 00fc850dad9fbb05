//! What a run says at its end: JSON for programs, sentences for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::history::{History, Operation, Outcome};
use crate::judge::{Judgement, Member, Share, Verdict};

/// As many sentences of one kind as a person reads. The JSON has them all.
const SENTENCES: usize = 5;

/// How many attempts ended how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    /// All that was attempted, reads of registers besides.
    pub attempts: usize,
    /// Acknowledged writes by level.
    pub acknowledged: BTreeMap<String, usize>,
    /// Registers found with another value, and reads of them.
    pub found: usize,
    /// Surely not done.
    pub failed: usize,
    /// Done or not.
    pub unknown: usize,
}

impl Tally {
    /// Count operations.
    pub fn of<'a>(operations: impl IntoIterator<Item = &'a Operation>) -> Self {
        let mut tally = Self::default();
        for operation in operations {
            tally.attempts += 1;
            match operation.outcome {
                Outcome::Acknowledged => {
                    *tally.acknowledged.entry(operation.attempt.level.to_string()).or_default() +=
                        1;
                }
                Outcome::Found { .. } => tally.found += 1,
                Outcome::Failed { .. } => tally.failed += 1,
                Outcome::Unknown { .. } => tally.unknown += 1,
            }
        }
        tally
    }
}

/// How the replicas were read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Proofs {
    /// Reads of one replica whose trace shows that its own data answered.
    pub proven: usize,
    /// Answers that were thrown away because the trace did not show it.
    pub discarded: usize,
}

/// The report of `verify`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Whether nothing is wrong.
    pub passed: bool,
    /// What is wrong, worst first.
    pub verdicts: Vec<Verdict>,
    /// How full each replica is.
    pub replicas: Vec<Share>,
    /// The members that were read.
    pub members: Vec<Member>,
    /// The whole history in numbers.
    pub history: Tally,
    /// How the replicas were read.
    pub proofs: Proofs,
}

impl Report {
    /// Put together.
    pub fn new(
        history: &History,
        judgement: Judgement,
        members: Vec<Member>,
        proofs: Proofs,
    ) -> Self {
        Self {
            passed: judgement.verdicts.is_empty(),
            verdicts: judgement.verdicts,
            replicas: judgement.shares,
            members,
            history: Tally::of(&history.operations),
            proofs,
        }
    }

    /// For people: what is wrong, or what was looked at.
    pub fn sentences(&self) -> String {
        let mut text = String::new();
        for verdicts in self.verdicts.chunk_by(|a, b| a.kind == b.kind) {
            for verdict in verdicts.iter().take(SENTENCES) {
                let _ = writeln!(text, "{}: {}", verdict.kind.title(), verdict.message);
            }
            if let Some(more @ 1..) = verdicts.len().checked_sub(SENTENCES) {
                let _ = writeln!(text, "{}: {more} more", verdicts[0].kind.title());
            }
        }
        for share in &self.replicas {
            let _ = writeln!(
                text,
                "{} holds {} of {} {}s",
                share.member,
                share.held,
                share.expected,
                share.table.one()
            );
        }
        let outcome = if self.passed { "nothing is wrong" } else { "the ring's data is wrong" };
        let _ = writeln!(
            text,
            "{outcome}: {} attempts ({} unknown), {} members, {} reads of one replica proven",
            self.history.attempts,
            self.history.unknown,
            self.members.len(),
            self.proofs.proven
        );
        text
    }
}
