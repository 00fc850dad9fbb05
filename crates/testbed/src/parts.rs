//! The programs a testbed runs, built from their Go modules.
//!
//! Versions and checksums are pinned by each module's `go.mod` and `go.sum`.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::cache::{Cache, Key};
use crate::command::{command, run};
use crate::progress::{Progress, stage};
use crate::sources::images_dir;

/// The Kubernetes release that `images/kubernetes/go.mod` pins; nodes and API
/// server report it, so it must be said to the linker too.
pub const KUBERNETES_VERSION: &str = "v1.34.4";
/// Installed by Go's own means, which check it against the checksum database.
const HELM_VERSION: &str = "v3.19.5";

/// All names that the one Kubernetes binary answers to.
const KUBERNETES_PROGRAMS: [&str; 7] = [
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
    "kube-proxy",
    "kubectl",
];

/// Where the built programs are.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Parts {
    kubernetes: PathBuf,
    /// The static CoreDNS server.
    pub coredns: PathBuf,
    /// The static sandbox program.
    pub pause: PathBuf,
    /// Carries connections between namespaces.
    pub forward: PathBuf,
}

impl Parts {
    /// Builds what the cache does not hold.
    pub fn build(cache: &Cache, progress: &mut dyn Progress) -> Result<Self> {
        let kubernetes = Build {
            name: "kubernetes",
            what: "Building Kubernetes from its Go module",
            usual: Duration::from_secs(300),
            linkage: Linkage::Host,
        };
        let coredns = Build {
            name: "coredns",
            what: "Building CoreDNS from its Go module",
            usual: Duration::from_secs(200),
            linkage: Linkage::Static,
        };
        let small = |name, what| Build {
            name,
            what,
            usual: Duration::from_secs(5),
            linkage: Linkage::Static,
        };
        let kubernetes = kubernetes.get(cache, progress)?;
        Ok(Self {
            kubernetes: kubernetes.parent().unwrap_or(&kubernetes).to_path_buf(),
            coredns: coredns.get(cache, progress)?,
            pause: small("pause", "Building the pod sandbox program").get(cache, progress)?,
            forward: small("forward", "Building the port forwarder").get(cache, progress)?,
        })
    }

    /// The path of etcd, kubectl, the kubelet, …
    pub fn program(&self, name: &str) -> String {
        self.kubernetes.join(name).to_string_lossy().into_owned()
    }
}

/// Builds Helm, if the cache does not hold it, and returns its path.
pub fn helm(cache: &Cache, progress: &mut dyn Progress) -> Result<PathBuf> {
    let key = Key::of("helm").text(HELM_VERSION).text(&go_version()?).build();
    if let Some(entry) = cache.find("parts", &key) {
        return Ok(entry.join("helm"));
    }
    let usual = Duration::from_secs(180);
    let entry = stage(progress, "Building Helm from its Go module", usual, || {
        cache.get("parts", &key, |directory| {
            let package = format!("helm.sh/helm/v3/cmd/helm@{HELM_VERSION}");
            let mut install = command("go", ["install", &package]);
            run(install.env("GOBIN", directory).env("CGO_ENABLED", "0")).map(drop)
        })
    })?;
    Ok(entry.join("helm"))
}

#[derive(Debug, Clone, Copy)]
enum Linkage {
    /// Runs in an image without any library.
    Static,
    /// Runs on this host only; whatever Go does here by default.
    Host,
}

struct Build {
    name: &'static str,
    what: &'static str,
    usual: Duration,
    linkage: Linkage,
}

impl Build {
    fn get(&self, cache: &Cache, progress: &mut dyn Progress) -> Result<PathBuf> {
        let source = images_dir()?.join(self.name);
        let flags = self.linker_flags();
        let key = Key::of(self.name)
            .text(&go_version()?)
            .text(&flags)
            .text(&format!("{:?}", self.linkage))
            .tree(&source)?
            .build();
        let entry = match cache.find("parts", &key) {
            Some(entry) => entry,
            None => stage(progress, self.what, self.usual, || {
                cache.get("parts", &key, |directory| {
                    self.make(&source, &flags, directory)
                        .with_context(|| format!("building {} in {}", self.name, source.display()))
                })
            })?,
        };
        Ok(entry.join(self.name))
    }

    fn make(&self, source: &Path, flags: &str, directory: &Path) -> Result<()> {
        let output = directory.join(self.name);
        let mut build = command("go", ["build", "-buildvcs=false"]);
        if let Linkage::Static = self.linkage {
            build.arg("-trimpath").env("CGO_ENABLED", "0");
        }
        build.args(["-ldflags", flags, "-o"]).arg(&output).arg(".");
        run(build.current_dir(source))?;
        if self.name == "kubernetes" {
            for program in KUBERNETES_PROGRAMS {
                symlink(self.name, directory.join(program))
                    .with_context(|| format!("linking {program}"))?;
            }
        }
        Ok(())
    }

    fn linker_flags(&self) -> String {
        if self.name != "kubernetes" {
            return "-s -w".to_owned();
        }
        let mut numbers = KUBERNETES_VERSION.trim_start_matches('v').split('.');
        let (major, minor) = (numbers.next().unwrap_or(""), numbers.next().unwrap_or(""));
        let version = "k8s.io/component-base/version";
        format!(
            "-s -w -X {version}.gitVersion={KUBERNETES_VERSION} \
             -X {version}.gitMajor={major} -X {version}.gitMinor={minor}"
        )
    }
}

fn go_version() -> Result<String> {
    run(&mut command("go", ["env", "GOVERSION", "GOOS", "GOARCH"]))
}
