//! Somebody else at the API server: a person, or a pod's account, by
//! impersonation. Admission policies see them as the real ones.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::bed::Bed;

/// What a pod's bound token says of its pod.
const POD_NAME: &str = "authentication.kubernetes.io/pod-name";

/// Whom to be.
pub struct Person {
    kubeconfig: NamedTempFile,
    base: Bed,
}

impl Person {
    /// A user in groups.
    pub fn user(name: &str, groups: &[&str]) -> Result<Self> {
        Self::new(name, groups, &BTreeMap::new())
    }

    /// A service account, in a pod if one is named.
    pub fn account(namespace: &str, name: &str, pod: Option<&str>) -> Result<Self> {
        let groups = [
            "system:authenticated".to_string(),
            "system:serviceaccounts".to_string(),
            format!("system:serviceaccounts:{namespace}"),
        ];
        let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
        let extra = pod.map(|pod| (POD_NAME, vec![pod.to_string()])).into_iter().collect();
        Self::new(&format!("system:serviceaccount:{namespace}:{name}"), &groups, &extra)
    }

    fn new(name: &str, groups: &[&str], extra: &BTreeMap<&str, Vec<String>>) -> Result<Self> {
        let base = Bed::attach();
        let path = base.cluster.kubeconfig();
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("reading the kubeconfig {}", path.display()))?;
        let mut config: Value = serde_yaml::from_str(&text)
            .with_context(|| format!("reading the kubeconfig {}", path.display()))?;
        let user = &mut config["users"][0]["user"];
        user["as"] = json!(name);
        user["as-groups"] = json!(groups);
        user["as-user-extra"] = json!(extra);
        let mut kubeconfig = NamedTempFile::new().context("making a kubeconfig")?;
        kubeconfig.write_all(config.to_string().as_bytes()).context("writing a kubeconfig")?;
        Ok(Self { kubeconfig, base })
    }

    /// The kubeconfig of this person.
    pub fn kubeconfig(&self) -> std::path::PathBuf {
        self.kubeconfig.path().to_path_buf()
    }

    /// Run kubectl with something to read; its complaints are the error.
    pub fn kubectl(&self, arguments: &[&str], input: &str) -> Result<String> {
        let program = self.base.cluster.kubectl_command().get_program().to_owned();
        let mut child = Command::new(program)
            .arg("--kubeconfig")
            .arg(self.kubeconfig.path())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("starting kubectl")?;
        child
            .stdin
            .take()
            .context("talking to kubectl")?
            .write_all(input.as_bytes())
            .context("talking to kubectl")?;
        let output = child.wait_with_output().context("waiting for kubectl")?;
        if !output.status.success() {
            bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Merge-patch an object.
    pub fn patch(&self, namespace: &str, object: &str, patch: &Value) -> Result<String> {
        let patch = patch.to_string();
        let words = ["patch", object, "-n", namespace, "--type=merge", "-p", &patch];
        self.kubectl(&words, "")
    }

    /// Write the status of a member of a kind. Applied, because to patch kubectl reads
    /// the status first, which an agent has no right to.
    pub fn write_status(
        &self,
        namespace: &str,
        (kind, name): (&str, &str),
        status: &Value,
    ) -> Result<String> {
        let mut member = status.clone();
        member["apiVersion"] = json!("palladion.dev/v1alpha1");
        member["kind"] = json!(kind);
        member["metadata"] = json!({ "name": name, "namespace": namespace });
        let words = [
            "apply",
            "--server-side",
            "--force-conflicts",
            "--subresource=status",
            "--validate=ignore",
            "-f",
            "-",
        ];
        self.kubectl(&words, &member.to_string())
    }
}
