//! A real Kubernetes on one machine, for demonstrations and tests.
//!
//! Control plane and nodes run as plain processes in network namespaces of
//! their own that have no way out; programs and images are made from package
//! registries, so no container registry is needed.

pub mod addresses;
pub mod audit;
pub mod cache;
pub mod cgroup;
pub mod checks;
pub mod cluster;
mod command;
pub mod config;
pub mod control_plane;
pub mod down;
pub mod faults;
mod host_limits;
mod image_store;
pub mod images;
mod kubeconfig;
pub mod lock_store;
pub mod names;
pub mod network;
pub mod node;
pub mod parts;
pub mod pki;
pub mod pods;
pub mod process;
pub mod progress;
pub mod site;
mod sources;
mod state;
pub mod status;
pub mod system;
mod up;

pub use cluster::Cluster;
pub use config::{Config, Node};
pub use names::ClusterName;
