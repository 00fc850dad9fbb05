//! What may be an older ring, as data: a person's permission to initialize a new
//! one all the same is for what was found, and not for how it was put in words.

use crate::facts::{ClaimFact, MemberFact};
use crate::words::initialize::Doubt as Words;
use palladion_api::ids::{ClaimUid, MemberName, Nonce, Uid, VolumeId};
use palladion_api::member::{VolumeState, VolumeStatus};
use palladion_plan::hash;
use palladion_plan::lock::Claimant;
use palladion_plan::words::{Count, Several};
use serde_json::{Value, json};

/// Doubts that are told one by one; the nonce stands for all of them.
const TOLD: usize = 8;

/// Something that may be an older ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// A volume that is not empty, or cannot be judged.
    Volume {
        /// Whose it is.
        member: MemberName,
        /// Its claim, if that bears our labels.
        claim: Option<ClaimUid>,
        /// Its ID, as its own agent reports it.
        volume_id: VolumeId,
        /// What its agent found.
        state: VolumeState,
        /// The ring that it names.
        ring: Option<String>,
    },
    /// The ring was initialized on a volume that is not there any more.
    FirstVolumeGone {
        /// Who initialized it.
        member: MemberName,
        /// On which volume.
        volume_id: VolumeId,
    },
    /// Another cluster initializes the ring, as the record beside the region lock says.
    Elsewhere(Claimant),
    /// The spec lists seeds of the ring elsewhere, which a ring that begins here does not have.
    SeedsElsewhere,
}

impl Doubt {
    /// What this member's agent found on its volume.
    pub fn of(member: &MemberFact, volume: &VolumeStatus) -> Self {
        Doubt::Volume {
            member: member.name.clone(),
            claim: member.claim.as_ref().map(ClaimFact::uid),
            volume_id: volume.volume_id.clone(),
            state: volume.state,
            ring: volume.ring.clone(),
        }
    }

    fn data(&self) -> Value {
        match self {
            Doubt::Volume { member: _, claim, volume_id, state, ring } => {
                json!({ "claim": claim, "volumeID": volume_id, "state": state, "ring": ring })
            }
            Doubt::FirstVolumeGone { member: _, volume_id } => json!({ "gone": volume_id }),
            Doubt::Elsewhere(Claimant { region, uid }) => {
                json!({ "region": region, "initializedBy": uid })
            }
            Doubt::SeedsElsewhere => json!("externalSeeds"),
        }
    }

    fn words(&self) -> Words {
        match self {
            Doubt::Volume { member, state, .. } => {
                Words::Volume { member: member.clone(), found: (*state).into() }
            }
            Doubt::FirstVolumeGone { member, volume_id } => {
                Words::FirstVolumeGone { member: member.clone(), volume_id: volume_id.clone() }
            }
            Doubt::Elsewhere(Claimant { region, uid }) => {
                Words::Elsewhere { region: region.clone(), uid: uid.clone() }
            }
            Doubt::SeedsElsewhere => Words::SeedsElsewhere,
        }
    }
}

/// The nonce of a permission: it stands for all that was found, in whatever
/// order and words, and fits nothing else.
pub fn nonce(cluster_uid: &Uid, doubts: &[Doubt]) -> Nonce {
    let mut found: Vec<Value> = doubts.iter().map(Doubt::data).collect();
    found.sort_by_cached_key(Value::to_string);
    Nonce::new(hash::of(&json!([cluster_uid, found])))
}

/// For people.
pub fn words(doubts: &[Doubt]) -> Several<Words> {
    let told = doubts.iter().take(TOLD).map(Doubt::words);
    let rest = doubts.len().saturating_sub(TOLD);
    let more = (rest > 0).then(|| Words::More { volumes: Count::of(rest, "volume") });
    Several(told.chain(more).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn volume(member: &str, id: &str, state: VolumeState) -> Doubt {
        Doubt::Volume {
            member: MemberName::new(member),
            claim: Some(ClaimUid::new(format!("claim-of-{member}"))),
            volume_id: VolumeId::new(id),
            state,
            ring: None,
        }
    }

    fn two() -> [Doubt; 2] {
        let first = volume("demo-dc1-a-0", "v1", VolumeState::Unaccounted);
        [first, volume("demo-dc1-b-0", "v2", VolumeState::Left)]
    }

    /// A permission that somebody is about to give survives an upgrade of the
    /// operator that puts the same doubts in other words.
    #[test]
    fn a_nonce_stands_for_what_was_found_and_not_for_its_words() {
        let [first, second] = two();
        let turned = [second, first];
        assert_ne!(words(&two()).to_string(), words(&turned).to_string());
        assert_eq!(nonce(&"u".into(), &two()), nonce(&"u".into(), &turned));
        assert_eq!(
            nonce(&"u".into(), &two()),
            "4ca508655e6e3e93".into(),
            "it was shown to people like this"
        );
    }

    #[test]
    fn a_nonce_fits_nothing_else() {
        let [first, second] = two();
        let claim = |uid: &str| match first.clone() {
            Doubt::Volume { member, volume_id, state, ring, .. } => {
                Doubt::Volume { member, claim: Some(ClaimUid::new(uid)), volume_id, state, ring }
            }
            gone
            @ (Doubt::FirstVolumeGone { .. } | Doubt::Elsewhere(_) | Doubt::SeedsElsewhere) => gone,
        };
        let others = [
            vec![first.clone()],
            vec![first.clone(), second.clone(), volume("demo-dc1-c-0", "v3", VolumeState::Left)],
            vec![volume("demo-dc1-a-0", "v9", VolumeState::Unaccounted), second.clone()],
            vec![volume("demo-dc1-a-0", "v1", VolumeState::Foreign), second.clone()],
            vec![claim("another"), second],
        ];
        for other in others {
            assert_ne!(nonce(&"u".into(), &two()), nonce(&"u".into(), &other), "{other:?}");
        }
        assert_ne!(nonce(&"u".into(), &two()), nonce(&"another cluster".into(), &two()));
    }

    #[test]
    fn of_many_doubts_some_are_told_and_the_rest_is_counted() {
        let many: Vec<Doubt> =
            (0..10).map(|n| volume(&format!("a-{n}"), "v", VolumeState::Left)).collect();
        let shown = words(&many).to_string();
        assert!(shown.ends_with("; this list omits 2 volumes"), "{shown}");
    }
}
