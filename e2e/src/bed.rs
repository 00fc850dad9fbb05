//! The testbed as tests see it: apply, get, wait.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use palladion_testbed::{Cluster, ClusterName};
use serde_json::Value;

/// Where the chart puts the operator.
pub const OPERATOR_NAMESPACE: &str = "palladion-system";
/// The Deployment, and the label `app.kubernetes.io/name` of its pods.
pub const OPERATOR: &str = "palladion-operator";
/// The environment variable with the agent's image for new pods.
pub const AGENT_IMAGE: &str = "PALLADION_AGENT_IMAGE";
/// The operator's user name in the audit log.
pub const OPERATOR_USER: &str = "system:serviceaccount:palladion-system:palladion-operator";

/// How long one call of kubectl may last; those that wait have time-outs below that.
const LONGEST_CALL: Duration = Duration::from_secs(900);
/// How long an object may take to go. A server of Cassandra is drained first.
const GONE_WITHIN: Duration = Duration::from_secs(300);

/// A testbed with Palladion on it.
pub struct Bed {
    /// The testbed.
    pub cluster: Cluster,
}

static BED: OnceLock<Bed> = OnceLock::new();

/// The testbed of this process, which plays its stories on one.
///
/// # Panics
/// As [`Bed::attach`].
pub fn bed() -> &'static Bed {
    BED.get_or_init(Bed::attach)
}

/// Make this the testbed of this process, before anything asks for [`bed`].
pub fn adopt(cluster: Cluster) -> &'static Bed {
    BED.get_or_init(|| Bed { cluster })
}

/// A text in an object; empty where there is none.
pub fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// A condition of an object; null where it has none of this type.
pub fn condition(object: &Value, type_: &str) -> Value {
    let all = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    all.into_iter().find(|c| c["type"] == type_).unwrap_or_default()
}

impl Bed {
    /// The testbed that the environment names.
    ///
    /// # Panics
    /// If there is none: these tests never pass without having run.
    pub fn attach() -> Self {
        let name = std::env::var("PALLADION_TESTBED").unwrap_or_default();
        assert!(
            !name.is_empty(),
            "these tests need a testbed: run `cargo xtask test`, or set PALLADION_TESTBED to one with Palladion on it"
        );
        let name = ClusterName::parse(&name).expect("PALLADION_TESTBED should be a testbed's name");
        Self { cluster: Cluster::attach(&name).expect("the testbed should be up") }
    }

    /// Every testbed of this run: those that `PALLADION_TESTBEDS` names, with
    /// commas between, or else the one of [`Bed::attach`].
    ///
    /// # Panics
    /// If one of them is not up.
    pub fn all_of_the_run() -> Vec<Self> {
        let Ok(names) = std::env::var("PALLADION_TESTBEDS") else {
            return vec![Self::attach()];
        };
        names
            .split(',')
            .map(|name| Self {
                cluster: ClusterName::parse(name)
                    .and_then(|name| Cluster::attach(&name))
                    .expect("PALLADION_TESTBEDS should name testbeds that are up"),
            })
            .collect()
    }

    /// kubectl, or its error. That it does not end is one.
    pub fn kubectl(&self, words: &str) -> Result<String> {
        self.cluster.kubectl_within(&words.split_whitespace().collect::<Vec<_>>(), LONGEST_CALL)
    }

    /// Delete an object and wait until it is gone, also where another of its name is made
    /// at once: kubectl's own wait can miss the end of the first and never ends.
    pub fn delete(&self, namespace: &str, kind: &str, name: &str) -> Result<()> {
        self.delete_with(namespace, kind, name, "")
    }

    /// Like [`Bed::delete`], with more words for kubectl.
    pub fn delete_with(&self, namespace: &str, kind: &str, name: &str, words: &str) -> Result<()> {
        let uid = || {
            let object = self.get(namespace, kind, name)?.unwrap_or_default();
            anyhow::Ok(object["metadata"]["uid"].clone())
        };
        let before = uid()?;
        ensure!(before.is_string(), "{kind} {name} in {namespace} is not there to be deleted");
        self.kubectl(&format!("delete {kind} {name} -n {namespace} --wait=false {words}"))?;
        let what = format!("{kind} {name} in {namespace} to be gone");
        wait_for(&what, GONE_WITHIN, || Ok((uid()? != before).then_some(())))
    }

    /// Apply a manifest.
    pub fn apply(&self, namespace: &str, manifest: &str) -> Result<String> {
        self.cluster.kubectl_with_input(
            &[
                "apply",
                "--server-side",
                "--force-conflicts",
                "--field-manager=test",
                "-n",
                namespace,
                "-f",
                "-",
            ],
            manifest,
        )
    }

    /// An object, or `None` where it does not exist.
    pub fn get(&self, namespace: &str, kind: &str, name: &str) -> Result<Option<Value>> {
        let text = self.cluster.kubectl(&[
            "get",
            kind,
            name,
            "-n",
            namespace,
            "-o",
            "json",
            "--ignore-not-found",
        ])?;
        if text.trim().is_empty() {
            return Ok(None);
        }
        serde_json::from_str(&text).map(Some).with_context(|| format!("reading {kind} {name}"))
    }

