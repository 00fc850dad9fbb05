//! Servers of which nobody says whether they still run, while one is to go on alone: their machines
//! are away, or their agents are silent. In an election that one would take over a newer configuration of theirs.

use super::survey::Left;
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::words::rescue::{Problem, Running};
use palladion_api::labels;
use palladion_plan::words::Several;

/// Say what a person can do about those of them that cannot say so themselves. One that is only
/// left out had a report, which goes with its pod: its volume is given up as well, or it comes back.
pub(super) fn report(
    facts: &Facts<'_>,
    left: &Left<'_>,
    (best, running): (&MemberFact, &[&MemberFact]),
    draft: &mut Draft,
) {
    let is_left_out = |m: &MemberFact| left.rest.iter().any(|other| other.name == m.name);
    let silent = running.iter().filter(|m| !m.agent_answers(&facts.nodes));
    let said = silent.filter_map(|m| {
        let (member, namespace) = (m.name.clone(), facts.snapshot.owner.meta.namespace.clone());
        let node = m.pod.as_ref()?.node.clone()?;
        if let Some(volume) = m.volume_id().filter(|_| is_left_out(m)).cloned() {
            let annotation = labels::REPLACE;
            return Some(Running::LeftOut { member, node, namespace, annotation, volume });
        }
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
