//! A running testbed: made by `up`, found again by `attach`, ended by `down`.

use std::fs::{self, File};
use std::io::Write;
use std::net::{SocketAddrV4, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::cache::Cache;
use crate::command::{run, run_within};
use crate::config::{Config, Node};
use crate::images::{self, Image};
use crate::names::ClusterName;
use crate::node::{self, settings};
use crate::parts::Parts;
use crate::process::{Daemon, Inside};
use crate::progress::Progress;
use crate::site::Site;
use crate::state::{State, boot};
use crate::{checks, image_store, process, up};

/// A testbed that is, or was, up.
#[derive(Debug, Clone)]
pub struct Cluster {
    site: Site,
}

impl Cluster {
    /// Starts a testbed, or whatever of it does not run. Builds what the cache
    /// does not hold; returns when all nodes are ready and names resolve.
    pub fn up(config: &Config, progress: &mut dyn Progress) -> Result<Self> {
        config.validate()?;
        checks::ensure(progress)?;
        let cache = Cache::of_user()?;
        let parts = Parts::build(&cache, progress)?;
        let images = images::build(&cache, &parts, config.images, progress)?;
        let store = image_store::build(&cache, &images, progress)?;
        let site = Site::new(config.clone(), cache, parts)?;
        let _lock = lock(&config.name)?;
        up::up(&site, &store, progress)?;
        Ok(Self { site })
    }

    /// Finds a testbed that is up.
    pub fn attach(name: &ClusterName) -> Result<Self> {
        checks::ensure_root()?;
        let Some(state) = State::read(name)? else {
            bail!("no testbed named {name} is up; hint: cargo xtask testbed up --name {name}");
        };
        if state.boot != boot()? {
            bail!(
                "the testbed {name} ended when this machine restarted; hint: cargo xtask testbed up --name {name}"
            );
        }
        let cache = Cache::at(state.cache);
        Ok(Self { site: Site::new(state.config, cache, state.parts)? })
    }

    /// Its places and programs.
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// Its nodes.
    pub fn nodes(&self) -> Vec<Node> {
        self.site.config.node_list()
    }

    /// The node of that name.
    pub fn node(&self, name: &str) -> Result<Node> {
        self.nodes().into_iter().find(|node| node.name() == name).with_context(|| {
            format!("there is no node {name:?}; there are n1 to n{}", self.site.config.nodes)
        })
    }

    /// A kubeconfig that works on the host, for an administrator.
    pub fn kubeconfig(&self) -> PathBuf {
        self.site.kubeconfig("admin")
    }

    /// Writes a kubeconfig for another user, for whom requests can be counted
    /// apart; `system:masters` is the group that may do everything.
    pub fn kubeconfig_for(&self, path: &Path, user: &str, groups: &[&str]) -> Result<()> {
        let state = State::read(&self.site.config.name)?.context("reading the testbed's state")?;
        let server = format!("https://127.0.0.1:{}", state.api_port);
        let pki = self.site.pki();
        let pair = pki.client(user, groups)?;
        crate::kubeconfig::write(path, self.site.config.name.as_str(), &server, &pki, &pair)
    }

    /// A `kubectl` of this testbed, ready to be given arguments.
    pub fn kubectl_command(&self) -> Command {
        let mut kubectl = Command::new(self.site.parts.program("kubectl"));
        kubectl.arg("--kubeconfig").arg(self.kubeconfig());
        kubectl
    }

    /// Runs `kubectl` and returns what it printed.
    pub fn kubectl<S: AsRef<std::ffi::OsStr>>(&self, arguments: &[S]) -> Result<String> {
        run(self.kubectl_command().args(arguments).stdin(Stdio::null()))
    }

    /// Like [`Cluster::kubectl`], and an error where it does not end within `longest`.
    ///
    /// kubectl can wait for ever: `delete` misses the end of an object that is made again at
    /// once under its name.
    pub fn kubectl_within<S: AsRef<std::ffi::OsStr>>(
        &self,
        arguments: &[S],
        longest: Duration,
    ) -> Result<String> {
        run_within(self.kubectl_command().args(arguments).stdin(Stdio::null()), longest)
    }

    /// Runs `kubectl` with something to read, such as a manifest for
    /// `apply -f -`.
    pub fn kubectl_with_input(&self, arguments: &[&str], input: &str) -> Result<String> {
        let mut kubectl = self.kubectl_command();
        kubectl.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = kubectl.spawn().context("starting kubectl")?;
        let mut stdin = child.stdin.take().context("talking to kubectl")?;
        stdin.write_all(input.as_bytes()).context("talking to kubectl")?;
        drop(stdin);
        let Output { status, stdout, stderr } =
            child.wait_with_output().context("waiting for kubectl")?;
        if !status.success() {
            bail!(
                "`kubectl {}` failed: {}",
                arguments.join(" "),
                String::from_utf8_lossy(&stderr).trim()
            );
        }
        Ok(String::from_utf8_lossy(&stdout).into_owned())
    }

    /// Where the logs of the testbed's own processes are, by `NAME.log`.
    pub fn log_dir(&self) -> PathBuf {
        self.site.log_dir()
    }

    /// Gives images to all nodes. An image of the same name is replaced; pods
    /// that run keep theirs.
    pub fn load(&self, images: &[Image]) -> Result<()> {
        std::thread::scope(|scope| {
            let loads: Vec<_> = self
                .nodes()
                .into_iter()
                .map(|node| scope.spawn(move || self.load_on(node, images)))
                .collect();
            loads.into_iter().try_for_each(crate::up::join)
        })
    }

    /// Gives an image another name on all nodes that run.
    pub fn tag(&self, reference: &str, name: &str) -> Result<()> {
        self.nodes().into_iter().try_for_each(|node| {
            let socket = settings::containerd_socket(&self.site, node);
            image_store::tag(&socket, reference, name)
                .with_context(|| format!("on node {}", node.name()))
        })
    }

    fn load_on(&self, node: Node, images: &[Image]) -> Result<()> {
        let socket = settings::containerd_socket(&self.site, node);
        images
            .iter()
            .try_for_each(|image| image_store::import(&socket, image))
            .with_context(|| format!("loading images on node {}", node.name()))
    }

    /// A command that runs in a node's namespaces, from where pods and
    /// Services can be reached.
    pub fn on_node(&self, node: Node, program: &str) -> Result<Command> {
        Ok(node::inside(&self.site, node)?.command(program))
    }

    /// A command that runs in a running node's network and with the host's
    /// files: a client whose notes outlive the node.
    pub fn in_network_of(&self, node: Node, program: &str) -> Result<Command> {
        node::inside(&self.site, node)?;
        Ok(Inside::Network(self.site.network.node(node)).command(program))
    }

    /// Makes an address inside the testbed (a pod's, a Service's) reachable on
    /// the host's loopback until `down`, and returns the port. A Service is
    /// reached by way of a node that runs, and no longer if that one ends.
    pub fn forward(&self, target: SocketAddrV4) -> Result<u16> {
        let network = &self.site.network;
        let namespace =
            if self.site.plan.is_service(*target.ip()) {
                let runs = |node: &Node| node::inside(&self.site, *node).is_ok();
                let node = self.nodes().into_iter().find(runs);
                network.node(node.with_context(|| {
                    format!("forwarding to the Service at {target}: no node runs")
                })?)
            } else {
                network.control_plane()
            };
        let listener =
            TcpListener::bind(("127.0.0.1", 0)).context("opening a port on the host's loopback")?;
        let port = listener.local_addr().context("reading a port")?.port();
        let inside = Inside::Network(namespace);
        forward(&self.site, format!("forward-{port}"), inside, listener, &target.to_string())?;
        Ok(port)
    }

    /// The cache that a testbed was started with, or the user's.
    pub fn cache_of(name: &ClusterName) -> Result<Cache> {
        match State::read(name)? {
            Some(state) => Ok(Cache::at(state.cache)),
            None => Cache::of_user(),
        }
    }

    /// Ends a testbed and removes all of it but the logs and the cache. One
    /// that is not up, or is half up, is fine.
    pub fn down(name: &ClusterName, progress: &mut dyn Progress) -> Result<()> {
        checks::ensure_root()?;
        let _lock = lock(name)?;
        crate::down::down(name, &Self::cache_of(name)?, progress)
    }
}

/// Starts a forwarder that owns a listening socket of the host and dials from
/// inside the testbed.
pub(crate) fn forward(
    site: &Site,
    name: String,
    inside: Inside,
    listener: TcpListener,
    target: &str,
) -> Result<()> {
    let daemon = Daemon {
        name,
        inside,
        cgroup: site.cgroups.process_dir(&site.control_plane_cgroup()),
        words: vec![site.parts.forward.to_string_lossy().into_owned(), target.to_owned()],
        environment: vec![],
        input: Some(listener.into()),
    };
    process::start(&site.records(), &site.log_dir(), daemon).map(drop)
}

/// One `up` or `down` of a name at a time.
fn lock(name: &ClusterName) -> Result<File> {
    let root = crate::names::run_root();
    let path = root.join(format!(".{name}.lock"));
    let locking = || format!("waiting for the lock {}", path.display());
    fs::create_dir_all(&root).with_context(locking)?;
    let file = File::create(&path).with_context(locking)?;
    file.lock().with_context(locking)?;
    Ok(file)
}