    /// All objects of a kind in a namespace.
    pub fn list(&self, namespace: &str, kind: &str) -> Result<Vec<Value>> {
        let text = self.cluster.kubectl(&["get", kind, "-n", namespace, "-o", "json"])?;
        let list: Value = serde_json::from_str(&text).with_context(|| format!("listing {kind}"))?;
        Ok(list["items"].as_array().cloned().unwrap_or_default())
    }

    /// Merge-patch an object.
    pub fn patch(&self, namespace: &str, kind: &str, name: &str, patch: &Value) -> Result<String> {
        self.cluster.kubectl(&[
            "patch",
            kind,
            name,
            "-n",
            namespace,
            "--type=merge",
            "-p",
            &patch.to_string(),
        ])
    }

    /// A namespace of this name, empty: what an earlier run left in it goes first,
    /// with the data.
    pub fn fresh_namespace(&self, name: &str) -> Result<()> {
        self.remove_namespace(name)?;
        self.cluster.kubectl(&["create", "namespace", name]).map(drop)
    }

    /// Remove a namespace with all data in it, and offer its volumes again.
    pub fn remove_namespace(&self, name: &str) -> Result<()> {
        self.cluster.kubectl(&[
            "delete",
            "namespace",
            name,
            "--ignore-not-found",
            "--wait=true",
            "--timeout=180s",
        ])?;
        self.cluster.recycle_volumes().map(drop)
    }

    /// Wait until every namespace that is being deleted has gone, with all in it.
    ///
    /// # Errors
    /// One stays, or the API server does not answer.
    pub fn wait_namespaces_gone(&self) -> Result<()> {
        wait_for("the deleted namespaces to go", Duration::from_secs(180), || {
            let all = self.list("default", "namespaces")?;
            Ok(all.iter().all(|n| text(n, "/status/phase") == "Active").then_some(()))
        })
    }

    /// Scale the operator's Deployment and wait for it.
    pub fn scale_operator(&self, replicas: u32) -> Result<()> {
        let replicas_flag = format!("--replicas={replicas}");
        self.cluster.kubectl(&[
            "scale",
            "deployment",
            OPERATOR,
            "-n",
            OPERATOR_NAMESPACE,
            &replicas_flag,
        ])?;
        wait_for("the operator to be scaled", Duration::from_secs(60), || {
            let pods = self.list(OPERATOR_NAMESPACE, "pods")?;
            let running = pods
                .iter()
                .filter(|p| p["metadata"]["labels"]["app.kubernetes.io/name"] == OPERATOR)
                .count();
            Ok((running == replicas as usize).then_some(()))
        })
    }

    /// End the operator without a word; another pod of it is made.
    ///
    /// # Errors
    /// The API server does not answer.
    pub fn kill_operator(&self) -> Result<()> {
        let words = format!(
            "delete pods -n {OPERATOR_NAMESPACE} -l app.kubernetes.io/name={OPERATOR} --grace-period=0 --force --wait=false"
        );
        self.kubectl(&words).map(drop)
    }

    /// Upgrade Palladion to a release with this image of the agent, as far as
    /// rings see it: another operator process, with another default image.
    pub fn upgrade_palladion(&self, agent: &str) -> Result<()> {
        let image = format!("{AGENT_IMAGE}={agent}");
        let deployment = format!("deployment/{OPERATOR}");
        let namespace = ["-n", OPERATOR_NAMESPACE];
        let set = ["set", "env", &deployment, &image];
        self.cluster.kubectl(&[&set[..], &namespace].concat())?;
        let wait = ["rollout", "status", &deployment, "--timeout=120s"];
        self.cluster.kubectl(&[&wait[..], &namespace].concat()).map(drop)
    }

    /// What a pod logs from these seconds ago on, into this; ends with the container.
    pub fn follow_log(
        &self,
        namespace: &str,
        pod: &str,
        seconds: u32,
        into: impl Into<std::process::Stdio>,
    ) -> Result<std::process::Child> {
        std::process::Command::new(self.cluster.site().parts.program("kubectl"))
            .arg("--kubeconfig")
            .arg(self.cluster.site().kubeconfig("admin"))
            .args(["logs", "-f", "--tail=-1", "--request-timeout=600s", "-n", namespace, pod])
            .arg(format!("--since={seconds}s"))
            .stdout(into)
            .stderr(std::process::Stdio::null())
            .spawn()
            .with_context(|| format!("following the log of {pod}"))
    }

    /// Run a command in a pod.
    pub fn exec(&self, namespace: &str, pod: &str, command: &[&str]) -> Result<String> {
        let mut words = vec!["exec", "-n", namespace, pod, "--"];
        words.extend(command);
        self.cluster.kubectl(&words)
    }
}

/// Ask until there is an answer. An error of the question is an answer to wait
/// through (the API server may be away); the last one is told at the end.
pub fn wait_for<T>(
    what: &str,
    patience: Duration,
    mut ask: impl FnMut() -> Result<Option<T>>,
) -> Result<T> {
    let begin = Instant::now();
    let mut last = String::from("not yet");
    while begin.elapsed() < patience {
        match ask() {
            Ok(Some(answer)) => return Ok(answer),
            Ok(None) => {}
            Err(error) => last = format!("{error:#}"),
        }
        std::thread::sleep(Duration::from_millis(300));
    }
    bail!("waited {} s for {what}; last: {last}", patience.as_secs())
}
