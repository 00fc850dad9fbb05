//! The operator's flags.

use crate::log::LogFormat;
use clap::Parser;
use palladion_cassandra::facts::ADMISSION_POLICIES;
use palladion_cassandra::facts::region::REGION;
use palladion_cassandra::status::OPERATOR_VERSION;
use palladion_engine::{Leadership, Options};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Name of the Lease that the replicas of the operator share.
const LEASE: &str = "palladion-operator";

/// Runs Cassandra and Scylla rings on Kubernetes.
#[derive(Debug, Parser)]
#[command(name = "palladion-operator", version)]
pub struct Arguments {
    /// Address of `/metrics`.
    #[arg(long, default_value = "0.0.0.0:8080")]
    pub metrics_address: SocketAddr,
    /// Address of `/healthz` and `/readyz`.
    #[arg(long, default_value = "0.0.0.0:8081")]
    pub health_address: SocketAddr,
    /// Namespace of the Lease by which one replica leads.
    #[arg(long, env = "POD_NAMESPACE")]
    pub lease_namespace: String,
    /// Name of this replica.
    #[arg(long, env = "POD_NAME", default_value = "palladion-operator")]
    pub pod_name: String,
    /// Uid of this replica's pod; with it, a restarted container leads again at
    /// once and does not wait for its own old lease to run out.
    #[arg(long, env = "POD_UID")]
    pub pod_uid: Option<String>,
    /// Image of the agent, copied into every member's pod.
    #[arg(long, env = "PALLADION_AGENT_IMAGE")]
    pub agent_image: String,
    /// Set by the chart where its admission policies guard what members ask for:
    /// without them the operator signs no certificates.
    #[arg(long, env = "PALLADION_ADMISSION_POLICIES", default_value_t = false, action = clap::ArgAction::Set)]
    pub admission_policies: bool,
    /// Watch only this namespace; may be repeated. Default: all namespaces.
    #[arg(long)]
    pub watch_namespace: Vec<String>,
    /// Name of this operator's region: who holds the lock of a ring that regions share.
    #[arg(long, default_value = "")]
    pub region: String,
    /// Directory with the credentials of the region lock: `ca.crt`, `tls.crt`, `tls.key`,
    /// `username` and `password` for an etcd, `kubeconfig` for Leases.
    #[arg(long)]
    pub region_lock_directory: Option<PathBuf>,
    /// How log lines look.
    #[arg(long, value_enum, default_value_t = LogFormat::Json)]
    pub log_format: LogFormat,
}

impl Arguments {
    /// The engine's options.
    pub fn options(&self) -> Options {
        Options {
            leadership: Leadership::Elected {
                namespace: self.lease_namespace.clone(),
                name: LEASE.to_string(),
                pod: self.pod_name.clone(),
                pod_uid: self.pod_uid.clone(),
            },
            namespaces: self.watch_namespace.clone(),
            settings: self.settings(),
        }
    }

    /// Defaults for the minds. The region is among them only where there is one: rings record
    /// what they are decided with.
    fn settings(&self) -> BTreeMap<String, String> {
        let region = (!self.region.is_empty()).then(|| (REGION.to_string(), self.region.clone()));
        let all = [
            ("agentImage".to_string(), self.agent_image.clone()),
            (ADMISSION_POLICIES.to_string(), self.admission_policies.to_string()),
            (OPERATOR_VERSION.to_string(), env!("CARGO_PKG_VERSION").to_string()),
        ];
        all.into_iter().chain(region).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_flags_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_flag_reaches_the_engine() {
        let line = "palladion-operator --lease-namespace n --agent-image a --watch-namespace x --watch-namespace y \
                    --pod-name p --pod-uid u --admission-policies true --region east";
        let options = Arguments::parse_from(line.split_whitespace()).options();
        assert_eq!(options.namespaces, ["x", "y"]);
        assert_eq!(options.settings["agentImage"], "a");
        assert_eq!(options.settings[ADMISSION_POLICIES], "true");
        assert_eq!(options.settings[REGION], "east");
        let Leadership::Elected { namespace, pod, pod_uid, .. } = options.leadership else {
            panic!("the operator is always elected");
        };
        assert_eq!((namespace.as_str(), pod.as_str(), pod_uid.as_deref()), ("n", "p", Some("u")));
    }
}
