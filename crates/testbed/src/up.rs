//! Starting a testbed: what comes after what, and what is waited for.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::{ScopedJoinHandle, sleep};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use crate::cluster::{Cluster, forward};
use crate::control_plane::{API_PORT, Component, ControlPlane};
use crate::node::Part;
use crate::process::{self, Daemon, Inside};
use crate::progress::{Progress, stage};
use crate::site::Site;
use crate::state::{State, boot};
use crate::{cluster, down, host_limits, kubeconfig, node, system};

/// A control plane is ready in three seconds and nodes in ten; these are for a
/// machine that is busy building something else.
const API_PATIENCE: Duration = Duration::from_secs(120);
const NODES_PATIENCE: Duration = Duration::from_secs(180);
const POLL: Duration = Duration::from_millis(200);

/// Starts whatever of the testbed does not run.
pub fn up(site: &Site, store: &Path, progress: &mut dyn Progress) -> Result<()> {
    let name = &site.config.name;
    if let Some(before) = State::read(name)? {
        if before.boot == boot()? && before.config != site.config {
            bail!(
                "the testbed {name} is up with other settings; hint: cargo xtask testbed down --name {name}, then up again"
            );
        }
        // Nodes keep the images they were made with until the next `down`.
        if before.boot != boot()? {
            down::down(name, &Cluster::cache_of(name)?, progress)?;
        }
    } else {
        down::down(name, &site.cache, progress)?;
        empty_logs(site)?;
    }
    host_limits::raise()?;
    let state = prepare(site, store)?;
    stage(progress, "Starting control plane and nodes", Duration::from_secs(10), || {
        std::thread::scope(|scope| {
            let control = scope.spawn(|| start_control_plane(site, state.api_port));
            let nodes = site.config.node_list().into_iter();
            let store = &state.store;
            let nodes: Vec<_> =
                nodes.map(|n| scope.spawn(move || node::start(site, n, store))).collect();
            let results: Vec<_> = std::iter::once(control).chain(nodes).map(join).collect();
            results.into_iter().collect::<Result<()>>()
        })
    })?;
    let cluster = cluster::Cluster::attach(name)?;
    stage(progress, "Waiting for nodes and name servers", Duration::from_secs(15), || {
        cluster.kubectl_with_input(
            &["apply", "--server-side", "--force-conflicts", "-f", "-"],
            &system::manifests(site),
        )?;
        wait_for_nodes(&cluster)
    })
}

/// Waits for a thread, and turns its panic into an error.
pub fn join(handle: ScopedJoinHandle<'_, Result<()>>) -> Result<()> {
    handle
        .join()
        .unwrap_or_else(|_| Err(anyhow!("a thread of the testbed panicked; its message is above")))
}

fn prepare(site: &Site, store: &Path) -> Result<State> {
    let name = &site.config.name;
    for directory in [site.records(), site.data_dir(), site.log_dir()] {
        fs::create_dir_all(&directory)
            .with_context(|| format!("creating {}", directory.display()))?;
    }
    keys(site)?;
    site.cgroups.create(&site.control_plane_cgroup())?;
    site.network.create_control_plane(&site.config.node_list())?;
    if let Some(state) = State::read(name)? {
        return Ok(state);
    }
    let port = TcpListener::bind(("127.0.0.1", 0))
        .and_then(|l| l.local_addr())
        .context("finding a free port on the host's loopback")?
        .port();
    let state = State {
        config: site.config.clone(),
        boot: boot()?,
        cache: site.cache.root().to_path_buf(),
        parts: site.parts.clone(),
        store: store.to_path_buf(),
        api_port: port,
    };
    state.write()?;
    Ok(state)
}

fn empty_logs(site: &Site) -> Result<()> {
    let logs = site.log_dir();
    if logs.exists() {
        fs::remove_dir_all(&logs)
            .with_context(|| format!("removing the old logs in {}", logs.display()))?;
    }
    Ok(())
}

fn keys(site: &Site) -> Result<()> {
    let pki = crate::pki::Pki::create(&site.run_dir().join("pki"))?;
    if Path::new(&pki.path("kube-apiserver.crt")).exists() {
        return Ok(());
    }
    pki.client_files("kubelet-client", "kube-apiserver-kubelet-client", &[])?;
    pki.front_proxy_files("front-proxy-client")?;
    let hosts = [
        "localhost",
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
    ];
    let addresses =
        [Ipv4Addr::LOCALHOST, site.plan.control_plane(), site.plan.kubernetes_service()];
    pki.server_files("kube-apiserver", &hosts, &addresses.map(IpAddr::V4))
}

