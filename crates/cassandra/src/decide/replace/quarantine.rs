//! The address of a member that was replaced under another one: gossip
//! remembers it, and a stranger that gets it would be taken for the dead. A
//! Service without pods holds it until `departed` sets it free.

use crate::build;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::replace::Doing;
use palladion_api::cluster::Replaced;
use palladion_api::ids::{MemberName, StaticAddress};
use palladion_plan::{ObjectKey, Precondition, Step};

/// Hold the address, once it is free. Tried once: where somebody was faster,
/// nothing is gained by trying again.
pub fn hold(
    facts: &Facts<'_>,
    valid: &Valid,
    member: &MemberFact,
    replaced: &Replaced,
) -> Option<Step> {
    let rack = valid.racks.iter().find(|r| r.name == member.rack)?;
    let services = facts.objects(kinds::SERVICE);
    let is_held = |address: &StaticAddress| {
        services.iter().any(|s| s.str_at("/spec/clusterIP") == Some(address.as_str()))
    };
    let name = name(&member.name, &replaced.address);
    let key = ObjectKey::new(kinds::SERVICE, &valid.namespace, &name);
    let failed = facts.snapshot.failure.as_ref();
    if is_held(&replaced.address)
        || services.iter().any(|s| s.meta.name == name)
        || failed.is_some_and(|f| f.object.as_ref() == Some(&key))
    {
        return None;
    }
    let object = build::held_service(valid, rack, &name, &replaced.address, facts.now());
    let doing =
        Doing::HoldAddress { address: replaced.address.clone(), member: member.name.clone() };
    Some(Step::apply(key, object, Precondition::Absent, doing))
}

fn name(member: &MemberName, address: &StaticAddress) -> String {
    let address: String =
        address.as_str().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    format!("{member}-was-{address}")
}
