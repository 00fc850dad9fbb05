//! `cargo xtask testbed`: the command line of `palladion_testbed`.

use anyhow::Result;
use clap::{Args, Subcommand};
use palladion_testbed::cache::Cache;
use palladion_testbed::images::ImageSet;
use palladion_testbed::progress::Lines;
use palladion_testbed::{Cluster, ClusterName, Config, checks, images, parts};

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
    Up,
    /// End the testbed and remove all of it but its logs and the cache
    Down,
    /// Run kubectl against the testbed
    #[command(disable_help_flag = true)]
    Kubectl {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

pub fn run(arguments: Arguments) -> Result<()> {
    let name = arguments.name;
    match arguments.verb {
        Verb::Check => checks::ensure(&mut Lines),
        Verb::Build => {
            checks::ensure(&mut Lines)?;
            let cache = Cache::of_user()?;
            let parts = parts::Parts::build(&cache, &mut Lines)?;
            for image in images::build(&cache, &parts, ImageSet::Full, &mut Lines)? {
                println!("{}", image.identity());
            }
            println!("{}", parts::helm(&cache, &mut Lines)?.display());
            Ok(())
        }
        Verb::Up => {
            let config = Config {
                name,
                ..Config::default()
            };
            let cluster = Cluster::up(&config, &mut Lines)?;
            println!("export KUBECONFIG={}", cluster.kubeconfig().display());
            Ok(())
        }
        Verb::Down => Cluster::down(&name, &mut Lines),
        Verb::Kubectl { arguments } => {
            use std::os::unix::process::CommandExt;
            Err(Cluster::attach(&name)?.kubectl_command().args(arguments).exec().into())
        }
    }
}
