//! Agents that do not answer while pod and Node are well: people are told, because nobody
//! else can help, and the ring waits for them.

use crate::decide::draft::Draft;
use crate::facts::{Facts, Silence};
use crate::words::turn::HeldUp;

/// Report each, and look again when the next one has been silent for too long.
pub fn report(facts: &Facts<'_>, draft: &mut Draft) {
    for member in facts.members.values() {
        if let Some(at) = facts.will_be_silent(member) {
            draft.wake_at(at);
        }
        let name = member.name.clone();
        match facts.silence(member) {
            Some(Silence::Asked(since)) => draft.report(HeldUp::Asked { member: name, since }),
            Some(Silence::Unreported(since)) => {
                draft.report(HeldUp::Unreported { member: name, since });
            }
            None => {}
        }
    }
}
