//! Nodes that more than one group of an agent selects. The scheduler never puts
//! two of them on a node; which of them gets it is chance, so that both say it.

use palladion_api::node_agents::Overlap;
use std::collections::BTreeMap;

/// A group, as far as its nodes go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// `<namespace>/<name>`.
    pub name: String,
    /// Its agent.
    pub agent: String,
    /// Labels of its nodes.
    pub selector: BTreeMap<String, String>,
}

impl Group {
    /// Is a node with these labels one of the group's?
    pub fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        // A group without a selector would have every node: admission refuses it.
        !self.selector.is_empty()
            && self.selector.iter().all(|(key, value)| labels.get(key) == Some(value))
    }
}

/// The nodes of a group that others of its agent select too. Taints do not count:
/// they come and go, and the mistake is in the selectors.
pub fn overlaps<'a>(
    own: &Group,
    groups: &[Group],
    nodes: impl IntoIterator<Item = (&'a str, &'a BTreeMap<String, String>)>,
) -> Vec<Overlap> {
    let others: Vec<&Group> =
        groups.iter().filter(|g| g.agent == own.agent && g.name != own.name).collect();
    let mut found: Vec<Overlap> = nodes
        .into_iter()
        .filter(|(_, labels)| own.selects(labels))
        .filter_map(|(node, labels)| {
            let mut groups: Vec<String> =
                others.iter().filter(|g| g.selects(labels)).map(|g| g.name.clone()).collect();
            groups.sort();
            (!groups.is_empty()).then(|| Overlap { node: node.to_string(), groups })
        })
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
    }

    fn group(name: &str, agent: &str, selector: &[(&str, &str)]) -> Group {
        Group { name: name.into(), agent: agent.into(), selector: map(selector) }
    }

    #[test]
    fn a_node_that_two_groups_of_one_agent_select_is_named_with_the_other() {
        let all = [
            group("shop/kernel", "vrouter", &[("mode", "kernel")]),
            group("shop/zone-a", "vrouter", &[("zone", "a")]),
            group("other/all", "vrouter", &[("os", "linux")]),
            group("shop/logs", "fluentd", &[("os", "linux")]),
            group("shop/none", "vrouter", &[]),
        ];
        let nodes = [
            ("n1", map(&[("mode", "kernel"), ("zone", "a"), ("os", "linux")])),
            ("n2", map(&[("mode", "kernel"), ("zone", "b")])),
            ("n3", map(&[("zone", "a")])),
        ];
        let of = |group: &Group| overlaps(group, &all, nodes.iter().map(|(n, l)| (*n, l)));
        let overlap = |node: &str, groups: &[&str]| Overlap {
            node: node.into(),
            groups: groups.iter().map(ToString::to_string).collect(),
        };
        assert_eq!(of(&all[0]), [overlap("n1", &["other/all", "shop/zone-a"])]);
        assert_eq!(of(&all[1]), [overlap("n1", &["other/all", "shop/kernel"])]);
        assert_eq!(of(&all[3]), [], "another agent is no matter");
    }
}
