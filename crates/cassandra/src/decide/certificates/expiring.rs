//! Certificates that run out although the operator renews them in time: reported long before,
//! whatever keeps it from signing. Of a ring that is paused, or whose spec is refused, nothing
//! else says so.

use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::internode;
use crate::validate::client_certificates;
use crate::words::certificates::{Expiring, Unsigned};
use jiff::{SignedDuration, Timestamp};
use palladion_api::cluster::InternodeTlsMode;
use palladion_api::member::Purpose;
use palladion_plan::words::Names;

/// So long before the first one expires it is reported. A third of its life is left when it
/// should be renewed, which is twice as much.
pub const EXPIRING: SignedDuration = SignedDuration::from_hours(24 * 60);

/// Report the members that present a certificate which expires soon.
pub fn report(facts: &Facts<'_>, unsigned: Unsigned, draft: &mut Draft) {
    for purpose in Purpose::ALL {
        let is_used = match purpose {
            Purpose::Client => client_certificates(&facts.spec).is_some(),
            Purpose::Internode => internode::now(facts) != InternodeTlsMode::Off,
        };
        if is_used {
            report_of(facts, purpose, unsigned.clone(), draft);
        }
    }
}

fn report_of(facts: &Facts<'_>, purpose: Purpose, unsigned: Unsigned, draft: &mut Draft) {
    let ends = facts.members.values().filter_map(|m| Some((end(m, purpose)?, &m.name)));
    let told_from = |end: Timestamp| end.saturating_sub(EXPIRING).unwrap_or(Timestamp::MIN);
    let (mut soon, later): (Vec<_>, Vec<_>) =
        ends.partition(|(end, _)| told_from(*end) <= facts.now());
    later.into_iter().for_each(|(end, _)| draft.wake_at(told_from(end)));
    soon.sort_unstable();
    let Some((end, first)) = soon.first().map(|(end, name)| (*end, (*name).clone())) else {
        return;
    };
    let members = Names::of(soon.into_iter().map(|(_, name)| name));
    let is_over = end <= facts.now();
    if !is_over {
        draft.wake_at(end);
    }
    draft.report(match (purpose, is_over) {
        (Purpose::Client, true) => Expiring::Over { members, first, end, unsigned },
        (Purpose::Client, false) => Expiring::Soon { members, first, end, unsigned },
        (Purpose::Internode, true) => Expiring::InternodeOver { members, first, end, unsigned },
        (Purpose::Internode, false) => Expiring::InternodeSoon { members, first, end, unsigned },
    });
}

/// When the certificate expires that the agent of this pod has on its volume.
fn end(member: &MemberFact, purpose: Purpose) -> Option<Timestamp> {
    let tls = member.status.tls.as_ref().filter(|_| member.agent_speaks() && !member.is_gone())?;
    Some(tls.of(purpose)?.not_after.as_ref()?.0)
}
