//! Is the lock still held, right before a write? What this process remembers is not enough: the
//! store is asked, so that whoever was frozen, or cut off from a store that was restored, writes
//! nothing.

use super::keep::Keepers;
use crate::queue::Key;
use crate::words::NotDone;
use palladion_plan::LockFence;

impl Keepers {
    /// Does the fence stand, as the store says it after this was asked?
    ///
    /// # Errors
    /// It does not, or the store does not say.
    pub async fn check(&self, owner: &Key, fence: &LockFence) -> Result<(), NotDone> {
        let lost = || NotDone::LockLost { token: fence.token.clone() };
        let known = self.shared.known(owner).ok_or_else(lost)?;
        let held = known.held().filter(|held| held.token == fence.token).ok_or_else(lost)?;
        match held.store.check(&held.key, &held.token).await {
            Ok(true) if held.left() > fence.lease_left => Ok(()),
            Ok(true) => Err(NotDone::LeaseShort { token: fence.token.clone() }),
            Ok(false) => {
                if known.lose(&held.token) {
                    known.found_lost.notify_one();
                }
                Err(lost())
            }
            Err(away) => Err(NotDone::LockUnknown { why: away.to_string() }),
        }
    }
}
