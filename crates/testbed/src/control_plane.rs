//! etcd, API server, controller manager and scheduler: how each is started.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::addresses::AddressPlan;
use crate::parts::Parts;
use crate::pki::Pki;

/// The API server's port, on the control plane's address.
pub const API_PORT: u16 = 6443;

/// A component of the control plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Component {
    /// The store.
    Etcd,
    /// The API server.
    ApiServer,
    /// The controllers of Deployments, StatefulSets, …
    ControllerManager,
    /// The scheduler.
    Scheduler,
}

impl Component {
    /// In the order in which they start.
    pub const ALL: [Self; 4] =
        [Self::Etcd, Self::ApiServer, Self::ControllerManager, Self::Scheduler];

    /// The program's name, which is also that of its record and log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::ApiServer => "kube-apiserver",
            Self::ControllerManager => "kube-controller-manager",
            Self::Scheduler => "kube-scheduler",
        }
    }
}

/// What the command lines are made from.
#[derive(Debug)]
pub struct ControlPlane<'a> {
    /// Addresses.
    pub plan: AddressPlan,
    /// Programs.
    pub parts: &'a Parts,
    /// Keys.
    pub pki: &'a Pki,
    /// Kubeconfigs and the audit policy are here.
    pub run_dir: PathBuf,
    /// etcd's data and the audit log are here.
    pub data_dir: PathBuf,
    /// See [`crate::config::Config::node_monitor_grace`].
    pub node_monitor_grace: Option<Duration>,
}

/// Who asked what of the API server, without the contents.
const AUDIT_POLICY: &str = "apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
";

impl ControlPlane<'_> {
    /// Where the audit log of this data directory is.
    pub fn audit_log(data_dir: &Path) -> PathBuf {
        data_dir.join("audit.log")
    }

    /// Writes the files that the components read.
    pub fn prepare(&self) -> Result<()> {
        let policy = self.run_dir.join("audit-policy.yaml");
        fs::write(&policy, AUDIT_POLICY)
            .with_context(|| format!("writing {}", policy.display()))?;
        let etcd = self.data_dir.join("etcd");
        fs::create_dir_all(&etcd).with_context(|| format!("creating {}", etcd.display()))
    }

    /// The words of a component's command line.
    pub fn words(&self, component: Component) -> Vec<String> {
        let mut words = vec![self.parts.program(component.name())];
        words.extend(match component {
            Component::Etcd => self.etcd(),
            Component::ApiServer => self.api_server(),
            Component::ControllerManager => self.controller_manager(),
            Component::Scheduler => self.scheduler(),
        });
        words
    }

    fn etcd(&self) -> Vec<String> {
        let data = self.data_dir.join("etcd");
        vec![
            format!("--data-dir={}", data.display()),
            "--listen-client-urls=http://127.0.0.1:2379".into(),
            "--advertise-client-urls=http://127.0.0.1:2379".into(),
            "--listen-peer-urls=http://127.0.0.1:2380".into(),
            // A testbed does not outlive the machine's power.
            "--unsafe-no-fsync".into(),
            "--log-level=warn".into(),
        ]
    }

    fn api_server(&self) -> Vec<String> {
        let (plan, file) = (self.plan, |name: &str| self.pki.path(name));
        vec![
            format!("--advertise-address={}", plan.control_plane()),
            format!("--secure-port={API_PORT}"),
            format!("--service-cluster-ip-range={}", plan.services()),
            // No kube-proxy serves the control plane, so aggregated APIs are
            // asked at the addresses of their pods.
            "--enable-aggregator-routing=true".into(),
            "--etcd-servers=http://127.0.0.1:2379".into(),
            "--authorization-mode=Node,RBAC".into(),
            "--enable-admission-plugins=NodeRestriction".into(),
            "--allow-privileged=true".into(),
            "--profiling=false".into(),
            format!("--client-ca-file={}", file("ca.crt")),
            format!("--tls-cert-file={}", file("kube-apiserver.crt")),
            format!("--tls-private-key-file={}", file("kube-apiserver.key")),
            format!("--kubelet-certificate-authority={}", file("ca.crt")),
            format!("--kubelet-client-certificate={}", file("kubelet-client.crt")),
            format!("--kubelet-client-key={}", file("kubelet-client.key")),
            // Node names resolve nowhere.
            "--kubelet-preferred-address-types=InternalIP".into(),
            "--service-account-issuer=https://kubernetes.default.svc.cluster.local".into(),
            format!("--service-account-key-file={}", file("service-account.pub")),
            format!("--service-account-signing-key-file={}", file("service-account.key")),
            format!("--requestheader-client-ca-file={}", file("front-proxy-ca.crt")),
            "--requestheader-allowed-names=front-proxy-client".into(),
            "--requestheader-extra-headers-prefix=X-Remote-Extra-".into(),
            "--requestheader-group-headers=X-Remote-Group".into(),
            "--requestheader-username-headers=X-Remote-User".into(),
            format!("--proxy-client-cert-file={}", file("front-proxy-client.crt")),
            format!("--proxy-client-key-file={}", file("front-proxy-client.key")),
            format!("--audit-policy-file={}", self.run_dir.join("audit-policy.yaml").display()),
            format!("--audit-log-path={}", Self::audit_log(&self.data_dir).display()),
            // Requests are counted, so none may be missing and no file rotated.
            "--audit-log-mode=blocking".into(),
            "--audit-log-maxsize=100000".into(),
        ]
    }

    fn controller_manager(&self) -> Vec<String> {
        let file = |name: &str| self.pki.path(name);
        let kubeconfig = self.kubeconfig(Component::ControllerManager);
        let mut words = vec![
            format!("--kubeconfig={kubeconfig}"),
            format!("--authentication-kubeconfig={kubeconfig}"),
            format!("--authorization-kubeconfig={kubeconfig}"),
            "--bind-address=127.0.0.1".into(),
            "--leader-elect=false".into(),
            "--use-service-account-credentials=true".into(),
            format!("--service-account-private-key-file={}", file("service-account.key")),
            format!("--root-ca-file={}", file("ca.crt")),
            format!("--cluster-signing-cert-file={}", file("ca.crt")),
            format!("--cluster-signing-key-file={}", file("ca.key")),
            format!("--service-cluster-ip-range={}", self.plan.services()),
            "--profiling=false".into(),
            // Tests watch autoscalers work; the default is 15 s.
            "--horizontal-pod-autoscaler-sync-period=2s".into(),
        ];
        if let Some(grace) = self.node_monitor_grace {
            words.push(format!("--node-monitor-grace-period={}s", grace.as_secs()));
        }
        words
    }

    fn scheduler(&self) -> Vec<String> {
        let kubeconfig = self.kubeconfig(Component::Scheduler);
        vec![
            format!("--kubeconfig={kubeconfig}"),
            format!("--authentication-kubeconfig={kubeconfig}"),
            format!("--authorization-kubeconfig={kubeconfig}"),
            "--bind-address=127.0.0.1".into(),
            "--leader-elect=false".into(),
            "--profiling=false".into(),
        ]
    }

    fn kubeconfig(&self, component: Component) -> String {
        let file = format!("{}.kubeconfig", component.name());
        self.run_dir.join(file).to_string_lossy().into_owned()
    }
}
