//! Are the services there that this one depends on?

use crate::decide::draft::Draft;
use crate::facts::dependencies::{Seen, is_complete, is_enough, needed, see};
use crate::facts::graph::Graph;
use crate::reload::Ground;
use crate::resources;
use crate::words::dependencies::{Circular, Missing};
use palladion_api::service::ServiceStatus;
use palladion_api::staged::Dependency;
use palladion_plan::words::Names;
use palladion_plan::{ObjectKey, Snapshot, Trouble};

/// What the service stands on.
#[derive(Debug)]
pub struct Base<'a> {
    /// Every dependency, as it is seen.
    pub seen: Vec<(&'a Dependency, Seen)>,
    /// Is all there that pods need to start?
    pub ground: Ground,
}

impl Base<'_> {
    /// The services, if every one has said how it is and has members on record.
    pub fn services(&self) -> Option<Vec<(&Dependency, &ServiceStatus)>> {
        let there = self.seen.iter().map(|(dependency, seen)| match seen {
            Seen::There(service) if !service.nodes.is_empty() => Some((*dependency, service)),
            Seen::There(_) | Seen::Unread { .. } | Seen::Absent | Seen::Leaving | Seen::Silent => {
                None
            }
        });
        there.collect()
    }

    /// The first whose members come or go.
    pub fn incomplete(&self) -> Option<(&Dependency, &ServiceStatus)> {
        self.seen.iter().find_map(|(dependency, seen)| match seen {
            Seen::There(service) if !is_complete(service) => Some((*dependency, service)),
            Seen::There(_) | Seen::Unread { .. } | Seen::Absent | Seen::Leaving | Seen::Silent => {
                None
            }
        })
    }
}

/// The words for a dependency: its kind and its name.
pub fn words(snapshot: &Snapshot, dependency: &Dependency) -> String {
    let namespace = &snapshot.owner.meta.namespace;
    ObjectKey::new(resources::of(dependency.kind), namespace, &dependency.name).to_string()
}

/// Do the pods have texts, which need the members of every dependency?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Yes.
    Members,
    /// No.
    Readiness,
}

/// See every dependency; what is missing is waited for as soon as a gate does.
pub fn decide<'a>(
    snapshot: &Snapshot,
    depends_on: &'a [Dependency],
    needs: Needs,
    draft: &mut Draft,
) -> Base<'a> {
    let seen: Vec<(&Dependency, Seen)> = depends_on.iter().map(|d| (d, see(snapshot, d))).collect();
    if let Some(circular) = circular(snapshot) {
        draft.report(circular.clone());
        draft.more.missing = Some(Trouble::of(circular));
        return Base { seen, ground: Ground::Loose };
    }
    let missing = seen.iter().find_map(|(d, seen)| missing(snapshot, d, seen, needs));
    draft.more.missing = missing.map(Trouble::of);
    let ground = if draft.more.missing.is_some() { Ground::Loose } else { Ground::Firm };
    Base { seen, ground }
}

/// Only Components are depended on by Components, so that only they go in circles.
fn circular(snapshot: &Snapshot) -> Option<Circular> {
    let name = &snapshot.owner.meta.name;
    let is_component = snapshot
        .all(resources::COMPONENT)
        .is_ok_and(|all| all.iter().any(|o| o.meta.uid == snapshot.owner.meta.uid));
    let cycle = Graph::read(snapshot).cycle(name).filter(|_| is_component)?;
    let others = match cycle.as_slice() {
        // It names itself: admission refuses that in new objects.
        [_] => Names::of([name.as_str()]),
        cycle => Names::of(cycle.iter().skip(1).map(String::as_str)),
    };
    Some(Circular::Through { others })
}

fn missing(snapshot: &Snapshot, of: &Dependency, seen: &Seen, needs: Needs) -> Option<Missing> {
    let dependency = words(snapshot, of);
    match seen {
        Seen::Unread { why } => Some(Missing::Unread { dependency, why: why.clone() }),
        Seen::Absent => Some(Missing::Absent { dependency }),
        Seen::Leaving => Some(Missing::Leaving { dependency }),
        Seen::Silent => Some(Missing::Silent { dependency }),
        Seen::There(service) if !is_enough(service, of.minimum) => {
            let needed = needed(service, of.minimum);
            let (ready, wanted) = (service.ready, service.wanted);
            Some(Missing::TooFew { dependency, ready, wanted, needed })
        }
        Seen::There(service) if needs == Needs::Members && service.nodes.is_empty() => {
            Some(Missing::NoNodes { dependency })
        }
        Seen::There(_) => None,
    }
}
