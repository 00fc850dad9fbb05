//! Are the services there that this one depends on?

use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::facts::dependencies::{Seen, is_complete, is_enough, needed, see};
use crate::facts::graph::Graph;
use crate::reload::Ground;
use crate::resources;
use crate::validate::Valid;
use crate::words::dependencies::{Circular, Missing};
use palladion_api::service::Service;
use palladion_api::staged::Dependency;
use palladion_plan::words::Names;
use palladion_plan::{ObjectKey, Trouble};

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
    pub fn services(&self) -> Option<Vec<(&Dependency, &Service)>> {
        let there = self.seen.iter().map(|(dependency, seen)| match seen {
            Seen::There(service) if !service.nodes.is_empty() => Some((*dependency, service)),
            Seen::There(_) | Seen::Unread { .. } | Seen::Absent | Seen::Silent => None,
        });
        there.collect()
    }

    /// The first whose members come or go.
    pub fn incomplete(&self) -> Option<(&Dependency, &Service)> {
        self.seen.iter().find_map(|(dependency, seen)| match seen {
            Seen::There(service) if !is_complete(service) => Some((*dependency, service)),
            Seen::There(_) | Seen::Unread { .. } | Seen::Absent | Seen::Silent => None,
        })
    }
}

/// The words for a dependency: its kind and its name.
pub fn words(facts: &Facts<'_>, dependency: &Dependency) -> String {
    let namespace = &facts.snapshot.owner.meta.namespace;
    ObjectKey::new(resources::of(dependency.kind), namespace, &dependency.name).to_string()
}

/// See every dependency; what is missing is waited for as soon as a gate does.
pub fn decide<'a>(facts: &Facts<'_>, valid: &'a Valid, draft: &mut Draft) -> Base<'a> {
    let all = valid.spec.depends_on.iter();
    let seen: Vec<(&Dependency, Seen)> = all.map(|d| (d, see(facts.snapshot, d))).collect();
    if let Some(cycle) = Graph::read(facts.snapshot).cycle(&valid.name) {
        let others = match cycle.as_slice() {
            // It names itself: admission refuses that in new objects.
            [_] => Names::of([valid.name.as_str()]),
            cycle => Names::of(cycle.iter().skip(1).map(String::as_str)),
        };
        let circular = Circular::Through { others };
        draft.report(circular.clone());
        draft.more.missing = Some(Trouble::of(circular));
        return Base { seen, ground: Ground::Loose };
    }
    let needs_nodes = valid.templates.is_some();
    let missing = seen.iter().find_map(|(d, seen)| missing(facts, d, seen, needs_nodes));
    draft.more.missing = missing.map(Trouble::of);
    let ground = if draft.more.missing.is_some() { Ground::Loose } else { Ground::Firm };
    Base { seen, ground }
}

fn missing(facts: &Facts<'_>, of: &Dependency, seen: &Seen, needs_nodes: bool) -> Option<Missing> {
    let dependency = words(facts, of);
    match seen {
        Seen::Unread { why } => Some(Missing::Unread { dependency, why: why.clone() }),
        Seen::Absent => Some(Missing::Absent { dependency }),
        Seen::Silent => Some(Missing::Silent { dependency }),
        Seen::There(service) if !is_enough(service, of.minimum) => {
            let needed = needed(service, of.minimum);
            let (ready, wanted) = (service.ready, service.wanted);
            Some(Missing::TooFew { dependency, ready, wanted, needed })
        }
        Seen::There(service) if needs_nodes && service.nodes.is_empty() => {
            Some(Missing::NoNodes { dependency })
        }
        Seen::There(_) => None,
    }
}
