//! Labels of what is created for a `NodeAgentGroup`.

/// On every object: the NodeAgentGroup that it belongs to.
pub const OWNER: &str = "palladion.dev/node-agent-group";
/// On pods: the agent, of which a node has one.
pub const AGENT: &str = "palladion.dev/node-agent";
