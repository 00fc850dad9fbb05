//! The state of the node itself: whether its application runs, and in which cluster. Read
//! by an expression that is evaluated in its virtual machine, which also answers while the
//! application is stopped.

use super::Hands;
use crate::read::terms;
use crate::wire::ctl::{Input, Program, QUICK};
use crate::words::calls::NotKnown;
use crate::words::job::{Doing, NotSo};
use anyhow::{Context, Result, bail};
use palladion_api::rabbitmq::NodeName;
use std::time::{Duration, Instant};

/// A node that has not booted by then is asked again later.
const BOOT_TIME: Duration = Duration::from_secs(180);
/// From one look at a node that boots to the next.
const BOOT_LOOK: Duration = Duration::from_secs(2);
/// An application that neither runs nor boots for so long was stopped.
const STOPPED_TIME: Duration = Duration::from_secs(45);

const STATE: &str =
    "{rabbit:is_running(), rabbit:is_booting(node()), rabbit_mnesia:cluster_nodes(all)}.";

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeState {
    /// Whether its application runs.
    pub app: Application,
    /// Nodes of its cluster, itself among them.
    pub members: Vec<NodeName>,
}

/// Whether an application runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Application {
    /// It does.
    Running,
    /// It is on its way.
    Booting,
    /// It does not.
    Stopped,
}

impl NodeState {
    /// Read an answer: `{true,false,['rabbit@a']}`.
    pub fn parse(text: &str) -> Option<Self> {
        let inner = text.trim().strip_prefix('{')?;
        let mut words = inner.splitn(3, ',').map(str::trim);
        let app = match (words.next()?, words.next()?) {
            ("true", _) => Application::Running,
            ("false", "true") => Application::Booting,
            ("false", "false") => Application::Stopped,
            _ => return None,
        };
        Some(Self { app, members: terms::nodes(words.next()?) })
    }
}

impl Hands {
    /// Evaluate an expression in the node's virtual machine; what it printed.
    pub(super) async fn eval(&self, expression: &str) -> Result<String> {
        let arguments = ["eval", expression];
        Ok(self.ctl.call(Program::Ctl, &arguments, Input::None, QUICK).await?)
    }

    /// The same for one that gives a text, which may be long. As a term of Erlang the command
    /// line prints it by lists of characters, and takes 450 MB for 2 MB of them (measured with
    /// 3.10.8): more than the container of the node has left.
    pub(super) async fn eval_text(&self, expression: &str) -> Result<String> {
        let arguments = ["eval", "--formatter=string", expression];
        Ok(self.ctl.call(Program::Ctl, &arguments, Input::None, QUICK).await?)
    }

    /// The state of the node.
    pub(super) async fn state(&self) -> Result<NodeState> {
        let text = self.eval(STATE).await.context(Doing::ReadCluster)?;
        NodeState::parse(&text).context(NotKnown::Cluster)
    }

    /// Wait until the node has booted, or is seen to be stopped.
    pub(super) async fn booted(&self) -> Result<NodeState> {
        let begun = Instant::now();
        let mut stopped: Option<Instant> = None;
        loop {
            let state = self.state().await;
            match state.as_ref().map(|state| state.app) {
                Ok(Application::Running) => return state,
                Ok(Application::Stopped) => {
                    let since = *stopped.get_or_insert_with(Instant::now);
                    if since.elapsed() > STOPPED_TIME {
                        return state;
                    }
                }
                // Its virtual machine is not there yet.
                Ok(Application::Booting) | Err(_) => stopped = None,
            }
            if begun.elapsed() > BOOT_TIME {
                state.context(Doing::WaitForBoot)?;
                bail!(NotSo::NotStarted);
            }
            tokio::time::sleep(BOOT_LOOK).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_node_is_read_whether_its_application_runs_or_not() {
        let parse = |text| NodeState::parse(text).unwrap();
        let running = parse("{true,false,\n ['rabbit@a.x','rabbit@b.x']}\n");
        assert_eq!(running.app, Application::Running);
        assert_eq!(running.members, ["rabbit@a.x", "rabbit@b.x"].map(NodeName::new));
        assert_eq!(parse("{false,true,['rabbit@a.x']}").app, Application::Booting);
        assert_eq!(parse("{false,false,['rabbit@a.x']}").app, Application::Stopped);
        assert_eq!(NodeState::parse("{badrpc,nodedown}"), None);
    }
}
