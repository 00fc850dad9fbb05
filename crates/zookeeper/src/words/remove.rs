//! Servers that no member accounts for.

use super::evidence::Objection;
use palladion_api::ids::Nonce;
use palladion_api::zookeeper::ServerId;
use palladion_plan::words::Names;

palladion_plan::sentences! {
    /// Why one is not removed yet.
    pub enum Waiting {
        ForEnsemble { id: ServerId, why: Objection } => WaitingForEnsemble,
            "server {id} is not removed from the configuration yet: {why}";
    }

    /// What needs a person.
    pub enum Problem {
        Unknown { servers: Names, namespace: String, cluster: String, annotation: &'static str, nonce: Nonce } =>
            UnknownServer,
            "the configuration of the ensemble contains servers that no member accounts for: {servers}; to remove them, run `kubectl annotate -n {namespace} zookeepercluster {cluster} --overwrite {annotation}={nonce}`";
    }

    /// Events.
    pub enum Happened {
        Removed { servers: Names } => UnknownServer,
            "servers {servers}, which no member accounts for, were removed from the configuration, as a user allowed";
    }

    /// Steps.
    pub enum Doing {
        Start { id: ServerId } => "begin to remove server {id} from the configuration";
    }
}
