//! What every staged service has, whether it runs in a StatefulSet or on nodes:
//! a pod template with a gate, dependencies, configuration, and how a change of
//! that reaches running pods.

pub mod config;
pub mod dependency;
pub mod gates;
pub mod network;
pub mod reload;
pub mod template;

pub use config::{Config, ConfigKey, File};
pub use dependency::{Dependency, DependencyKind, Minimum, Share};
pub use gates::{Gate, GateState};
pub use network::{Addresses, Network, Port};
pub use reload::{Reload, ReloadPolicy, Signal};
