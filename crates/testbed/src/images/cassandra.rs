//! Cassandra images in the official image's layout, so that what works on them
//! works on the real ones: home in `/opt/cassandra`, configuration in
//! `/etc/cassandra`, data in `/var/lib/cassandra`, user 999.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use super::archive::{Image, Start};
use super::{copy, debian, layer::Layer, verify};
use crate::cache::{Cache, Key};
use crate::command::{command, run};
use crate::progress::Progress;
use crate::sources::images_dir;

/// What a server in Java needs of Debian.
pub(super) const PACKAGES: [&str; 3] = ["openjdk-17-jre-headless", "procps", "libjemalloc2"];

/// The user, the Java home of the official image, and the CDS archive of the
/// class library, which saves every server and tool a second of start.
pub(super) const FINISH: &str = "groupadd --system --gid 999 cassandra
useradd --system --uid 999 --gid cassandra --home-dir /var/lib/cassandra cassandra
mkdir -p /opt/java
ln -s /usr/lib/jvm/java-17-openjdk-* /opt/java/openjdk
/opt/java/openjdk/bin/java -Xshare:dump >/dev/null 2>&1 || true
rm -f /var/log/* 2>/dev/null || true";

/// The user and group that the official image runs the server as.
const USER: u32 = 999;
/// Older entry points run as any user, so the official image leaves its
/// directories open to all.
const OPEN: u32 = 0o777;

/// The image of one version.
pub fn image(cache: &Cache, version: &str, progress: &mut dyn Progress) -> Result<Image> {
    let layers = vec![
        debian::base(cache, "java", &PACKAGES, FINISH, progress)?,
        server(cache, version, progress)?,
    ];
    let environment = [
        "PATH=/opt/cassandra/bin:/opt/java/openjdk/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "JAVA_HOME=/opt/java/openjdk",
        "LANG=C.UTF-8",
        "CASSANDRA_HOME=/opt/cassandra",
        "CASSANDRA_CONF=/etc/cassandra",
        &format!("CASSANDRA_VERSION={version}"),
    ];
    Ok(Image {
        reference: super::cassandra_reference(version),
        layers,
        start: Start {
            environment: environment.map(str::to_owned).to_vec(),
            command: vec!["cassandra".to_owned(), "-f".to_owned()],
            ..Start::default()
        },
    })
}

fn server(cache: &Cache, version: &str, progress: &mut dyn Progress) -> Result<Layer> {
    let sources = images_dir()?.join("cassandra");
    let (own, common) = (sources.join(version), sources.join("common"));
    let key = Key::of(&format!("cassandra-{version}")).tree(&own)?.tree(&common)?.build();
    let what = format!("Preparing the Cassandra {version} image");
    let usual = Duration::from_secs(60);
    Layer::stage(cache, &key, progress, (&what, usual), |content| fill(content, &own, &common))
}

fn fill(content: &Path, own: &Path, common: &Path) -> Result<()> {
    let home = content.join("opt/cassandra");
    let lib = home.join("lib");
    fs::create_dir_all(&lib).with_context(|| format!("creating {}", lib.display()))?;
    maven(&own.join("pom.xml"), &lib)?;
    verify(&lib, &own.join("lib.sha256"))?;
    let conf = content.join("etc/cassandra");
    copy_all(&common.join("bin"), &home.join("bin"))?;
    copy_all(&common.join("conf"), &conf)?;
    copy_all(&own.join("conf"), &conf)?;
    symlink("/etc/cassandra", home.join("conf")).context("linking the configuration")?;
    for directory in ["etc/cassandra", "var/lib/cassandra", "var/log/cassandra"] {
        let directory = content.join(directory);
        let making = || format!("making {}", directory.display());
        fs::create_dir_all(&directory).with_context(making)?;
        chown(&directory, Some(USER), Some(USER)).with_context(making)?;
        fs::set_permissions(&directory, fs::Permissions::from_mode(OPEN)).with_context(making)?;
    }
    Ok(())
}

/// Copies a project's runtime dependencies, in the versions its file pins.
pub(super) fn maven(pom: &Path, to: &Path) -> Result<()> {
    let mut maven = command("mvn", ["-q", "-B", "dependency:copy-dependencies"]);
    maven
        .arg("-DincludeScope=runtime")
        .arg(format!("-DoutputDirectory={}", to.display()))
        .arg("-f")
        .arg(pom);
    run(&mut maven).map(drop).with_context(|| format!("fetching what {} names", pom.display()))
}

/// Copies the files of a directory into another.
pub(super) fn copy_all(from: &Path, to: &Path) -> Result<()> {
    let reading = || format!("reading {}", from.display());
    for entry in fs::read_dir(from).with_context(reading)? {
        let path = entry.with_context(reading)?.path();
        copy(&path, &to.join(path.file_name().unwrap_or_default()))?;
    }
    Ok(())
}
