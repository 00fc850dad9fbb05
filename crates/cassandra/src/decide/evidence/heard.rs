//! Who has heard that a member joins. A coordinator that has not sends it none of
//! the writes that it is about to own, and once it owns them nobody notices that
//! they are missing (safety rule 6.1, ADR 15).

use super::ask::ask;
use super::witness::others;
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use jiff::SignedDuration;
use palladion_api::cluster::{Mode, Turn};
use palladion_api::ids::{MemberName, Nonce};
use palladion_api::member::Evidence;

/// What the mode of a server is that has announced that it joins.
const JOINING: &str = "JOINING";
/// News reach all members within seconds, the more of them the later, and a joiner
/// waits for 30 s before it streams: who has not heard of it is asked again after
/// this long, and once more.
const ASKED_AGAIN: [SignedDuration; 2] =
    [SignedDuration::from_secs(2), SignedDuration::from_secs(8)];

/// Ask all others whether they see that a member joins, as soon as it says so.
pub fn ask_who_has_heard(facts: &Facts<'_>, turn: &Turn, joiner: &MemberFact, draft: &mut Draft) {
    let mode = joiner.reported_server().and_then(|s| s.mode.as_deref());
    if mode != Some(JOINING) || !facts.is_created() || facts.spec.mode == Mode::Scylla {
        return;
    }
    for other in others(facts, &joiner.name) {
        let asked = other.spec.as_ref().and_then(|s| s.evidence.as_ref()).map(|e| &e.nonce);
        let Some(times) = questions(&turn.nonce).position(|question| asked == Some(&question))
        else {
            ask(facts, &[other], &question(&turn.nonce, 0), &facts.fence(turn), draft);
            continue;
        };
        let answer = other.status.evidence.as_ref().filter(|e| Some(&e.nonce) == asked);
        let unheard = answer.filter(|answer| !shows(answer, joiner));
        let (Some(answer), Some(pause)) = (unheard, ASKED_AGAIN.get(times)) else {
            continue;
        };
        let due = facts.again(answer.read_at.0, None, *pause);
        if facts.now() < due {
            draft.wake_at(due);
        } else {
            ask(facts, &[other], &question(&turn.nonce, times + 1), &facts.fence(turn), draft);
        }
    }
}

/// Members that have not said, while this one joined under a permit, that they
/// see it join. `None` = without a permit nobody was asked.
pub fn unheard_by(
    facts: &Facts<'_>,
    joiner: &MemberFact,
    permit: Option<&Nonce>,
) -> Vec<MemberName> {
    let has_heard = |other: &MemberFact| {
        let answer = permit.and_then(|permit| answer(other, permit));
        answer.is_some_and(|answer| shows(answer, joiner))
    };
    let rest = facts.joined().filter(|m| m.name != joiner.name);
    rest.filter(|other| !has_heard(other)).map(|other| other.name.clone()).collect()
}

/// Gossip may show a joiner before its host ID, so it is known by its address.
fn shows(answer: &Evidence, joiner: &MemberFact) -> bool {
    let address = joiner.spec.as_ref().and_then(|s| s.address.as_ref());
    answer.members.iter().flatten().any(|m| Some(&m.address) == address)
}

/// The answer to one of the questions of this turn.
fn answer<'a>(member: &'a MemberFact, turn: &Nonce) -> Option<&'a Evidence> {
    let is_one = |e: &&Evidence| questions(turn).any(|question| question == e.nonce);
    member.status.evidence.as_ref().filter(is_one)
}

/// The nonces under which it is asked, in order.
fn questions(turn: &Nonce) -> impl Iterator<Item = Nonce> {
    (0..=ASKED_AGAIN.len()).map(move |times| question(turn, times))
}

fn question(turn: &Nonce, times: usize) -> Nonce {
    Nonce::new(format!("{turn}-joining-{times}"))
}
