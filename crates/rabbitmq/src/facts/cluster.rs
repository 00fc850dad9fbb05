//! The cluster by what nodes report: who is a member by the word of the others, and whom
//! no member accounts for. Not to decide on what could hurt: that asks anew.

use super::{Facts, MemberFact, Node};
use palladion_api::ids::MemberName;
use palladion_api::rabbitmq::NodeName;
use palladion_api::service_member::BrokerView;
use std::collections::BTreeSet;

impl Facts<'_> {
    /// The views of nodes that serve, each with its member.
    pub fn views(&self) -> impl Iterator<Item = (&MemberFact, &BrokerView)> {
        self.members.values().filter_map(|m| Some((m, m.view()?))).filter(|(_, v)| v.serves())
    }

    /// All nodes that any node that serves names as members of the cluster.
    pub fn named(&self) -> BTreeSet<NodeName> {
        self.views().flat_map(|(_, view)| view.members.iter().cloned()).collect()
    }

    /// Does another node that serves name the node of this member?
    pub fn is_named(&self, member: &MemberFact) -> bool {
        let node = self.node_of(member);
        let others = self.views().filter(|(m, _)| m.name != member.name);
        others.into_iter().any(|(_, view)| view.names(&node))
    }

    /// Has another one ever named its node, as far as what is stored of it says? Not to decide
    /// on what could hurt, nor whether it is named now.
    pub fn was_named(&self, member: &MemberFact) -> bool {
        let node = self.node_of(member);
        let others = self.members.values().filter(|m| m.name != member.name && !m.is_gone());
        let mut views = others.flat_map(|m| {
            let answered = m.status.evidence.as_ref().and_then(|e| e.broker.as_ref());
            [m.status.broker.as_ref(), answered]
        });
        views.any(|view| view.is_some_and(|view| view.names(&node)))
    }

    /// Members whose nodes others that serve see run. What a dead machine said last is not
    /// counted.
    pub(super) fn seen(&self) -> BTreeSet<MemberName> {
        let answering = || self.views().filter(|(m, _)| m.agent_answers(&self.nodes));
        let is_seen = |member: &&MemberFact| {
            let node = self.node_of(member);
            answering().any(|(m, view)| m.name != member.name && view.sees(&node))
        };
        self.enrolled().filter(is_seen).map(|m| m.name.clone()).collect()
    }

    /// The member whose node this is.
    pub fn member_of(&self, node: &NodeName) -> Option<&MemberFact> {
        self.members.values().find(|m| !m.is_gone() && self.node_of(m) == *node)
    }

    /// Nodes of volumes that are lost: they have nothing to say.
    pub fn lost_nodes(&self) -> BTreeSet<NodeName> {
        let marked = self.members.values().filter_map(|m| m.loss()?.lost.node_name.clone());
        let reported = self.enrolled().filter(|m| m.is_lost());
        let turn = self.turn().and_then(|t| t.replaces.as_ref()?.node_name.clone());
        marked.chain(reported.map(|m| self.node_of(m))).chain(turn).collect()
    }

    /// The same, but for that of a member which may have another volume by now.
    pub fn other_lost_nodes(&self, member: &MemberFact) -> BTreeSet<NodeName> {
        let mut lost = self.lost_nodes();
        lost.remove(&self.node_of(member));
        lost
    }

    /// Nodes that others name as members and that no member accounts for. One that has
    /// left, whose turn is not over, is none.
    pub fn strangers(&self) -> BTreeSet<NodeName> {
        let lost = self.lost_nodes();
        let mut named = self.named();
        let is_known = |node: &NodeName| {
            self.members.values().any(|m| self.node_of(m) == *node) || lost.contains(node)
        };
        named.retain(|node| !is_known(node));
        named
    }
}
