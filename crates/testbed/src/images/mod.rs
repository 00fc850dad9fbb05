//! The images of a testbed, made from package registries and local binaries.
//!
//! This file is the catalogue; how a layer or an archive is made is next door.

mod archive;
mod cassandra;
mod debian;
mod layer;
mod palladion;
mod rabbitmq;
mod tools;
mod zookeeper;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

pub use archive::Image;
use archive::Start;
pub use palladion::{AGENT, OPERATOR, palladion};

use crate::cache::{Cache, Key, hex};
use crate::command::{command, run};
use crate::parts::Parts;
use crate::progress::Progress;
use layer::Layer;

/// The pod sandbox.
pub const PAUSE: &str = "palladion.dev/pause:1";
/// The cluster's name server.
pub const COREDNS: &str = "palladion.dev/coredns:1";
/// The tools that tests run inside the cluster.
pub const TOOLS: &str = "palladion.dev/tools:dev";
/// The Cassandra versions there are images of, newest first.
pub const CASSANDRA_VERSIONS: [&str; 2] = ["5.0.5", "4.1.9"];

/// The ZooKeeper versions there are images of, newest first.
pub const ZOOKEEPER_VERSIONS: [&str; 2] = ["3.9.3", "3.8.4"];

/// The RabbitMQ versions there are images of, newest first. No other is to be had as a
/// package.
pub const RABBITMQ_VERSIONS: [&str; 1] = ["3.10.8"];

/// Which images a cluster starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ImageSet {
    /// Only what Kubernetes itself needs.
    Bare,
    /// The servers and the tools too.
    Full,
}

/// The reference of the Cassandra image of that version.
pub fn cassandra_reference(version: &str) -> String {
    format!("palladion.dev/cassandra:{version}")
}

/// The reference of the ZooKeeper image of that version.
pub fn zookeeper_reference(version: &str) -> String {
    format!("palladion.dev/zookeeper:{version}")
}

/// The reference of the RabbitMQ image of that version.
pub fn rabbitmq_reference(version: &str) -> String {
    format!("palladion.dev/rabbitmq:{version}")
}

/// Erlang, in the layer that is all of Debian.
const FROM_DEBIAN: [&str; 4] =
    ["./usr/lib/erlang", "./usr/bin/epmd", "./usr/bin/erl", "./usr/bin/escript"];

/// The programs of RabbitMQ and of Erlang, as the image of that version has them: a directory
/// with `usr` in it, made or taken from the cache.
pub fn rabbitmq_programs(
    cache: &Cache,
    version: &str,
    progress: &mut dyn Progress,
) -> Result<PathBuf> {
    let layers = rabbitmq::image(cache, version, progress)?.layers;
    let contents = layers.iter().map(|layer| layer.blob.sha256.as_str());
    let key = Key::of("rabbitmq")
        .text(&contents.collect::<Vec<_>>().join(" "))
        .text(&FROM_DEBIAN.join(" "))
        .build();
    cache.get("programs", &key, |directory| {
        // The lowest one is all of Debian, and has what this machine has as well.
        for (index, layer) in layers.iter().enumerate() {
            let mut unpack = command("tar", ["--extract", "--file"]);
            unpack.arg(&layer.tar).arg("--directory").arg(directory);
            match index {
                0 => run(unpack.args(FROM_DEBIAN))?,
                _ => run(unpack.arg("./usr/lib"))?,
            };
        }
        Ok(())
    })
}

/// Makes, or takes from the cache, the images that do not come from this
/// workspace.
pub fn build(
    cache: &Cache,
    parts: &Parts,
    set: ImageSet,
    progress: &mut dyn Progress,
) -> Result<Vec<Image>> {
    let mut images = vec![
        single(cache, PAUSE, &parts.pause, "pause")?,
        single(cache, COREDNS, &parts.coredns, "coredns")?,
    ];
    if set == ImageSet::Full {
        for version in CASSANDRA_VERSIONS {
            images.push(cassandra::image(cache, version, progress)?);
        }
        for version in ZOOKEEPER_VERSIONS {
            images.push(zookeeper::image(cache, version, progress)?);
        }
        for version in RABBITMQ_VERSIONS {
            images.push(rabbitmq::image(cache, version, progress)?);
        }
        images.push(tools::image(cache, progress)?);
    }
    Ok(images)
}

/// An image of one static program and nothing else.
fn single(cache: &Cache, reference: &str, program: &Path, name: &str) -> Result<Image> {
    let layer = files_layer(cache, name, &[(program, name)])?;
    Ok(Image {
        reference: reference.to_owned(),
        layers: vec![layer],
        start: Start { entrypoint: vec![format!("/{name}")], ..Start::default() },
    })
}

/// A layer of programs and other files in the image's root directory.
fn files_layer(cache: &Cache, name: &str, files: &[(&Path, &str)]) -> Result<Layer> {
    let mut key = Key::of(name);
    for (from, to) in files {
        key = key.text(to).file(from)?;
    }
    Layer::get(cache, &key.build(), |content| {
        files.iter().try_for_each(|(from, to)| copy(from, &content.join(to)))
    })
}

/// Copies one file with its mode, making the directories above it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent)
            .with_context(|| format!("creating {}", parent.display()))?;
    }
    std::fs::copy(from, to)
        .map(drop)
        .with_context(|| format!("copying {} to {}", from.display(), to.display()))
}

/// Holds a directory of downloaded files to a list of `sha256sum`: the same
/// names, the same content, nothing more.
fn verify(directory: &Path, list: &Path) -> Result<()> {
    use sha2::{Digest, Sha256};
    let reading = |path: &Path| format!("reading {}", path.display());
    let wanted = std::fs::read_to_string(list).with_context(|| reading(list))?;
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).with_context(|| reading(directory))? {
        let path = entry.with_context(|| reading(directory))?.path();
        let content = std::fs::read(&path).with_context(|| reading(&path))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        found.push(format!("{}  {name}", hex(&Sha256::digest(&content))));
    }
    let mut wanted: Vec<&str> = wanted.lines().collect();
    wanted.sort_unstable();
    found.sort_unstable();
    let odd: Vec<&str> = found
        .iter()
        .map(String::as_str)
        .filter(|line| wanted.binary_search(line).is_err())
        .chain(
            wanted.iter().copied().filter(|line| found.binary_search(&(*line).to_owned()).is_err()),
        )
        .collect();
    if !odd.is_empty() {
        bail!("downloaded files differ from {}: {}", list.display(), odd.join(", "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn downloads_that_differ_or_are_missing_or_too_many_are_refused() {
        let directory = tempfile::tempdir().expect("should make a directory");
        let jars = directory.path().join("jars");
        std::fs::create_dir(&jars).expect("should make");
        std::fs::write(jars.join("a.jar"), "").expect("should write");
        let list = directory.path().join("list");
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        std::fs::write(&list, format!("{empty}  a.jar\n")).expect("should write");
        verify(&jars, &list).expect("should agree");
        std::fs::write(jars.join("b.jar"), "").expect("should write");
        assert!(verify(&jars, &list).is_err(), "one too many");
        std::fs::remove_file(jars.join("b.jar")).expect("should remove");
        std::fs::write(jars.join("a.jar"), "x").expect("should write");
        assert!(verify(&jars, &list).is_err(), "another content");
        std::fs::remove_file(jars.join("a.jar")).expect("should remove");
        assert!(verify(&jars, &list).is_err(), "missing");
    }
}
