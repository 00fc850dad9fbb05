//! Whether the backups that expire by the rules of a schedule do so, or what keeps them: as the
//! cluster's `status.retention` has it, or that no member can reach them.

use super::schedules::Schedule;
use crate::facts::Facts;
use crate::validate::Valid;
use crate::words::retention::{Delayed, Kept};
use palladion_api::conditions::RETENTION_DELAYED;
use palladion_api::reasons::Reason;
use palladion_plan::words::{Message, Reasoned};
use palladion_plan::{Conditions, Truth};

/// Which backups of a schedule no member can reach, as whoever lets them expire knows.
pub type Elsewhere = fn(&Facts<'_>, &Valid, &Schedule<'_>) -> Option<Delayed>;

/// The condition of a schedule with a retention.
pub fn tell(
    (facts, known): (&Facts<'_>, Option<(&Valid, Elsewhere)>),
    schedule: &Schedule<'_>,
    conditions: &mut Conditions,
) {
    let record = facts.status.retention.as_ref();
    match record.and_then(|record| record.reason.as_deref().zip(record.message.as_deref())) {
        Some((reason, message)) => {
            let reason = Reason::read(reason).unwrap_or(Reason::ExpiryWaits);
            conditions.set(RETENTION_DELAYED, Truth::True, reason, Message::quoted(message));
        }
        None => match known.and_then(|(valid, elsewhere)| elsewhere(facts, valid, schedule)) {
            Some(why) => conditions.set(RETENTION_DELAYED, Truth::True, why.reason(), why),
            None => {
                let kept = Kept::AsAsked;
                conditions.set(RETENTION_DELAYED, Truth::False, kept.reason(), kept);
            }
        },
    }
}
