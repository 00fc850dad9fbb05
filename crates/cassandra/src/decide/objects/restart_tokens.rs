//! Restarts that a person asked for, of the ring, a rack or one member, or that a
//! task has come to. Each is a token; what is recorded at the member says which
//! ones it has been given.

use crate::clients;
use crate::facts::MemberFact;
use crate::validate::Valid;
use palladion_api::ids::{RackName, Uid};
use palladion_api::labels;
use palladion_api::member::AccessProblemKind;
use palladion_plan::hash;
use serde_json::json;

/// The scope of what a task asks for; its token is the uid of the task.
const TASK: &str = "task";

/// The scope of an address that the server is to announce to clients in place of another one.
const ADDRESS: &str = "address";

/// The scope of a sealed server that is to start for clients; its token is the time of its start.
const SEAL: &str = "seal";

/// Digits of a token's hash: a token is any text, and only its change counts.
const DIGITS: usize = 10;

/// What the member's `restartToken` must become; `None` where no restart is due.
/// A token that is taken away again asks for nothing.
pub fn due(valid: &Valid, member: &MemberFact) -> Option<String> {
    let spec = member.spec.as_ref()?;
    let given = spec.restart_token.as_deref().unwrap_or_default();
    let wanted = wanted(valid, member);
    let is_new = |part: &(&str, String)| !given.split(' ').any(|g| g == words(part));
    wanted.iter().any(is_new).then(|| merge(given, &wanted))
}

/// What a member that is being made is given: its first start is restart enough.
pub fn of_a_new_member(valid: &Valid, rack: &RackName) -> Option<String> {
    let nobody = MemberFact { rack: rack.clone(), ..MemberFact::default() };
    let wanted = wanted(valid, &nobody);
    (!wanted.is_empty()).then(|| merge("", &wanted))
}

/// Is the restart that people want of this very member on record with it?
pub fn is_given(member: &MemberFact, token: &str) -> bool {
    let given = member.spec.as_ref().and_then(|s| s.restart_token.as_deref());
    given.is_some_and(|given| given.split(' ').any(|g| g == part("member", token)))
}

/// Has the server been started since it was given its token?
pub fn is_done(member: &MemberFact) -> bool {
    let given = member.spec.as_ref().and_then(|s| s.restart_token.as_ref());
    let reported = member.status.server.as_ref();
    given.is_none() || reported.and_then(|s| s.restart_token.as_ref()) == given
}

fn wanted(valid: &Valid, member: &MemberFact) -> Vec<(&'static str, String)> {
    let rack = valid.racks.iter().find(|r| r.name == member.rack);
    let annotations = member.object.as_ref().map(|o| &o.meta.annotations);
    let annotated = annotations.and_then(|a| a.get(labels::RESTART));
    let own = member.wanted().and_then(|w| w.restart_token.as_ref());
    let tokens = [
        ("ring", valid.restart_token.as_ref()),
        ("rack", rack.and_then(|r| r.restart_token.as_ref())),
        ("member", own.or(annotated)),
    ];
    let by_task = member.restart_task.as_ref().map(|task| (TASK, short(task.as_str())));
    let address = clients::to_announce(valid, member);
    let by_address = address.map(|address| (ADDRESS, short(address.as_str())));
    let by_seal = sealed_since(member).map(|since| (SEAL, short(&since)));
    let short = |(scope, token): (_, Option<&String>)| Some((scope, short(token?)));
    let all = tokens.into_iter().filter_map(short).chain(by_task);
    all.chain(by_address).chain(by_seal).collect()
}

/// When a server was started that is sealed with nothing more to be done there.
fn sealed_since(member: &MemberFact) -> Option<String> {
    let kind = member.status.access.as_ref().map(|access| access.kind);
    let start = member.status.start_history.first()?;
    (kind == Some(AccessProblemKind::Sealed)).then(|| start.started_at.0.to_string())
}

/// Was the member given the token of this task, and has its server been started since?
pub fn is_done_for(member: &MemberFact, task: &Uid) -> bool {
    is_given_for(member, task) && is_done(member)
}

/// Was the member given the token of this task?
pub fn is_given_for(member: &MemberFact, task: &Uid) -> bool {
    let given = member.spec.as_ref().and_then(|s| s.restart_token.as_deref());
    let part = part(TASK, task.as_str());
    given.unwrap_or_default().split(' ').any(|given| given == part)
}

fn short(token: &str) -> String {
    hash::of(&json!(token)).chars().take(DIGITS).collect()
}

/// What a member is given for a token of its ring, its rack or its own: one of
/// the words of its `restartToken`.
pub fn part(scope: &'static str, token: &str) -> String {
    words(&(scope, short(token)))
}

fn words((scope, token): &(&str, String)) -> String {
    format!("{scope}={token}")
}

fn merge(given: &str, wanted: &[(&str, String)]) -> String {
    let overruled =
        |old: &&str| wanted.iter().any(|(scope, _)| old.starts_with(&format!("{scope}=")));
    let kept = given.split(' ').filter(|g| !g.is_empty() && !overruled(g)).map(str::to_string);
    let mut all: Vec<String> = kept.chain(wanted.iter().map(words)).collect();
    all.sort();
    all.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(scope: &'static str, token: &str) -> (&'static str, String) {
        (scope, token.to_string())
    }

    #[test]
    fn a_new_token_takes_the_place_of_its_own_kind_only() {
        let given = "member=1 ring=2";
        assert_eq!(merge(given, &[one("ring", "3")]), "member=1 ring=3");
        assert_eq!(merge(given, &[one("rack", "4")]), "member=1 rack=4 ring=2");
        assert_eq!(merge("", &[one("ring", "3")]), "ring=3");
    }
}
