//! How members speak to each other, as the next pods are to be rendered. A server takes those
//! that are at most one step away (`Off`, `Accept`, `Prefer`, `Require`): with two steps between
//! them, one speaks in the clear to one that takes TLS alone, or the other way round, and the
//! ring splits. So the step follows from the pods that exist and never from a record, which may
//! be lost or restored.

use crate::facts::{Facts, MemberFact, SetFact};
use crate::validate;
use palladion_api::cluster::InternodeTlsMode as Mode;
use palladion_api::ids::MemberName;
use palladion_api::labels::INTERNODE_TLS;
use palladion_api::member::Guard;

/// Of a StatefulSet.
const ANNOTATIONS: &str = "/spec/template/metadata/annotations";

/// The step that pods are rendered with.
pub fn now(facts: &Facts<'_>) -> Mode {
    let with_pods = facts.members.values().filter(|m| m.pod.is_some());
    let (refused, others): (Vec<_>, Vec<_>) = with_pods.partition(|m| is_refused(m));
    let mode = |m: &&MemberFact| Some(of_pod(&m.pod.as_ref()?.annotations));
    let pods: Vec<Mode> = others.iter().filter_map(mode).collect();
    let rendered: Vec<Mode> = facts.sets.values().map(of_set).collect();
    // A pod that is lost meanwhile would wait for a certificate that nobody signs.
    let is_begun = pods.iter().chain(&rendered).any(|mode| *mode != Mode::Off);
    if !is_begun && !pods.is_empty() && !facts.can_sign() {
        return Mode::Off;
    }
    if pods.is_empty() && !refused.is_empty() {
        return wanted(facts);
    }
    step(wanted(facts), &pods, &rendered, not_ready(facts).is_some())
}

/// The steps that are at most one away from those of pods that exist; all where there are none.
pub fn reach(facts: &Facts<'_>) -> (Mode, Mode) {
    let pods = facts.members.values().filter_map(|m| Some(of_pod(&m.pod.as_ref()?.annotations)));
    let pods: Vec<Mode> = pods.collect();
    match (pods.iter().min(), pods.iter().max()) {
        (Some(lowest), Some(highest)) => (lowest.previous(), highest.next()),
        (_, _) => (Mode::Off, Mode::Require),
    }
}

/// Was its pod rendered with less than its servers may be started with, by an operator that did
/// not know? Then none runs in it and none will, and nobody has to be understood there.
fn is_refused(member: &MemberFact) -> bool {
    let has_floor =
        member.security_floor().is_some_and(|floor| floor.contains(&Guard::InternodeTls));
    let is_less = member.pod.as_ref().is_some_and(|pod| of_pod(&pod.annotations) != Mode::Require);
    let server = member.status.server.as_ref();
    has_floor && is_less && server.is_some_and(|server| !server.state.may_run())
}

/// The step that the spec asks for.
pub fn wanted(facts: &Facts<'_>) -> Mode {
    validate::internode(&facts.spec).map_or(Mode::Off, |internode| internode.mode)
}

/// A member that the next step waits for: whoever has no pod may still run somewhere as it was,
/// and whoever is not ready has not shown that it can speak so.
pub fn not_ready<'a>(facts: &'a Facts<'_>) -> Option<&'a MemberName> {
    let is_ready = |m: &MemberFact| {
        // One that is not rebuilt is never ready, and speaks to others as it does.
        let is_in = m.awaits_rebuild() && m.is_normal();
        is_in || m.pod.as_ref().is_some_and(|pod| pod.ready_since.is_some())
    };
    let mut members = facts.members.values().filter(|m| m.object.is_some() && !m.is_gone());
    members.find(|m| !is_ready(m)).map(|m| &m.name)
}

