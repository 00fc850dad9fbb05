//! Change data capture: members whose readers lag behind, and whose space is used up, as their
//! agents report it.

use super::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::cdc::Trouble;
use crate::words::leave::Bytes;
use palladion_api::cluster::CdcOnFull;
use palladion_api::member::{CdcState, CdcStatus};
use palladion_plan::words::Count;

/// Report them.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    for member in facts.members.values().filter(|member| !member.is_gone()) {
        if let Some(status) = &member.status.cdc {
            report(valid, member, status, draft);
        }
    }
}

fn report(valid: &Valid, member: &MemberFact, status: &CdcStatus, draft: &mut Draft) {
    let name = member.name.clone();
    let (segments, total) = (Count::of(status.segments, "segment"), Bytes(status.total_bytes));
    let bytes = Bytes(status.bytes);
    match status.state {
        CdcState::Full => draft.report(match on_full(valid) {
            CdcOnFull::Block => Trouble::Blocks { member: name, segments, total },
            CdcOnFull::DropOldest => Trouble::Drops { member: name, segments, total },
        }),
        CdcState::Lagging => draft.report(match &status.oldest {
            Some(since) => {
                Trouble::LaggingSince { member: name, segments, bytes, total, since: since.0 }
            }
            None => Trouble::Lagging { member: name, segments, bytes, total },
        }),
        CdcState::Unread => draft.report(Trouble::Unread { member: name }),
        // Of who leaves the turn says it.
        CdcState::Current | CdcState::Undelivered | CdcState::Delivered | CdcState::Unknown => {}
    }
}

fn on_full(valid: &Valid) -> CdcOnFull {
    let of_racks = valid.racks.iter().find_map(|rack| rack.server.cdc);
    of_racks.map(|cdc| cdc.on_full).unwrap_or_default()
}
