//! A ring that begins with a restore, while it takes no clients.

use super::{Facts, MemberFact};
use palladion_api::backup::{NotedTokens, TransferState};
use palladion_api::cluster::{RestoredPlace, WholeRing};
use palladion_api::ids::MemberName;
use palladion_api::member::VolumeState;

/// Agents of before this protocol do not know how to begin a ring with a backup.
pub const KNOWS_WHOLE_RINGS: u32 = 11;
/// Agents of before this protocol do not know how to bring a ring to a point in time.
pub const KNOWS_POINTS_IN_TIME: u32 = 12;

impl Facts<'_> {
    /// How its members start; nothing once clients are let in, and for all other rings.
    pub fn restoring(&self) -> Option<&WholeRing> {
        let whole = self.status.restore.as_ref()?.whole_ring.as_ref()?;
        (!whole.open).then_some(whole)
    }

    /// The name of the restore that does it.
    pub fn restored_by(&self) -> Option<String> {
        self.restoring()?;
        Some(self.status.restore.as_ref()?.restore.clone())
    }

    /// The place in the backup that a member takes.
    pub fn place_of(&self, member: &MemberName) -> Option<&RestoredPlace> {
        self.restoring()?.places.iter().find(|place| place.member == *member)
    }

    /// Is everybody in the ring who takes a place of the backup?
    pub fn all_places_are_taken(&self) -> bool {
        let is_in = |place: &RestoredPlace| {
            self.members.get(&place.member).is_some_and(|m| m.recorded_host_id().is_some())
        };
        self.restoring()
            .is_some_and(|ring| !ring.places.is_empty() && ring.places.iter().all(is_in))
    }

    /// Does a member of the ring let clients in?
    pub fn lets_clients_in(&self) -> bool {
        self.joined().any(|member| member.is_normal() && !member.is_closed())
    }

    /// A member that takes no clients although no restore is on record.
    pub fn closed_without_restore(&self) -> Option<&MemberFact> {
        let is_open = self.status.restore.as_ref().is_none_or(|record| record.whole_ring.is_none());
        self.members.values().find(|member| is_open && member.is_closed())
    }
}

impl MemberFact {
    /// Does its server take its own agent alone, until its ring is restored?
    pub fn is_closed(&self) -> bool {
        self.status.server.as_ref().is_some_and(|server| server.closed)
    }

    /// Has it noted the tokens of this place on this volume? They outlast a try that has failed.
    pub fn has_tokens_of(&self, place: &RestoredPlace) -> bool {
        let Some(volume) = self.volume().filter(|volume| volume.volume_id == place.volume_id)
        else {
            return false;
        };
        // An older agent would start with other tokens, and let clients in.
        let agent = self.status.agent.as_ref();
        if agent.is_none_or(|agent| agent.protocol < KNOWS_WHOLE_RINGS) {
            return false;
        }
        volume.state == VolumeState::Incomplete
            || self.noted_tokens().is_some_and(|noted| {
                noted.source == place.source && noted.tokens_hash == place.tokens_hash
            })
    }

    fn noted_tokens(&self) -> Option<&NotedTokens> {
        let told = self.status.transfer.as_ref()?;
        told.noted_tokens.as_ref().filter(|_| told.state == TransferState::Done)
    }
}
