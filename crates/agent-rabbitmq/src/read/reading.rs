//! A look at a node that runs.

use super::{Node, Overview};
use palladion_api::rabbitmq::NodeName;
use palladion_api::service_member::{Alarm, BrokerView, FeatureFlags};

/// What a look at the node has shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// What the node said of itself and the others; nothing while it is silent.
    pub seen: Option<(Overview, Vec<Node>)>,
    /// Does it know the agent's user? A node that does answers nothing else.
    pub access: Access,
    /// Feature flags, where they were read.
    pub flags: Option<FeatureFlags>,
}

/// Whether the node takes the agent's user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// As far as is known.
    #[default]
    Granted,
    /// It does not.
    Denied,
}

impl Reading {
    /// Does it answer at all?
    pub fn answers(&self) -> bool {
        self.seen.is_some() || self.access == Access::Denied
    }

    /// Its version.
    pub fn version(&self) -> Option<&str> {
        self.seen.as_ref()?.0.rabbitmq_version.as_deref()
    }

    /// The cluster as it sees it.
    pub fn broker(&self) -> Option<BrokerView> {
        let (overview, nodes) = self.seen.as_ref()?;
        let own = &overview.node;
        let sorted = |wanted: &dyn Fn(&&Node) -> bool| {
            let mut names: Vec<NodeName> =
                nodes.iter().filter(wanted).map(|node| node.name.clone()).collect();
            names.sort();
            names
        };
        let mut partitions: Vec<NodeName> = nodes
            .iter()
            .filter(|node| node.name == *own)
            .flat_map(|node| node.partitions.clone().unwrap_or_default())
            .collect();
        partitions.sort();
        partitions.dedup();
        let short = |node: &Node| {
            let alarm = |is: Option<bool>, resource: &str| {
                is.unwrap_or_default()
                    .then(|| Alarm { node: node.name.clone(), resource: resource.into() })
            };
            [alarm(node.mem_alarm, "memory"), alarm(node.disk_free_alarm, "disk")]
        };
        Some(BrokerView {
            node: own.clone(),
            running: sorted(&|node| node.running),
            members: sorted(&|_| true),
            partitions,
            alarms: nodes.iter().flat_map(short).flatten().collect(),
            flags: self.flags.clone(),
        })
    }

    /// Has it all samples that a view is made of: the own partitions, and the alarms of all
    /// nodes that run? Without them a node that has only just started, or one that takes no
    /// samples, would show none.
    pub fn is_whole(&self) -> bool {
        let knows = |node: &Node| node.mem_alarm.is_some() && node.disk_free_alarm.is_some();
        self.own().is_some_and(|own| own.partitions.is_some())
            && self
                .seen
                .iter()
                .flat_map(|(_, nodes)| nodes)
                .all(|node| !node.running || knows(node))
    }

    /// Does it take clients?
    pub fn listens(&self) -> bool {
        self.seen.as_ref().is_some_and(|(overview, _)| overview.is_open())
    }

    /// Is it drained, as far as it says?
    pub fn is_drained(&self) -> bool {
        self.own().is_some_and(|node| node.being_drained)
    }

    /// What it says of itself.
    pub fn own(&self) -> Option<&Node> {
        let (overview, nodes) = self.seen.as_ref()?;
        nodes.iter().find(|node| node.name == overview.node)
    }

    /// Does it serve as a member: running in a cluster that names it, and open for clients?
    pub fn serves(&self) -> bool {
        self.listens() && !self.is_drained() && self.broker().is_some_and(|broker| broker.serves())
    }

    /// Does it see every member run, and no partition? Asked of one that joins: of others it
    /// would take the whole service down while one node is away.
    pub fn sees_all(&self) -> bool {
        self.sees_no_partition()
            && self
                .broker()
                .is_some_and(|broker| broker.members.iter().all(|node| broker.sees(node)))
    }

    /// Does it say that it has seen no partition?
    pub fn sees_no_partition(&self) -> bool {
        let knows = self.own().is_some_and(|own| own.partitions.is_some());
        knows && self.broker().is_some_and(|broker| broker.partitions.is_empty())
    }

