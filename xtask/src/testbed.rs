//! `cargo xtask testbed`: the command line of `palladion_testbed`.

use std::net::SocketAddrV4;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use palladion_testbed::audit::AuditMark;
use palladion_testbed::cache::Cache;
use palladion_testbed::images::ImageSet;
use palladion_testbed::progress::Lines;
use palladion_testbed::status::Status;
use palladion_testbed::{Cluster, ClusterName, Config, checks, images, parts};

use crate::testbed_fault::{self, Fault};

/// Prints a line. Whoever reads may stop reading, as `head` does.
macro_rules! say {
    ($($words:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stdout(), $($words)*);
    }};
}

#[derive(Args)]
pub struct Arguments {
    /// Which testbed; each has its own namespaces, cgroups and directories
    #[arg(long, global = true, default_value = "palladion", env = "PALLADION_TESTBED", value_parser = ClusterName::parse)]
    name: ClusterName,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Look whether this host can run the testbed, and install what is missing
    Check,
    /// Build all programs and images into the cache, and start nothing
    Build,
    /// Start the testbed, or whatever of it does not run
    Up(UpArguments),
    /// End the testbed and remove all of it but its logs and the cache
    Down,
    /// Say how the testbed is
    Status,
    /// Run kubectl against the testbed
    #[command(disable_help_flag = true)]
    Kubectl {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Run a command inside a node's namespaces, from where pods and Services
    /// are reached
    Enter {
        /// n1, n2, …
        node: String,
        /// A shell unless given
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
    /// Show the log of one of the testbed's own processes, or their names
    Logs {
        /// kube-apiserver, n1-kubelet, …
        process: Option<String>,
        /// Keep showing what is added
        #[arg(short, long)]
        follow: bool,
    },
    /// Make images of the operator's and agent's static binaries and give them
    /// to all nodes
    Load {
        /// The directory that holds palladion-operator and palladion-agent
        directory: PathBuf,
    },
    /// Make an address inside the testbed reachable on the host's loopback
    Forward {
        /// A pod's or Service's ADDRESS:PORT
        target: SocketAddrV4,
    },
    /// Count requests to the API server by user
    Audit {
        /// Only users whose names begin so
        #[arg(default_value = "")]
        user_prefix: String,
    },
    /// Empty the volumes whose claims are gone and offer them again
    Recycle,
    /// Break something, or mend it
    Fault {
        #[command(subcommand)]
        fault: Fault,
    },
}

#[derive(Args)]
struct UpArguments {
    /// How many nodes
    #[arg(long, default_value_t = Config::default().nodes)]
    nodes: u8,
    /// How many local volumes each node offers
    #[arg(long, default_value_t = Config::default().volumes_per_node)]
    volumes: u8,
    /// Leave out the images that Kubernetes itself does not need
    #[arg(long)]
    bare: bool,
}

pub fn run(arguments: Arguments) -> Result<()> {
    let name = &arguments.name;
    let attach = || Cluster::attach(name);
    match arguments.verb {
        Verb::Check => {
            checks::ensure(&mut Lines)?;
            say!("this host can run the testbed");
            Ok(())
        }
        Verb::Build => build(),
        Verb::Up(chosen) => up(name, &chosen),
        Verb::Down => Cluster::down(name, &mut Lines),
        Verb::Status => status(name),
        Verb::Kubectl { arguments } => replace(attach()?.kubectl_command().args(arguments)),
        Verb::Enter { node, command } => enter(&attach()?, &node, &command),
        Verb::Logs { process, follow } => logs(name, process.as_deref(), follow),
        Verb::Load { directory } => {
            let images = images::palladion(&Cache::of_user()?, &directory)?;
            attach()?.load(&images)?;
            images.iter().for_each(|image| say!("{}", image.reference));
            Ok(())
        }
        Verb::Forward { target } => {
            say!("127.0.0.1:{}", attach()?.forward(target)?);
            Ok(())
        }
        Verb::Audit { user_prefix } => audit(&attach()?, &user_prefix),
        Verb::Recycle => {
            attach()?.recycle_volumes()?.iter().for_each(|volume| say!("{volume}"));
            Ok(())
        }
        Verb::Fault { fault } => testbed_fault::run(&attach()?, &fault),
    }
}

fn audit(cluster: &Cluster, user_prefix: &str) -> Result<()> {
    for count in cluster.audit_counts(AuditMark::BEGINNING, user_prefix)? {
        let slash = if count.subresource.is_empty() { "" } else { "/" };
        say!(
            "{:>7} {} {} {}{slash}{}",
            count.count,
            count.user,
            count.verb,
            count.resource,
            count.subresource
        );
    }
    Ok(())
}

fn enter(cluster: &Cluster, node: &str, command: &[String]) -> Result<()> {
    let program = command.first().map_or("bash", String::as_str);
    let mut entered = cluster.on_node(cluster.node(node)?, program)?;
    entered.stdin(std::process::Stdio::inherit());
    replace(entered.args(command.iter().skip(1)))
}

fn build() -> Result<()> {
    checks::ensure(&mut Lines)?;
    let cache = Cache::of_user()?;
    let parts = parts::Parts::build(&cache, &mut Lines)?;
    for image in images::build(&cache, &parts, ImageSet::Full, &mut Lines)? {
        say!("{}", image.identity());
    }
    say!("{}", parts::helm(&cache, &mut Lines)?.display());
    Ok(())
}

fn up(name: &ClusterName, chosen: &UpArguments) -> Result<()> {
    let config = Config {
        name: name.clone(),
        nodes: chosen.nodes,
        volumes_per_node: chosen.volumes,
        images: if chosen.bare { ImageSet::Bare } else { ImageSet::Full },
        ..Config::default()
    };
    let cluster = Cluster::up(&config, &mut Lines)?;
    say!("export KUBECONFIG={}", cluster.kubeconfig().display());
    Ok(())
}

fn status(name: &ClusterName) -> Result<()> {
    let status = Status::of(name)?;
    say!("{name} is {status}");
    if let Status::Up(_) = status {
        let cluster = Cluster::attach(name)?;
        say!(
            "kubeconfig: {}\nlogs: {}",
            cluster.kubeconfig().display(),
            cluster.log_dir().display()
        );
        match cluster.kubectl(&["get", "nodes", "-L", "topology.kubernetes.io/zone"]) {
            Ok(nodes) => say!("{}", nodes.trim_end()),
            Err(error) => say!("nodes: unknown: {error:#}"),
        }
    }
    Ok(())
}

fn logs(name: &ClusterName, process: Option<&str>, follow: bool) -> Result<()> {
    let directory = name.log_dir(&Cluster::cache_of(name)?);
    let Some(process) = process else {
        let entries = std::fs::read_dir(&directory).with_context(|| {
            format!(
                "reading {}; hint: logs are there after: cargo xtask testbed up --name {name}",
                directory.display()
            )
        })?;
        let files = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<_> =
            files.filter_map(|file| file.strip_suffix(".log").map(str::to_owned)).collect();
        names.sort();
        names.iter().for_each(|name| say!("{name}"));
        return Ok(());
    };
    let path = directory.join(format!("{process}.log"));
    if !path.exists() {
        bail!("there is no log {}; hint: cargo xtask testbed logs lists all", path.display());
    }
    let mut tail = Command::new("tail");
    tail.args(["-n", if follow { "100" } else { "+1" }]);
    if follow {
        tail.arg("-F");
    }
    replace(tail.arg(&path))
}

/// Becomes that command; returns only if it cannot be started.
fn replace(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    Err(command.exec()).with_context(|| format!("starting {program}"))
}
