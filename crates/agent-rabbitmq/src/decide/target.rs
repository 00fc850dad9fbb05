//! Which node gets the replica that is moved off another one.
//!
//! A leaver gives its replicas to nodes of lower ordinals alone. Nodes leave from the highest down,
//! so that those that stay are below each leaver; of two that cannot leave yet each would take what
//! the other one has moved, with every try.

use palladion_api::rabbitmq::NodeName;
use std::collections::BTreeMap;

/// The one with the fewest replicas of all that run and have none of this queue. `own` is the node
/// whose agent moves them, `from` the one that they are moved off.
pub fn target(
    (own, from): (&NodeName, &NodeName),
    members: &[NodeName],
    running: &[NodeName],
    load: &BTreeMap<NodeName, usize>,
) -> Option<NodeName> {
    let free: Vec<&NodeName> = running.iter().filter(|node| !members.contains(node)).collect();
    let fewest = |nodes: Vec<&NodeName>| {
        let fewest = nodes.into_iter();
        fewest.min_by_key(|node| load.get(*node).copied().unwrap_or_default()).cloned()
    };
    // Of a lost node another one moves them, which stays itself.
    if own != from {
        return fewest(free);
    }
    let below = free.iter().copied().filter(|node| is_below(node, own)).collect();
    // The only replica goes anywhere sooner than nowhere.
    let is_alone = members.iter().all(|member| member == from);
    fewest(below).or_else(|| is_alone.then(|| fewest(free)).flatten())
}

/// Has a node a lower ordinal than another? Where a name has none, that keeps nobody out.
fn is_below(node: &NodeName, other: &NodeName) -> bool {
    ordinal(node).zip(ordinal(other)).is_none_or(|(one, other)| one < other)
}

/// The ordinal of the pod by whose name a node is called.
fn ordinal(node: &NodeName) -> Option<u32> {
    let pod = node.host()?.split('.').next()?;
    pod.rsplit_once('-')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(ordinal: usize) -> NodeName {
        NodeName::new(format!("rabbit@demo-rmq-{ordinal}.demo-rmq-nodes.messaging.svc"))
    }

    fn nodes(ordinals: &[usize]) -> Vec<NodeName> {
        ordinals.iter().map(|ordinal| node(*ordinal)).collect()
    }

    fn to(own: usize, from: usize, members: &[usize], running: &[usize]) -> Option<NodeName> {
        let (own, from) = (node(own), node(from));
        target((&own, &from), &nodes(members), &nodes(running), &BTreeMap::new())
    }

    #[test]
    fn the_node_with_the_fewest_replicas_gets_the_next() {
        let names = |names: &[&str]| -> Vec<NodeName> {
            names.iter().map(|name| NodeName::new(*name)).collect()
        };
        let load = [("a", 1), ("b", 1), ("d", 2), ("e", 1)];
        let load = load.map(|(name, count)| (NodeName::new(name), count)).into();
        let (running, c) = (names(&["a", "b", "d", "e"]), NodeName::new("c"));
        let to = |members: &[&str]| target((&c, &c), &names(members), &running, &load);
        assert_eq!(to(&["a", "c"]), Some(NodeName::new("b")));
        assert_eq!(to(&["a", "b", "d", "e"]), None);
    }

    #[test]
    fn two_leavers_give_each_other_nothing_back() {
        assert_eq!(to(3, 3, &[0, 1, 2, 3], &[0, 1, 2, 3, 4]), None);
        assert_eq!(to(3, 3, &[0, 1, 3], &[0, 1, 2, 3, 4]), Some(node(2)));
        assert_eq!(to(4, 4, &[0, 1, 2, 4], &[0, 1, 2, 3, 4]), Some(node(3)), "which passes it on");
        // Ten is above nine, whatever comes first in the alphabet.
        assert_eq!(to(9, 9, &[9, 0], &[0, 9, 10]), None);
    }

    #[test]
    fn the_only_replica_goes_to_a_higher_node_where_no_lower_one_runs() {
        assert_eq!(to(1, 1, &[1], &[1, 2]), Some(node(2)));
        assert_eq!(to(1, 1, &[1], &[0, 1, 2]), Some(node(0)));
    }

    #[test]
    fn what_is_moved_off_a_lost_node_may_go_to_any_other() {
        assert_eq!(to(0, 1, &[0, 1], &[0, 2]), Some(node(2)));
    }
}
