//! RabbitMQ images of Debian's package, laid out so that what works on them works on the
//! official image: its programs first on the path, home in `/var/lib/rabbitmq`, user 999.
//! There is one version; upgrades between lines are only simulated.
//!
//! The package is unpacked, not installed: its scripts would start a node in the half-made
//! root file system and wait for it.

use std::fs;
use std::os::unix::fs::chown;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use super::archive::{Image, Start};
use super::{debian, layer::Layer, verify};
use crate::cache::{Cache, Key};
use crate::command::{command, run};
use crate::progress::Progress;
use crate::sources::images_dir;

/// What the package depends on, but for what looks after log files and users.
const PACKAGES: [&str; 15] = [
    "erlang-base",
    "erlang-crypto",
    "erlang-eldap",
    "erlang-inets",
    "erlang-mnesia",
    "erlang-os-mon",
    "erlang-parsetools",
    "erlang-public-key",
    "erlang-runtime-tools",
    "erlang-ssl",
    "erlang-syntax-tools",
    "erlang-tools",
    "erlang-xmerl",
    "openssl",
    "procps",
];
/// The user of the official image.
const FINISH: &str = "groupadd --system --gid 999 rabbitmq
useradd --system --uid 999 --gid rabbitmq --home-dir /var/lib/rabbitmq rabbitmq
rm -f /var/log/* 2>/dev/null || true";

/// Where Debian keeps the package, below a mirror.
const POOL: &str = "pool/main/r/rabbitmq-server";
/// Directories that belong to the user.
const OWN: [&str; 3] = ["var/lib/rabbitmq", "var/log/rabbitmq", "etc/rabbitmq"];
/// Directories that are links where `/usr` is merged. All that a node needs is below `/usr`.
const MERGED: [&str; 4] = ["bin", "lib", "lib64", "sbin"];
/// The user and group that the official image runs the server as.
const USER: u32 = 999;

/// The image of one version.
pub fn image(cache: &Cache, version: &str, progress: &mut dyn Progress) -> Result<Image> {
    let erlang = debian::base(cache, "erlang", &PACKAGES, FINISH, progress)?;
    let layers = vec![erlang, server(cache, version, progress)?];
    let environment = [
        // Not those in /usr/sbin, which are for root and change the user.
        "PATH=/usr/lib/rabbitmq/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "LANG=C.UTF-8",
        "HOME=/var/lib/rabbitmq",
        "RABBITMQ_DATA_DIR=/var/lib/rabbitmq",
        "RABBITMQ_LOGS=-",
        &format!("RABBITMQ_VERSION={version}"),
    ];
    Ok(Image {
        reference: super::rabbitmq_reference(version),
        layers,
        start: Start {
            environment: environment.map(str::to_owned).to_vec(),
            command: vec!["rabbitmq-server".to_owned()],
            ..Start::default()
        },
    })
}

fn server(cache: &Cache, version: &str, progress: &mut dyn Progress) -> Result<Layer> {
    let own = images_dir()?.join("rabbitmq").join(version);
    let key = Key::of(&format!("rabbitmq-{version}")).text(&MERGED.join(" ")).tree(&own)?.build();
    let what = format!("Preparing the RabbitMQ {version} image");
    let usual = Duration::from_secs(15);
    let downloads = cache.root().join("debs").join(format!("rabbitmq-{version}"));
    Layer::stage(cache, &key, progress, (&what, usual), |content| fill(content, &own, &downloads))
}

fn fill(content: &Path, own: &Path, downloads: &Path) -> Result<()> {
    let list = own.join("debs.sha256");
    let wanted =
        fs::read_to_string(&list).with_context(|| format!("reading {}", list.display()))?;
    fs::create_dir_all(downloads).with_context(|| format!("creating {}", downloads.display()))?;
    for name in names(&wanted) {
        let to = downloads.join(name);
        let from = format!("{}/{POOL}/{name}", debian::mirror().trim_end_matches('/'));
        let mut fetch = command("wget", ["--quiet", "--output-document"]);
        fetch.arg(&to).arg(from);
        run(&mut fetch).with_context(|| format!("fetching {name}"))?;
    }
    // Before any of them is opened.
    verify(downloads, &list)?;
    for name in names(&wanted) {
        let mut unpack = command("dpkg-deb", ["--extract"]);
        unpack.arg(downloads.join(name)).arg(content);
        run(&mut unpack).with_context(|| format!("unpacking {name}"))?;
    }
    merge(content)?;
    for directory in OWN {
        let directory = content.join(directory);
        let making = || format!("making {}", directory.display());
        fs::create_dir_all(&directory).with_context(making)?;
        chown(&directory, Some(USER), Some(USER)).with_context(making)?;
    }
    Ok(())
}

/// Units of systemd are in `/lib`, which is a link to `/usr/lib` in the layer below: a
/// directory in its place would hide the loader of all programs.
fn merge(content: &Path) -> Result<()> {
    for name in MERGED {
        let directory = content.join(name);
        if directory.exists() {
            fs::remove_dir_all(&directory)
                .with_context(|| format!("removing {}", directory.display()))?;
        }
    }
    Ok(())
}

/// The names in a list of `sha256sum`.
fn names(list: &str) -> impl Iterator<Item = &str> {
    list.lines().filter_map(|line| line.split_whitespace().nth(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_of_each_version_is_held_to_a_hash() {
        for version in super::super::RABBITMQ_VERSIONS {
            let directory = images_dir().expect("should be there").join("rabbitmq").join(version);
            let list = fs::read_to_string(directory.join("debs.sha256")).expect("should read");
            let hash = list.split_whitespace().next().expect("should have a hash");
            assert_eq!(hash.len(), 64, "{list}");
            let named = format!("rabbitmq-server_{version}-");
            assert!(names(&list).all(|name| name.starts_with(&named)), "{list}");
        }
    }
}
