//! The first member that runs a newer line: from then on there is no way back,
//! and everybody with data has tables of the older one.

use crate::decide::draft::Draft;
use crate::decide::maintenance::debts;
use crate::facts::{Facts, MemberFact, lines};
use crate::words::maintenance::Cause;
use palladion_api::member::{Debt, DebtKind};
use serde_json::json;

/// Record at every member the maintenance that is due when it runs the newer line.
pub fn decide(facts: &Facts<'_>, draft: &mut Draft) {
    let Some((old, new)) = step(facts) else {
        return;
    };
    for member in without_debt(facts) {
        let mut owes =
            member.spec.as_ref().map_or_else(Vec::new, |s| s.pending_maintenance.clone());
        owes.push(Debt {
            kind: DebtKind::UpgradeSstables,
            ranges: Default::default(),
            reason: Cause::Upgraded { from: old.to_string(), to: new.to_string() }.to_string(),
        });
        let doing = debts::recorded(member);
        draft.steps.extend(debts::patch(member, json!({ "pendingMaintenance": owes }), doing));
    }
}

/// The line that goes on record: the newer one only when all debts are recorded,
/// so that none is forgotten by a crash between the two.
pub fn line_on_record(facts: &Facts<'_>) -> Option<String> {
    let has_debts_to_record = step(facts).is_some() && without_debt(facts).next().is_some();
    if has_debts_to_record {
        facts.status.highest_release_line.clone()
    } else {
        lines::highest_release_line(facts)
    }
}

/// From which line to which, where the record is behind.
fn step(facts: &Facts<'_>) -> Option<(String, String)> {
    let old = facts.status.highest_release_line.clone()?;
    let new = lines::highest_release_line(facts)?;
    (old != new).then_some((old, new))
}

fn without_debt<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = &'a MemberFact> {
    facts.members.values().filter(|m| m.object.is_some() && m.recorded_host_id().is_some()).filter(
        |m| {
            let owes = m.spec.iter().flat_map(|s| &s.pending_maintenance);
            !owes.into_iter().any(|d| d.kind == DebtKind::UpgradeSstables)
        },
    )
}
