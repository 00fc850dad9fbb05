//! What queues have on which node: where the only copy of something is, and which node
//! a majority can do without. Pure.

use super::{Queue, QueueKind};
use palladion_api::rabbitmq::NodeName;
use palladion_api::service_member::{NodeQueues, QueueNames, QueuesView};
use std::collections::BTreeSet;

/// A queue's name as it is told: without its virtual host where that is the usual one.
pub fn name(vhost: &str, name: &str) -> String {
    match vhost {
        "/" => name.to_string(),
        vhost => format!("{name} in {vhost}"),
    }
}

/// The coordinator of streams as 3.13 names it among critical queues. It is on every node.
const COORDINATOR: &str = "rabbit_stream_coordinator in (not applicable)";

/// All queues as the node `own` sees them. `critical` is what its own checks name, to which
/// comes what the list shows; `behind`
/// which of its replicas have not caught up since its start.
pub fn queues_view(
    (own, nodes): (&NodeName, &[NodeName]),
    queues: &[Queue],
    critical: Vec<String>,
    behind: Option<QueueNames>,
) -> QueuesView {
    // Nobody could wait for another copy of a queue that is here alone, or for a third of one
    // that has two: it pauses while this node is away, and loses nothing.
    let alone: BTreeSet<String> = queues
        .iter()
        .filter(|queue| is_only_here(queue, own) || is_whole_pair(queue))
        .map(|queue| name(&queue.vhost, &queue.name))
        .chain((nodes.len() == 2).then(|| COORDINATOR.to_string()))
        .collect();
    // RabbitMQ's own checks look at quorum queues and mirrors, and at no stream.
    let needs = queues.iter().filter(|queue| !queue.exclusive && needs(queue, own));
    let critical = critical.into_iter().chain(needs.map(|queue| name(&queue.vhost, &queue.name)));
    let critical: BTreeSet<String> = critical.filter(|queue| !alone.contains(queue)).collect();
    let mut all: BTreeSet<&NodeName> = nodes.iter().collect();
    for queue in queues.iter().filter(|queue| !queue.exclusive) {
        all.extend(queue.members.iter().chain(&queue.node));
    }
    let on = all.into_iter().map(|node| on_node(node, queues));
    let nodes = on.filter(|on| !on.is_empty()).collect();
    QueuesView { nodes, critical: QueueNames::of(critical), behind }
}

/// What queues have on one node.
pub fn on_node(node: &NodeName, queues: &[Queue]) -> NodeQueues {
    let named = |wanted: &dyn Fn(&Queue) -> bool| {
        let those = queues.iter().filter(|queue| !queue.exclusive && wanted(queue));
        QueueNames::of(those.map(|queue| name(&queue.vhost, &queue.name)))
    };
    let is_member = |queue: &Queue| queue.is_replicated() && queue.members.contains(node);
    NodeQueues {
        node: node.clone(),
        replicas: named(&|queue| queue.kind() == QueueKind::Quorum && is_member(queue)),
        streams: named(&|queue| queue.kind() == QueueKind::Stream && is_member(queue)),
        classic: named(&|queue| is_only_copy(queue, node)),
        without_majority: named(&|queue| needs(queue, node)),
        only_here: named(&|queue| is_only_here(queue, node)),
    }
}

/// Is this node the only one that has all of a durable queue? Of a kind that is not known
/// the node that it is on counts as that.
fn is_only_copy(queue: &Queue, node: &NodeName) -> bool {
    let has_it = queue.node.as_ref() == Some(node);
    match queue.kind() {
        QueueKind::Quorum | QueueKind::Stream => false,
        QueueKind::Other => has_it,
        QueueKind::Classic => {
            let another = queue.synchronised_slave_nodes.iter().any(|mirror| mirror != node);
            queue.durable && has_it && !another
        }
    }
}

/// Has it its only replica on a node?
fn is_only_here(queue: &Queue, node: &NodeName) -> bool {
    queue.is_replicated() && queue.members == std::slice::from_ref(node)
}

/// Has it a replica on a node, others elsewhere, and no majority without that node?
fn needs(queue: &Queue, node: &NodeName) -> bool {
    let is_member = queue.is_replicated() && queue.members.contains(node);
    is_member && !is_only_here(queue, node) && !has_majority_without(queue, node)
}

/// Has it two replicas, both online? Either is critical for ever: RabbitMQ counts whether more
/// than a majority is online, and of two both are the majority.
fn is_whole_pair(queue: &Queue) -> bool {
    let is_online = |node: &NodeName| queue.online.contains(node);
    queue.is_replicated() && queue.members.len() == 2 && queue.members.iter().all(is_online)
}

