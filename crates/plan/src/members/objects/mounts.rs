//! Members whose pods do not start on their Nodes: a volume cannot be mounted.

use super::super::{Draft, ServiceFacts};
use crate::workload::mounts;

/// Report them.
pub fn decide(facts: &ServiceFacts<'_>, draft: &mut Draft) {
    let members = facts.members.values().filter(|m| !m.is_gone());
    let pods = members.filter_map(|m| Some((m.name.to_string(), m.pod.as_ref()?)));
    mounts::report(pods, &facts.nodes, facts.snapshot.now, draft);
}
