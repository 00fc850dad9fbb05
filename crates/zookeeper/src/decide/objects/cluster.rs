//! The objects that an ensemble consists of, but for those of single members.

use crate::build;
use crate::decide::draft::Draft;
use crate::decide::evidence;
use crate::facts::Facts;
use crate::validate::Valid;
use palladion_plan::members::objects;

/// Make and keep the objects of the ensemble.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let ports = build::ports_of_clients(valid);
    objects::small(facts, valid, [&ports, &ports], build::config_map(valid), draft);
    let release = |standing: Option<&_>| build::release(valid, standing);
    objects::set(facts, valid, release, evidence::of_grounds, draft);
}
