//! Whether the backups that expire by the rules of a schedule do so, or what keeps them: as the
//! cluster's `status.retention` has it, or that no member can reach them.

use super::schedules::Schedule;
use crate::decide::retention::elsewhere;
use crate::facts::Facts;
use crate::validate::Valid;
use crate::words::retention::Kept;
use palladion_api::conditions::RETENTION_DELAYED;
use palladion_api::reasons::Reason;
use palladion_plan::words::{Message, Reasoned};
use palladion_plan::{Conditions, Truth};

/// The condition of a schedule with a retention.
pub fn tell(
    (facts, valid): (&Facts<'_>, Option<&Valid>),
    schedule: &Schedule<'_>,
    conditions: &mut Conditions,
) {
    let record = facts.status.retention.as_ref();
    match record.and_then(|record| record.reason.as_deref().zip(record.message.as_deref())) {
        Some((reason, message)) => {
            let reason = Reason::read(reason).unwrap_or(Reason::ExpiryWaits);
            conditions.set(RETENTION_DELAYED, Truth::True, reason, Message::quoted(message));
        }
        None => match valid.and_then(|valid| elsewhere::of(facts, valid, schedule)) {
            Some(why) => conditions.set(RETENTION_DELAYED, Truth::True, why.reason(), why),
            None => {
                let kept = Kept::AsAsked;
                conditions.set(RETENTION_DELAYED, Truth::False, kept.reason(), kept);
            }
        },
    }
}