/// Are more than half of all replicas online on other nodes?
fn has_majority_without(queue: &Queue, node: &NodeName) -> bool {
    let elsewhere = |other: &&NodeName| *other != node && queue.members.contains(other);
    let online = queue.online.iter().filter(elsewhere).count();
    online * 2 > queue.members.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str) -> NodeName {
        NodeName::new(format!("rabbit@{name}"))
    }

    fn nodes(names: &[&str]) -> Vec<NodeName> {
        names.iter().map(|name| node(name)).collect()
    }

    fn queue(name: &str, kind: &str, members: &[&str], online: &[&str]) -> Queue {
        Queue {
            name: name.into(),
            vhost: "/".into(),
            kind: Some(kind.into()),
            durable: true,
            exclusive: false,
            node: members.first().map(|name| node(name)),
            members: if kind == "classic" { Vec::new() } else { nodes(members) },
            online: nodes(online),
            synchronised_slave_nodes: Vec::new(),
            arguments: Default::default(),
        }
    }

    #[test]
    fn replicas_count_online_or_not_and_a_majority_only_where_it_is_online_elsewhere() {
        let queues = [
            queue("q3", "quorum", &["a", "b", "c"], &["a", "b", "c"]),
            queue("q2", "quorum", &["a", "b"], &["a", "b"]),
            queue("s", "stream", &["a", "b", "c"], &["a", "b"]),
            queue("q1", "quorum", &["b"], &["b"]),
        ];
        let a = on_node(&node("a"), &queues);
        assert_eq!(
            (a.replicas.names, a.streams.names),
            (vec!["q2".into(), "q3".into()], vec!["s".into()])
        );
        // One of two, and one of three, is no majority.
        assert_eq!(a.without_majority.names, ["q2", "s"]);
        assert!(a.only_here.is_empty());
        let b = on_node(&node("b"), &queues);
        assert_eq!((b.only_here.names, b.without_majority.count), (vec!["q1".into()], 2));
        // It has lost its replica's process, and is still named.
        assert_eq!(on_node(&node("c"), &queues).streams.count, 1);
    }

    #[test]
    fn a_classic_queue_is_lost_with_the_node_that_alone_has_all_of_it() {
        let mirrored = Queue {
            synchronised_slave_nodes: nodes(&["b"]),
            ..queue("mirrored", "classic", &["a"], &[])
        };
        let brief = Queue { durable: false, ..queue("brief", "classic", &["a"], &[]) };
        let private = Queue { exclusive: true, ..queue("private", "classic", &["a"], &[]) };
        let queues = [queue("only", "classic", &["a"], &[]), mirrored, brief, private];
        assert_eq!(on_node(&node("a"), &queues).classic.names, ["only"]);
        assert!(on_node(&node("b"), &queues).is_empty());
        let other = [queue("odd", "delayed", &["a"], &[])];
        assert_eq!(on_node(&node("a"), &other).classic.names, ["odd"], "it may be all there is");
    }

    /// A node that was forgotten is named by queues of which it has a replica (R10).
    #[test]
    fn a_node_that_only_a_queue_names_is_in_the_view_and_one_with_nothing_is_not() {
        let queues =
            [queue("q", "quorum", &["a", "gone"], &["a"]), queue("r", "quorum", &["a"], &["a"])];
        let critical = vec!["q".into(), "r".into()];
        let view = queues_view((&node("a"), &nodes(&["a", "b"])), &queues, critical, None);
        let listed: Vec<_> = view.nodes.iter().map(|on| on.node.as_str()).collect();
        assert_eq!(listed, ["rabbit@a", "rabbit@gone"]);
        assert_eq!((view.critical.names.clone(), view.behind.clone()), (vec!["q".into()], None));
        assert!(view.on(&node("b")).is_empty());
    }

    #[test]
    fn a_queue_of_two_holds_no_restart_up_while_both_have_it() {
        let critical = |online: &[&str], nodes: &[NodeName]| {
            let queues = [queue("q", "quorum", &["a", "b"], online)];
            let named = vec!["q".into(), COORDINATOR.into()];
            queues_view((&node("a"), nodes), &queues, named, None).critical.names
        };
        assert_eq!(critical(&["a", "b"], &nodes(&["a", "b"])), Vec::<String>::new());
        assert_eq!(critical(&["a"], &nodes(&["a", "b"])), ["q"]);
        assert_eq!(critical(&["a", "b"], &nodes(&["a", "b", "c"])), [COORDINATOR]);
    }

    #[test]
    fn a_stream_without_a_majority_elsewhere_holds_a_restart_up_and_a_whole_pair_does_not() {
        let queues = [
            queue("s", "stream", &["a", "b", "c"], &["a", "b"]),
            queue("whole", "stream", &["a", "b", "c"], &["a", "b", "c"]),
            queue("pair", "stream", &["a", "b"], &["a", "b"]),
            queue("half", "quorum", &["a", "b"], &["a"]),
            queue("elsewhere", "quorum", &["b", "c"], &["b"]),
        ];
        let all = nodes(&["a", "b", "c"]);
        let view = queues_view((&node("a"), &all), &queues, Vec::new(), None);
        assert_eq!(view.critical.names, ["half", "s"]);
        let without = &view.on(&node("a")).without_majority;
        assert_eq!(without.names, ["half", "pair", "s"], "whoever forgets the node counts it");
    }

    #[test]
    fn a_queue_in_another_virtual_host_is_told_with_it() {
        assert_eq!((name("/", "q").as_str(), name("v", "q").as_str()), ("q", "q in v"));
    }
}