    /// Does it see all of these run?
    pub fn sees(&self, nodes: &[NodeName]) -> bool {
        self.broker().is_some_and(|broker| nodes.iter().all(|node| broker.sees(node)))
    }

    /// Does it see a majority of the members run, itself among them?
    pub fn sees_a_majority(&self) -> bool {
        self.broker().is_some_and(|broker| {
            let run = broker.members.iter().filter(|node| broker.sees(node)).count();
            run * 2 > broker.members.len()
        })
    }

    /// Would the others be a majority without it? Of two they are not: the other would pause.
    pub fn others_are_a_majority(&self) -> bool {
        self.broker().is_some_and(|broker| {
            let others = broker.running.iter().filter(|node| **node != broker.node).count();
            others * 2 > broker.members.len()
        })
    }

    /// Is it its whole cluster?
    pub fn is_alone(&self) -> bool {
        self.broker().is_some_and(|broker| broker.members == [broker.node])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::testing::{closed, node, reading};

    #[test]
    fn a_node_serves_that_runs_in_a_cluster_and_listens() {
        let serves = reading(&["a", "b", "c"], &["a", "b"]);
        assert!(serves.serves() && !serves.sees_all());
        assert!(!closed(&["a", "b"], &["a", "b"]).serves());
        assert!(!reading(&["a", "b"], &["b"]).serves(), "its application is stopped");
        assert!(!Reading::default().serves());
        let drained = {
            let mut drained = reading(&["a"], &["a"]);
            drained.seen.as_mut().unwrap().1[0].being_drained = true;
            drained
        };
        assert!(!drained.serves());
    }

    #[test]
    fn of_two_the_other_is_no_majority_and_of_three_two_are() {
        assert!(!reading(&["a", "b"], &["a", "b"]).others_are_a_majority());
        assert!(reading(&["a", "b", "c"], &["a", "b", "c"]).others_are_a_majority());
        assert!(!reading(&["a", "b", "c"], &["a", "b"]).others_are_a_majority());
        assert!(reading(&["a"], &["a"]).is_alone());
    }

    #[test]
    fn the_view_is_sorted_and_has_the_own_partitions_and_all_alarms() {
        let mut seen = reading(&["b", "a"], &["b", "a"]);
        let nodes = &mut seen.seen.as_mut().unwrap().1;
        for other in nodes.iter_mut() {
            other.mem_alarm = Some(other.name == node("b"));
            other.partitions = Some(vec![node(if other.name == node("a") { "b" } else { "a" })]);
        }
        let view = seen.broker().unwrap();
        assert_eq!(view.members, [node("a"), node("b")]);
        assert_eq!(view.partitions, [node("b")]);
        assert_eq!(
            (view.alarms[0].node.clone(), view.alarms[0].resource.as_str()),
            (node("b"), "memory")
        );
        assert!(!seen.sees_all());
    }

    #[test]
    fn a_node_without_samples_shows_no_view_and_one_that_does_not_run_has_none() {
        let change = |name: &str, change: fn(&mut Node)| {
            let mut seen = reading(&["a", "b", "c"], &["a", "b"]);
            let nodes = &mut seen.seen.as_mut().unwrap().1;
            nodes.iter_mut().filter(|other| other.name == node(name)).for_each(change);
            seen
        };
        assert!(reading(&["a", "b"], &["a", "b"]).is_whole());
        assert!(!change("a", |node| node.partitions = None).is_whole());
        assert!(!change("b", |node| node.disk_free_alarm = None).is_whole());
        assert!(change("c", |node| node.mem_alarm = None).is_whole());
        let mut seen = reading(&["a", "b"], &["a", "b"]);
        assert!(seen.sees_all());
        seen.seen.as_mut().unwrap().1.iter_mut().for_each(|node| node.partitions = None);
        assert!(!seen.sees_all() && seen.serves(), "who serves is not taken down by it");
    }
}