fn start_control_plane(site: &Site, api_port: u16) -> Result<()> {
    let name = site.config.name.as_str();
    let pki = site.pki();
    let control = control_plane(site, &pki);
    control.prepare()?;
    let inner = format!("https://{}:{API_PORT}", site.plan.control_plane());
    for component in [Component::ControllerManager, Component::Scheduler] {
        let user = pki.client(&format!("system:{}", component.name()), &[])?;
        kubeconfig::write(&site.kubeconfig(component.name()), name, &inner, &pki, &user)?;
    }
    let outer = format!("https://127.0.0.1:{api_port}");
    let admin = pki.client("testbed-admin", &["system:masters"])?;
    kubeconfig::write(&site.kubeconfig("admin"), name, &outer, &pki, &admin)?;
    if !process::is_running(&site.records(), "forward-api") {
        let listener = TcpListener::bind(("127.0.0.1", api_port))
            .with_context(|| format!("opening port {api_port} on the host's loopback"))?;
        let inside = Inside::Network(site.network.control_plane());
        let target = format!("{}:{API_PORT}", site.plan.control_plane());
        forward(site, "forward-api".into(), inside, listener, &target)?;
    }
    start_component(site, Component::Etcd)?;
    start_component(site, Component::ApiServer)?;
    wait_for_api(site)?;
    start_component(site, Component::ControllerManager)?;
    start_component(site, Component::Scheduler)
}

fn control_plane<'a>(site: &'a Site, pki: &'a crate::pki::Pki) -> ControlPlane<'a> {
    ControlPlane {
        plan: site.plan,
        parts: &site.parts,
        pki,
        run_dir: site.run_dir(),
        data_dir: site.data_dir(),
        node_monitor_grace: site.config.node_monitor_grace,
    }
}

/// Starts a component of the control plane, unless it runs.
pub fn start_component(site: &Site, component: Component) -> Result<()> {
    let pki = site.pki();
    let daemon = Daemon {
        name: component.name().to_owned(),
        inside: Inside::Network(site.network.control_plane()),
        cgroup: site.cgroups.process_dir(&site.control_plane_cgroup()),
        words: control_plane(site, &pki).words(component),
        environment: vec![],
        input: None,
    };
    process::start(&site.records(), &site.log_dir(), daemon).map(drop)
}

/// Waits until the API server says that it is ready.
pub fn wait_for_api(site: &Site) -> Result<()> {
    let end = Instant::now() + API_PATIENCE;
    loop {
        let mut ask = Command::new(site.parts.program("kubectl"));
        ask.arg("--kubeconfig").arg(site.kubeconfig("admin")).args(["get", "--raw=/readyz"]);
        ask.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if ask.status().context("starting kubectl")?.success() {
            return Ok(());
        }
        if !process::is_running(&site.records(), Component::ApiServer.name())
            || Instant::now() > end
        {
            bail!(
                "the API server did not become ready; see {}",
                site.log_dir().join("kube-apiserver.log").display()
            );
        }
        sleep(POLL);
    }
}

/// A process that has ended would be waited for in vain.
fn ensure_all_run(site: &Site) -> Result<()> {
    let components = Component::ALL.map(|component| component.name().to_owned());
    let nodes = site.config.node_list().into_iter();
    let parts = nodes.flat_map(|node| Part::ALL.map(|part| part.record(node)));
    for name in components.into_iter().chain(parts) {
        if !process::is_running(&site.records(), &name) {
            let log = site.log_dir().join(format!("{name}.log"));
            let text = fs::read_to_string(&log).unwrap_or_default();
            bail!(
                "{name} has ended; the last it said: {}\nhint: see {}",
                text.lines().last().unwrap_or("nothing"),
                log.display()
            );
        }
    }
    Ok(())
}

/// Waits until every node is ready and answers names.
fn wait_for_nodes(cluster: &Cluster) -> Result<()> {
    let wanted = usize::from(cluster.site().config.nodes);
    let end = Instant::now() + NODES_PATIENCE;
    loop {
        let ready = cluster.kubectl(&["get", "nodes", "-o", r#"jsonpath={range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}"#])?;
        let ready = ready.lines().filter(|line| *line == "True").count();
        let names = cluster.kubectl(&[
            "-n",
            "kube-system",
            "get",
            "daemonset",
            "coredns",
            "-o",
            "jsonpath={.status.numberReady}",
        ])?;
        if ready == wanted && names.trim().parse() == Ok(wanted) {
            return Ok(());
        }
        ensure_all_run(cluster.site())?;
        if Instant::now() > end {
            bail!(
                "after {NODES_PATIENCE:?}, {ready} of {wanted} nodes are ready and {} name servers run; \
                 hint: cargo xtask testbed kubectl get nodes,pods -A, and logs in {}",
                names.trim(),
                cluster.log_dir().display()
            );
        }
        sleep(POLL);
    }
}
