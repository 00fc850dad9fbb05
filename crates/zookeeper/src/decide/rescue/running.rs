//! Servers of which nobody says whether they still run, while one is to go on alone: their machines
//! are away, or their agents are silent. In an election that one would take over a newer configuration of theirs.

use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::words::rescue::{Problem, Running};
use palladion_plan::words::Several;

/// Say what a person can do about those of them that cannot say so themselves.
pub(super) fn report(
    facts: &Facts<'_>,
    best: &MemberFact,
    running: &[&MemberFact],
    draft: &mut Draft,
) {
    let silent = running.iter().filter(|m| !m.agent_answers(&facts.nodes));
    let said = silent.filter_map(|m| {
        let (member, namespace) = (m.name.clone(), facts.snapshot.owner.meta.namespace.clone());
        let node = m.pod.as_ref()?.node.clone()?;
        Some(match facts.nodes.get(&node) {
            Some(true) => Running::Silent { member, namespace },
            Some(false) | None => Running::OnMachine { member, node, namespace },
        })
    });
    let running: Vec<Running> = said.collect();
    if !running.is_empty() {
        let member = best.name.clone();
        draft.report(Problem::StillRuns { member, running: Several(running) });
    }
}
