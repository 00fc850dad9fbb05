//! Before a join: whether the node reaches its cluster, and whether the cluster names it already.
//! From when it has asked to be taken in the others may name it although its own files do not:
//! `join_cluster` writes their tables first, and the node's own file of the cluster last.

use super::Hands;
use crate::read::terms;
use crate::words::job::{Doing, NotSo};
use anyhow::{Context, Result, anyhow, bail};
use palladion_api::rabbitmq::NodeName;
use palladion_api::words::Names;

impl Hands {
    /// Reach one of these. A node with another cookie, or whose pod gets to nobody, has asked for
    /// nothing, and is known to nobody.
    pub(super) async fn meet(&self, nodes: &[NodeName]) -> Result<()> {
        let _ = self.booted().await?;
        let first = || Doing::Join { node: nodes.first().cloned().unwrap_or_default() };
        match self.eval(&reaches(nodes)).await.with_context(first)?.trim() {
            "true" => Ok(()),
            _ => Err(anyhow!(NotSo::NotReached { nodes: Names::of(nodes) })).with_context(first),
        }
    }

    /// The nodes of these that name ours as a member of their cluster.
    ///
    /// # Errors
    /// It could not be asked for them.
    pub(super) async fn named_by(&self, nodes: &[NodeName]) -> Result<Vec<NodeName>> {
        let text = self.eval(&naming(nodes)).await.context(Doing::ReadCluster)?;
        Ok(terms::nodes(&text))
    }

    /// Fail, saying so, where the others name ours.
    pub(super) async fn is_named_by_none(&self, nodes: &[NodeName]) -> Result<()> {
        let by = self.named_by(nodes).await.unwrap_or_default();
        if by.is_empty() {
            return Ok(());
        }
        bail!(NotSo::NamedWithoutData { by: Names::of(by) })
    }
}

fn list(nodes: &[NodeName]) -> String {
    let atoms: Vec<String> = nodes.iter().map(|node| terms::atom(node.as_str())).collect();
    format!("[{}]", atoms.join(","))
}

fn reaches(nodes: &[NodeName]) -> String {
    format!("(lists:any(fun(N) -> net_adm:ping(N) =:= pong end, {})).", list(nodes))
}

fn naming(nodes: &[NodeName]) -> String {
    let said = "rpc:call(N, rabbit_mnesia, cluster_nodes, [all], 10000)";
    let names =
        format!("case {said} of L when is_list(L) -> lists:member(node(), L); _ -> false end");
    format!("(lists:filter(fun(N) -> {names} end, {})).", list(nodes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_one_expression_with_all_names() {
        let nodes = ["rabbit@a", "rabbit@b"].map(NodeName::new);
        for text in [reaches(&nodes), naming(&nodes)] {
            terms::assert_one_expression(&text);
            assert!(nodes.iter().all(|node| text.contains(&terms::atom(node.as_str()))), "{text}");
        }
    }
}
