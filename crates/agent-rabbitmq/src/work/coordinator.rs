//! The coordinator of streams when a node leaves. It is a Raft cluster with a member on each
//! node, and up to 3.12 `forget_cluster_node` does not touch it: its leader alone looks every
//! 30 s which nodes the cluster has. If the leader was on the leaver, the last of two never
//! has a majority again, and its streams are out of reach. If a node comes back under its
//! name before the leader has looked, its blank member votes.

use super::Hands;
use crate::decide::operation::Naming;
use crate::read::terms;
use crate::words::job::{Doing, NotSo};
use anyhow::{Context, Result, bail};
use palladion_api::rabbitmq::NodeName;
use std::time::{Duration, Instant};

/// An election takes a moment, and a change of its members a round trip.
const SETTLE_TIME: Duration = Duration::from_secs(20);
/// From one look to the next: each is a call of the command line.
const SETTLE_LOOK: Duration = Duration::from_secs(2);

/// The leader gives a node that has joined a member when it looks next, every 30 s.
const ADD_TIME: Duration = Duration::from_secs(120);
/// Does it run on this node?
const RUNS: &str = "case whereis(rabbit_stream_coordinator) of undefined -> absent; _ -> here end.";

/// Move the leader elsewhere if it is here. A member that is behind is not elected: the next
/// one is asked.
const HAND_OVER: &str = "\
(fun() -> C = rabbit_stream_coordinator, S = {C, node()}, \
L = fun() -> {ok, Ms, Leader} = ra:members(S), {Ms, Leader} end, \
case whereis(C) of undefined -> elsewhere; _ -> \
case L() of {[S], S} -> elsewhere; \
{Ms, S} -> case lists:any(fun(T) -> ra:transfer_leadership(S, T), timer:sleep(1000), \
element(2, L()) =/= S end, [T || {_, N} = T <- Ms, N =/= node(), lists:member(N, nodes())]) of \
true -> elsewhere; false -> here end; \
_ -> elsewhere end end end)().";

/// Remove the member on a node, and say whether there was one before: what was asked for is
/// so only when it is seen to be so. The coordinator may not run here yet.
fn removal(node: &NodeName) -> String {
    let node = terms::atom(node.as_str());
    format!(
        "(fun() -> C = rabbit_stream_coordinator, G = {{C, {node}}}, \
         case [{{C, N}} || N <- [node() | nodes()], {{C, N}} =/= G, \
         is_pid(rpc:call(N, erlang, whereis, [C], 5000))] of [] -> absent; \
         Ss -> {{ok, Ms, L}} = ra:members(Ss), \
         case lists:member(G, Ms) of false -> absent; \
         true -> ra:remove_member(L, G), removing end end end)()."
    )
}

impl Hands {
    /// Before a stream is changed: wait until the coordinator runs here. On a node that it has
    /// not reached yet, the command itself would start one with nothing in it, which the
    /// leader never takes for a member (3.10, `start_coordinator_cluster`).
    pub(super) async fn coordinator_runs(&self) -> Result<()> {
        match self.settles(RUNS, "here", ADD_TIME).await.context(Doing::ReadCoordinator)? {
            true => Ok(()),
            false => bail!(NotSo::NoCoordinator),
        }
    }

    /// Before the application is stopped: have another node lead the coordinator.
    pub(super) async fn hand_coordinator_over(&self) -> Result<()> {
        let moved = self.settles(HAND_OVER, "elsewhere", SETTLE_TIME).await;
        match moved.context(Doing::HandCoordinatorOver)? {
            true => Ok(()),
            false => bail!(NotSo::LeadsCoordinator),
        }
    }

    /// After a node was forgotten: remove its member. Without its majority the coordinator has
    /// no leader that could; then a person knows what is lost, or the node is not forgotten.
    pub(super) async fn remove_from_coordinator(
        &self,
        node: &NodeName,
        naming: Naming,
    ) -> Result<()> {
        let removed = self.settles(&removal(node), "absent", SETTLE_TIME).await;
        match (removed.context(Doing::ReadCoordinator), naming) {
            (Ok(true), _) => Ok(()),
            (Err(error), Naming::Allowed) => {
                let error = format!("{error:#}");
                tracing::warn!(error, "a forgotten node was not removed from the coordinator");
                Ok(())
            }
            (Err(error), Naming::Forbidden) => Err(error),
            (Ok(false), _) => bail!(NotSo::InCoordinator { node: node.clone() }),
        }
    }

    /// Evaluate until the answer is the one that is wanted.
    async fn settles(&self, expression: &str, wanted: &str, limit: Duration) -> Result<bool> {
        let begun = Instant::now();
        loop {
            let answer = self.eval(expression).await;
            if answer.as_ref().is_ok_and(|answer| answer.trim() == wanted) {
                return Ok(true);
            }
            if begun.elapsed() > limit {
                return answer.map(|_| false);
            }
            tokio::time::sleep(SETTLE_LOOK).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expressions_are_one_each_and_their_brackets_close() {
        for text in [HAND_OVER.to_string(), removal(&NodeName::new("rabbit@a"))] {
            terms::assert_one_expression(&text);
        }
    }
}
