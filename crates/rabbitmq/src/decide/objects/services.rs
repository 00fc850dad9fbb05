//! The Services that hold the addresses of members, for clients. An address stays with
//! its member, also where its volume is replaced: nodes know each other by names.

use crate::build;
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use palladion_api::ids::{MemberName, StaticAddress};
use palladion_plan::Step;
use palladion_plan::members::objects::{apply, replicas};
use palladion_plan::words::service::What;

/// Make and keep them. Those that ask for an address come before those that take any: one
/// of these could be given the address that another member has on record.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let address = |name: &MemberName| -> Option<StaticAddress> {
        facts.members.get(name).and_then(MemberFact::address).cloned()
    };
    let names = replicas::names(facts, valid);
    let (asking, others): (Vec<_>, Vec<_>) = names.partition(|name| address(name).is_some());
    for name in asking.iter().chain(&others) {
        let known = facts.members.get(name);
        if known.is_some_and(MemberFact::is_gone) {
            continue;
        }
        let exists = known.is_some_and(|m| !m.services.is_empty());
        // What exists keeps the address that it has.
        let wanted = address(name).filter(|_| !exists);
        let object = build::member_service(valid, name, wanted.as_ref());
        let what = What::MemberService { member: name.clone() };
        // An address that is taken stops its own member alone.
        apply(facts, kinds::SERVICE, object, what, Step::standing_alone, draft);
    }
}