/// One step from where everybody is towards what is wanted. While not everybody is ready, none
/// that nobody has taken yet.
fn step(wanted: Mode, pods: &[Mode], rendered: &[Mode], is_held: bool) -> Mode {
    let ends = |all: &[Mode]| Some((*all.iter().min()?, *all.iter().max()?));
    let Some((lowest, highest)) = ends(pods) else {
        return ends(rendered).map_or(wanted, |(low, high)| wanted.clamp(low, high));
    };
    // Pods that are further apart are nothing that came from here: they meet in the middle.
    let (one, other) = (highest.previous(), lowest.next());
    let (from, to) = (one.min(other), one.max(other));
    if !is_held {
        return wanted.clamp(from, to);
    }
    let taken = || pods.iter().chain(rendered).copied().map(|mode| mode.clamp(from, to));
    let (low, high) = (taken().min().unwrap_or(from), taken().max().unwrap_or(to));
    wanted.clamp(low, high)
}

fn of_pod(annotations: &std::collections::BTreeMap<String, String>) -> Mode {
    annotations.get(INTERNODE_TLS).and_then(|text| Mode::read(text)).unwrap_or_default()
}

fn of_set(set: &SetFact) -> Mode {
    let annotation = set.object.at(ANNOTATIONS).and_then(|all| all.get(INTERNODE_TLS)?.as_str());
    annotation.and_then(Mode::read).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::Mode::{Accept, Off, Prefer, Require};
    use super::*;

    #[test]
    fn a_ring_that_is_made_has_what_it_wants_at_once() {
        assert_eq!(step(Require, &[], &[], false), Require);
        assert_eq!(step(Off, &[], &[], false), Off);
    }

    #[test]
    fn a_ring_that_runs_takes_one_step_after_the_other_both_ways() {
        for (wanted, way) in
            [(Require, [Off, Accept, Prefer, Require]), (Off, [Require, Prefer, Accept, Off])]
        {
            for pair in way.windows(2) {
                let (at, next) = (pair[0], pair[1]);
                assert_eq!(step(wanted, &[at, at, at], &[at], false), next);
                assert_eq!(step(wanted, &[at, next, at], &[next], false), next);
                assert_eq!(step(wanted, &[next, next, at], &[next], false), next);
            }
        }
        assert_eq!(step(Require, &[Require], &[Require], false), Require);
    }

    #[test]
    fn what_is_taken_back_goes_back_to_where_the_others_are() {
        assert_eq!(step(Off, &[Accept, Prefer, Accept], &[Prefer], false), Accept);
        assert_eq!(step(Off, &[Accept, Prefer, Accept], &[Prefer], true), Accept);
        assert_eq!(step(Require, &[Prefer, Accept, Prefer], &[Accept], true), Prefer);
    }

    #[test]
    fn nobody_goes_on_while_somebody_is_not_ready() {
        assert_eq!(step(Require, &[Accept, Accept], &[Accept], true), Accept);
        // The step that is under way stays.
        assert_eq!(step(Require, &[Accept, Accept], &[Prefer], true), Prefer);
        assert_eq!(step(Off, &[Require, Require], &[Prefer], true), Prefer);
        // What a StatefulSet says leads nobody away from the pods.
        assert_eq!(step(Off, &[Accept, Prefer, Accept], &[Off], true), Accept);
        assert_eq!(step(Off, &[Require, Require], &[Off], true), Prefer);
    }

    #[test]
    fn a_ring_without_pods_stays_as_it_was_rendered() {
        assert_eq!(step(Require, &[], &[Off, Off], false), Off);
        assert_eq!(step(Off, &[], &[Prefer, Accept], false), Accept);
    }

    /// Whatever pods there are, the one that is made next can speak to each of them.
    #[test]
    fn the_next_pod_can_speak_to_all_others() {
        let apart = |a: Mode, b: Mode| {
            let at = |mode| Mode::STEPS.iter().position(|known| *known == mode).unwrap();
            at(a).abs_diff(at(b))
        };
        for low in Mode::STEPS {
            for high in [low, low.next()] {
                for wanted in Mode::STEPS {
                    for rendered in Mode::STEPS {
                        for is_held in [false, true] {
                            let next = step(wanted, &[low, high], &[rendered], is_held);
                            assert!(apart(next, low) <= 1 && apart(next, high) <= 1);
                        }
                    }
                }
            }
        }
    }
}
