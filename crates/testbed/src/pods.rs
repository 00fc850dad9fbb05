//! Finds the processes behind a pod.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::cluster::Cluster;
use crate::config::Node;

/// A pod that has been placed on a node.
#[derive(Debug, Clone)]
pub struct Pod {
    /// `namespace/name`.
    pub title: String,
    /// Where it runs.
    pub node: Node,
    /// Its address, once it has one.
    pub address: Option<String>,
    object: Value,
}

impl Cluster {
    /// The pod of that name, as the API server knows it now.
    pub fn pod(&self, namespace: &str, name: &str) -> Result<Pod> {
        let title = format!("{namespace}/{name}");
        let text = self.kubectl(&["-n", namespace, "get", "pod", name, "-o", "json"])?;
        let object: Value =
            serde_json::from_str(&text).with_context(|| format!("reading pod {title}"))?;
        let Some(node) = object["spec"]["nodeName"].as_str() else {
            bail!("pod {title} has no node yet; hint: kubectl -n {namespace} describe pod {name}");
        };
        Ok(Pod {
            node: self.node(node)?,
            address: object["status"]["podIP"].as_str().map(str::to_owned),
            title,
            object,
        })
    }

    /// The processes of one container, its first one first.
    pub fn container_processes(&self, pod: &Pod, container: &str) -> Result<Vec<i32>> {
        let group = self.container_group(pod, container)?;
        let mut processes = self.site().cgroups.processes(&group);
        // Process 1 of a container has 1 as its innermost id, unless the pod
        // shares its process namespace: then it is the oldest.
        processes.sort_by_key(|pid| (innermost_id(*pid) != Some(1), *pid));
        if processes.is_empty() {
            bail!("container {container} of pod {} has no process", pod.title);
        }
        Ok(processes)
    }

    /// The cgroup of one container.
    pub(crate) fn container_group(&self, pod: &Pod, container: &str) -> Result<String> {
        let Some(id) = pod.container_id(container) else {
            bail!("container {container} of pod {} has not been made yet", pod.title);
        };
        let pod_group = self.pod_group(pod)?;
        Ok(format!("{pod_group}/{id}"))
    }

    /// Any process of the pod; all share its network namespace.
    pub(crate) fn any_process(&self, pod: &Pod) -> Result<i32> {
        if pod.object["spec"]["hostNetwork"].as_bool() == Some(true) {
            bail!("pod {} uses its node's network; cut the node's instead", pod.title);
        }
        let processes = self.site().cgroups.processes(&self.pod_group(pod)?);
        processes.first().copied().with_context(|| format!("pod {} has no process", pod.title))
    }

    pub(crate) fn pod_group(&self, pod: &Pod) -> Result<String> {
        let uid = pod.object["metadata"]["uid"].as_str().unwrap_or_default();
        let node_group = self.site().node_cgroup(pod.node);
        let root = self.site().cgroups.process_dir(&node_group);
        let found = find(&root.join("kubepods"), &format!("pod{uid}"));
        let relative = found.as_deref().and_then(|path| path.strip_prefix(&root).ok());
        let Some(relative) = relative else {
            bail!("pod {} does not run on node {}", pod.title, pod.node.name());
        };
        Ok(format!("{node_group}/{}", relative.display()))
    }
}

impl Pod {
    fn container_id(&self, container: &str) -> Option<&str> {
        let lists = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"];
        let statuses = lists.iter().filter_map(|list| self.object["status"][list].as_array());
        let status = statuses.flatten().find(|status| status["name"] == container)?;
        status["containerID"].as_str()?.strip_prefix("containerd://")
    }
}

/// Pods lie in a directory per quality class, or beside those.
fn find(directory: &Path, name: &str) -> Option<PathBuf> {
    let here = directory.join(name);
    if here.is_dir() {
        return Some(here);
    }
    let classes = ["burstable", "besteffort"].map(|class| directory.join(class).join(name));
    classes.into_iter().find(|path| path.is_dir())
}

fn innermost_id(pid: i32) -> Option<i32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    ids.split_whitespace().last()?.parse().ok()
}
