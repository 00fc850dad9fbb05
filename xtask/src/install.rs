//! Palladion on a testbed: build the programs, make images of operator and
//! agent, load them, install the chart. Used by `demo`, `test`, `bench` and `soak`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use palladion_testbed::cache::Cache;
use palladion_testbed::images::{self, AGENT, OPERATOR};
use palladion_testbed::progress::{Progress, stage};
use palladion_testbed::{Cluster, parts};

use crate::idle;

/// Where the chart puts the operator.
pub const NAMESPACE: &str = "palladion-system";
/// The images hold nothing but the programs: these must bring all they need.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The root of this checkout.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// Build operator and agent, and what tests run beside them, statically linked;
/// returns their directory. The command line is built apart: it needs a door of
/// the engine that the operator must not have.
pub fn binaries(progress: &mut dyn Progress) -> Result<PathBuf> {
    let programs = "building operator, agent, checker and command line";
    stage(progress, programs, Duration::from_secs(450), || {
        build_all(|| Command::new(env!("CARGO")))
    })?;
    Ok(built())
}

/// Build the same in the time that nobody else wants, so that it is there when it is needed.
pub fn build_in_idle_time() -> Result<()> {
    build_all(|| idle::command(env!("CARGO")))
}

fn build_all(cargo: impl Fn() -> Command) -> Result<()> {
    build(cargo(), &["palladion-operator", "palladion-agent", "palladion-checker"])?;
    // With the same programs beside it, so that the libraries they share have the same
    // features and are not built a second time.
    build(cargo(), &["kubectl-palladion", "palladion-agent", "palladion-checker"])
}

fn build(mut cargo: Command, packages: &[&str]) -> Result<()> {
    let status = cargo
        .current_dir(root())
        .args(["build", "--release", "--locked", "--target", TARGET])
        .args(packages.iter().flat_map(|package| ["-p", package]))
        .env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS", "-C target-feature=+crt-static")
        .env_remove("RUSTFLAGS")
        .status()
        .with_context(|| format!("running cargo to build {}", packages.join(", ")))?;
    if !status.success() {
        bail!("{} could not be built; cargo's own message is above", packages.join(", "));
    }
    Ok(())
}

/// Where programs are when they are built.
pub fn built() -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    target.join(TARGET).join("release")
}

/// Load the images and install or upgrade the chart with these values
/// (`name=value`) besides; returns when the operator is ready.
pub fn install(cluster: &Cluster, values: &[&str], progress: &mut dyn Progress) -> Result<()> {
    let binaries = binaries(progress)?;
    let cache = Cache::of_user()?;
    stage(progress, "loading the images of operator and agent", Duration::from_secs(5), || {
        cluster.load(&images::palladion(&cache, &binaries)?)
    })?;
    let helm = parts::helm(&cache, progress)?;
    stage(progress, "installing the chart", Duration::from_secs(8), || {
        // A pod of the same tag would keep the image it started with.
        let restart = format!("podAnnotations.images={}", identity(&binaries)?);
        run(Command::new(helm)
            .args(["upgrade", "--install", "palladion"])
            .arg(root().join("charts/palladion"))
            .args(["--namespace", NAMESPACE, "--create-namespace", "--wait", "--timeout", "90s"])
            .args(["--set", &image_value("image", OPERATOR)])
            .args(["--set", &image_value("agentImage", AGENT)])
            .args(["--set", "image.pullPolicy=IfNotPresent", "--set-string", &restart])
            .args(values.iter().flat_map(|value| ["--set", value]))
            .arg("--kubeconfig")
            .arg(cluster.kubeconfig()))
    })
}

fn image_value(key: &str, reference: &str) -> String {
    let (repository, tag) = reference.rsplit_once(':').unwrap_or((reference, "dev"));
    format!("{key}.repository={repository},{key}.tag={tag}")
}

/// Changes whenever one of the programs does.
fn identity(binaries: &Path) -> Result<String> {
    let key = palladion_testbed::cache::Key::of("programs")
        .file(&binaries.join("palladion-operator"))?
        .file(&binaries.join("palladion-agent"))?
        .build();
    Ok(key.as_str().replace(['/', ':'], "-"))
}

fn run(command: &mut Command) -> Result<()> {
    let output =
        command.output().with_context(|| format!("running {:?}", command.get_program()))?;
    if !output.status.success() {
        bail!(
            "{:?} failed: {}{}",
            command.get_program(),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(())
}
