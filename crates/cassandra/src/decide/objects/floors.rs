//! What no server of a member is started without (safety rule 7.17). It rises when every member
//! runs with it, so that a canary can still go back, and it is lowered only as far as the spec
//! says so itself: what the spec leaves out is settled, and never lowers anything.

use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::internode;
use crate::resources as kinds;
use crate::validate::{Valid, ValidRack};
use crate::words::objects::Doing;
use palladion_api::cluster::{AuthMode, ClientTlsMode, InternodeTlsMode};
use palladion_api::member::Guard;
use palladion_plan::Step;
use serde_json::json;

/// Write it to every member whose record differs. Before the pods that have less.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let said = said(facts, valid);
    let everywhere = everywhere(facts);
    for member in facts.members.values().filter(|m| !m.is_gone()) {
        let (Some(object), Some(spec)) = (&member.object, &member.spec) else {
            continue;
        };
        let known = member.security_floor();
        let wanted = wanted(known.unwrap_or_default(), &said, &everywhere);
        let is_news = spec.security_floor.as_ref() != Some(&wanted);
        if !is_news || (known.is_none() && wanted.is_empty()) {
            continue;
        }
        draft.steps.push(Step::patch_seen(
            kinds::MEMBER,
            &object.meta,
            json!({ "spec": { "securityFloor": wanted } }),
            Doing::SetFloor { member: member.name.clone() },
        ));
    }
}

fn wanted(known: &[Guard], said: &[Guard], everywhere: &[Guard]) -> Vec<Guard> {
    let stays = |guard: &Guard| matches!(guard, Guard::Unknown(_)) || said.contains(guard);
    let mut all: Vec<Guard> = known.iter().filter(|guard| stays(guard)).copied().collect();
    all.extend(everywhere.iter().filter(|guard| said.contains(guard)));
    all.sort_unstable();
    all.dedup();
    all
}

/// What the spec asks for, or what is settled where it says nothing: not the step of the way
/// there or back that pods are rendered with.
fn said(facts: &Facts<'_>, valid: &Valid) -> Vec<Guard> {
    let every = |is_so: &dyn Fn(&ValidRack) -> bool| valid.racks.iter().all(is_so);
    let has = [
        (Guard::Password, every(&|r| r.server.auth == Some(AuthMode::Password))),
        (Guard::ClientTls, every(&|r| r.server.client_tls == Some(ClientTlsMode::Require))),
        (Guard::InternodeTls, internode::wanted(facts) == InternodeTlsMode::Require),
    ];
    has.into_iter().filter_map(|(guard, has)| has.then_some(guard)).collect()
}

/// What the servers of all members have.
fn everywhere(facts: &Facts<'_>) -> Vec<Guard> {
    let of = |member: &MemberFact| {
        member.status.server.as_ref().map_or_else(Vec::new, |server| server.guards.clone())
    };
    let members = facts.members.values().filter(|m| m.object.is_some() && !m.is_gone());
    let shared = members.map(of).reduce(|mut shared, next| {
        shared.retain(|guard| next.contains(guard));
        shared
    });
    shared.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Guard::{ClientTls, InternodeTls, Password};

    #[test]
    fn it_rises_when_everybody_has_it_and_falls_with_the_spec() {
        let all = [Password, ClientTls, InternodeTls];
        assert_eq!(wanted(&[], &all, &[]), [], "a canary can go back");
        assert_eq!(wanted(&[], &all, &[InternodeTls, Password]), [Password, InternodeTls]);
        assert_eq!(wanted(&all, &all, &[]), all, "who is down lowers nothing");
        assert_eq!(wanted(&all, &[Password], &all), [Password]);
    }

    #[test]
    fn what_a_newer_operator_has_said_stays() {
        let newer = Guard::Unknown(palladion_api::member::Word::new("Audit"));
        assert_eq!(wanted(&[newer, Password], &[], &[]), [newer]);
    }
}
