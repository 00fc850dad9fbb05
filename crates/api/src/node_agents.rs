//! Agents on nodes: `NodeAgentProfile` says how a node is set up, and
//! `NodeAgentGroup` runs one agent on each node of a group, with the merged
//! profiles as its configuration.

pub mod group;
pub mod names;
pub mod profile;
pub mod status;

pub use group::{
    GroupConfig, GroupConfiguration, GroupKey, GroupNetwork, NodeAddresses, NodeAgentGroup,
    NodeAgentGroupSpec, UpgradeStrategy,
};
pub use profile::{
    DpdkConfiguration, KernelModeConfiguration, NodeAgentProfile, NodeAgentProfileSpec,
    OtherConfiguration, SriovConfiguration,
};
pub use status::{GateCounts, NodeAgentGroupStatus, Overlap};
