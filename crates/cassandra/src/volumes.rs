//! Where a claim's volume is, by what is known of Nodes and volumes.

use crate::facts::{ClaimFact, Facts};
use crate::resources as kinds;
pub use palladion_plan::workload::home::Home;
use palladion_plan::workload::home::home as home_of;

/// Where is the volume of this claim? What is not known is never gone.
pub fn home(facts: &Facts<'_>, claim: &ClaimFact) -> Home {
    home_of(facts.objects(kinds::NODE), facts.objects(kinds::VOLUME), &claim.object)
}
