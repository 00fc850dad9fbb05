//! Members whose pods do not start on their Nodes: a volume cannot be mounted.

use crate::decide::draft::Draft;
use crate::facts::Facts;
use palladion_plan::workload::mounts;

/// Report them.
pub fn decide(facts: &Facts<'_>, draft: &mut Draft) {
    let members = facts.members.values().filter(|m| !m.is_gone());
    let pods = members.filter_map(|m| Some((m.name.to_string(), m.pod.as_ref()?)));
    mounts::report(pods, &facts.nodes, facts.now(), draft);
}
