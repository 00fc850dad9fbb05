//! The way from members that speak in the clear to members that speak with TLS alone, and back:
//! what of it is left, and what it waits for.

use super::authorities;
use crate::decide::draft::Draft;
use crate::decide::turn::stopping;
use crate::facts::Facts;
use crate::internode;
use crate::validate::Valid;
use crate::words::certificates::Waiting;

/// Say which step is under way, and who keeps a new authority of the members from signing.
pub fn wait(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    if valid.internode_tls.is_some()
        && facts.can_sign()
        && let Some(member) = authorities::holds_up(facts).cloned()
    {
        draft.wait_for(Waiting::ForTrust { member });
    }
    let (now, wanted) = (valid.internode_tls.unwrap_or_default(), internode::wanted(facts));
    // A ring that is stopped takes no step, and that it is says more.
    if now == wanted || stopping::is_wanted(facts) {
        return;
    }
    draft.wait_for(match internode::not_ready(facts).cloned() {
        Some(member) => Waiting::NextStep { now, wanted, member },
        None => Waiting::Step { now, wanted },
    });
}
