//! Bringing members to the newest revision, and restarting those that a person
//! wants restarted: one that serves only in its turn, while all others are up.

use crate::decide::draft::{Draft, synced};
use crate::decide::evidence::{self, Verdict};
use crate::decide::objects::restart_tokens;
use crate::decide::restart::going_without;
use crate::decide::restart::steps::{delete_pod, give_token, prepare};
use crate::decide::turn::lock;
use crate::facts::words::{pod_words, server_words};
use crate::facts::{Facts, MemberFact, PodFact};
use crate::validate::Valid;
use jiff::SignedDuration;
use palladion_api::cluster::Turn;
use palladion_api::ids::HostId;
use palladion_api::member::ServerState;
use palladion_api::reasons::Reason;

/// Gossip settles within seconds; then the question is put again.
const ASK_AGAIN: SignedDuration = SignedDuration::from_secs(5);

/// What a member's restart turn has still to do.
enum Task<'a> {
    /// Its pod is of an older revision.
    NewPod(&'a str),
    /// Its server is to be started anew in its pod.
    Token(String),
    /// It only has to come back.
    ComeBack,
}

/// Go on with a Restart turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &Turn, draft: &mut Draft) {
    let rack_of = |m: &MemberFact| valid.racks.iter().find(|r| r.name == m.rack);
    let Some((member, rack)) =
        facts.members.get(&turn.member).and_then(|m| rack_of(m).map(|r| (m, r)))
    else {
        draft.steps.push(lock::claim(
            facts,
            None,
            None,
            format!("end the turn of member {}: it is gone", turn.member),
            None,
        ));
        return;
    };
    let Some(newest) = facts.newest_revision(&rack.set) else {
        draft.wait(Reason::RollingOut, format!("the set of rack {} is being updated", rack.name));
        return;
    };
    let Some(pod) = member.pod.as_ref().filter(|p| !p.terminating) else {
        draft.wait(
            Reason::RollingOut,
            format!("member {} is being restarted: {}", member.name, pod_words(member)),
        );
        return;
    };
    let task = match restart_tokens::due(valid, member) {
        _ if pod.revision != newest => Task::NewPod(newest),
        Some(token) => Task::Token(token),
        None => Task::ComeBack,
    };
    if matches!(task, Task::ComeBack) {
        return proven(facts, member, pod, draft);
    }
    let witnesses = evidence::witnesses(facts, &member.name);
    // A canary that does not come up is what the next pod repairs.
    let own = member.recorded_host_id().filter(|_| !member.is_normal());
    let except: Vec<&HostId> =
        own.into_iter().chain(going_without::host_ids(facts, valid)).collect();
    match evidence::verdict(facts, &witnesses, &turn.nonce, &except) {
        Verdict::Good(proof) => match task {
            Task::NewPod(newest) => {
                stop(facts, valid, turn, member, pod, newest, proof, draft);
            }
            Task::Token(token) => {
                let fence = facts.fence(turn);
                draft.steps.extend(give_token(valid, member, &token, Some(fence)));
            }
            Task::ComeBack => {}
        },
        Verdict::Waiting(names) => {
            evidence::ask(facts, &witnesses, &turn.nonce, &facts.fence(turn), draft);
            draft.wait_until(
                Reason::WaitingForEvidence,
                format!(
                    "member {} waits for its restart: {} should tell how they see the ring",
                    member.name,
                    names.join(", ")
                ),
                evidence::void_from(turn),
            );
        }
        Verdict::Bad { why, read_at } => {
            let again = read_at + ASK_AGAIN;
            draft.wait_until(
                Reason::RollingOut,
                format!("member {} waits for its restart: {why}", member.name),
                again,
            );
            if facts.now() >= again {
                // Its own turn goes on under a fresh nonce: nobody else may restart before it is back.
                let renewed = own.map(|_| {
                    lock::new(facts, &turn.member, &turn.volume_id, turn.step, turn.attempt + 1)
                });
                let verb = if renewed.is_some() { "ask again for" } else { "end" };
                draft.steps.push(lock::claim(
                    facts,
                    renewed.as_ref(),
                    None,
                    format!("{verb} the turn of member {}: {why}", member.name),
                    None,
                ));
            }
        }
    }
}

fn proven(facts: &Facts<'_>, member: &MemberFact, pod: &PodFact, draft: &mut Draft) {
    if member.is_normal() && restart_tokens::is_done(member) {
        let event =
            synced(format!("Member {} restarted in revision {}", member.name, pod.revision));
        draft.steps.push(lock::claim(
            facts,
            None,
            None,
            format!("end the turn of member {}", member.name),
            event,
        ));
        return;
    }
    let failed = member.agent_speaks()
        && member.status.server.as_ref().is_some_and(|s| s.state == ServerState::Failed);
    if pod.trouble.is_some() || pod.unschedulable.is_some() || failed {
        draft.trouble(
            Reason::RolloutStuck,
            format!(
                "the rollout stopped at member {}: {}; {}",
                member.name,
                pod_words(member),
                server_words(member)
            ),
        );
    }
    draft.wait(
        Reason::RollingOut,
        format!("member {} restarts: {}", member.name, server_words(member)),
    );
}

#[expect(clippy::too_many_arguments, reason = "one write, all of whose parts are named here")]
fn stop(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    member: &MemberFact,
    pod: &PodFact,
    newest: &str,
    proof: String,
    draft: &mut Draft,
) {
    let Some(object) = &member.object else { return };
    if member.claim.as_ref().is_some_and(|c| c.terminating) {
        draft.wait(
            Reason::ClaimTerminating,
            format!("member {} keeps its pod: its claim is being deleted", member.name),
        );
        return;
    }
    draft.steps.extend(prepare(valid, member, object, newest, facts.fence(turn)));
    draft.steps.push(delete_pod(valid, member, pod, proof, Some(facts.fence(turn))));
}
