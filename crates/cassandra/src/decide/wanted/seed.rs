//! What people want of a member as a seed, where it does not hold. It is carried
//! out by the seed lists alone, without a restart.

use crate::decide::turn::seeds;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::wanted::Unmet;
use palladion_api::member::SeedChoice;
use serde_json::json;

/// The wish, and why it is not carried out.
pub fn unmet(facts: &Facts<'_>, valid: &Valid, member: &MemberFact) -> Option<(String, Unmet)> {
    let seed = member.wanted()?.seed;
    let name = || member.name.clone();
    let why = match seed {
        SeedChoice::Auto => return None,
        SeedChoice::Unknown(word) => Unmet::NotKnown { word: word.to_string() },
        SeedChoice::Always | SeedChoice::Never if !facts.ring_exists() => Unmet::NoSeeds,
        SeedChoice::Always if member.recorded_host_id().is_none() => {
            Unmet::NoSeedYet { member: name() }
        }
        SeedChoice::Never if seeds::is_last(facts, valid, member) => {
            Unmet::LastSeed { member: name() }
        }
        SeedChoice::Always | SeedChoice::Never => return None,
    };
    Some((format!("seed: {}", json!(seed).as_str().unwrap_or_default()), why))
}
