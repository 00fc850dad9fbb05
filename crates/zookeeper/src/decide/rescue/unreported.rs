//! Servers that vote and have not reported what they have. Nobody may go on without their word: one
//! of them may hold the only copy of what was acknowledged. A person who knows that its volume is
//! lost gives that up by its name.

use super::survey::Left;
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::words::rescue::{Gone, Problem, Unreported, Why};
use palladion_api::labels;
use palladion_api::service_member::MemberVolumeState;
use palladion_plan::words::Several;

/// Say whose report is missing, why, and how a person goes on without it.
pub(super) fn report(facts: &Facts<'_>, left: &Left<'_>, gone: Several<Gone>, draft: &mut Draft) {
    let annotation = labels::REPLACE;
    let unreported = left.unreported(facts);
    if unreported.is_empty() {
        return draft.report(Problem::NothingLeft { gone, annotation });
    }
    let namespace = &facts.snapshot.owner.meta.namespace;
    let said = unreported.into_iter().map(|m| {
        let (member, why) = (m.name.clone(), why(facts, m));
        match m.volume_id().filter(|_| m.object.is_some()).cloned() {
            Some(volume) => {
                let namespace = namespace.clone();
                Unreported::Named { member, why, namespace, annotation, volume }
            }
            None => Unreported::Unnamed { member, why },
        }
    });
    draft.report(Problem::Unreported { gone, unreported: Several(said.collect()) });
}

fn why(facts: &Facts<'_>, member: &MemberFact) -> Why {
    let node = member.pod.as_ref().and_then(|pod| pod.node.clone());
    if let Some(node) = node.filter(|node| facts.nodes.get(node) == Some(&false)) {
        return Why::Away { node };
    }
    match member.volume() {
        None => Why::Silent { pod: member.pod_words() },
        Some(volume) if volume.state == MemberVolumeState::Joined && member.is_on_its_volume() => {
            Why::NotRead
        }
        Some(volume) => Why::OnVolume { found: volume.state.into() },
    }
}
