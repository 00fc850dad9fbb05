//! ZooKeeper images in the official image's layout, so that what works on them works on
//! the real ones: home in `/apache-zookeeper-VERSION-bin`, its `bin` on the path,
//! configuration in `/conf`, data in `/data` and `/datalog`, user 1000.

use std::fs;
use std::os::unix::fs::chown;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use super::archive::{Image, Start};
use super::{cassandra, debian, layer::Layer, verify};
use crate::cache::{Cache, Key};
use crate::progress::Progress;
use crate::sources::images_dir;

/// Directories of the official image that belong to its user.
const OWN: [&str; 4] = ["conf", "data", "datalog", "logs"];
/// The user and group that the official image runs the server as.
const USER: u32 = 1000;

/// The image of one version. It stands on the layer with Java that Cassandra's have.
pub fn image(cache: &Cache, version: &str, progress: &mut dyn Progress) -> Result<Image> {
    let java = debian::base(cache, "java", &cassandra::PACKAGES, cassandra::FINISH, progress)?;
    let layers = vec![java, server(cache, version, progress)?];
    let home = home(version);
    let environment = [
        &format!(
            "PATH=/opt/java/openjdk/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/{home}/bin"
        ),
        "JAVA_HOME=/opt/java/openjdk",
        "LANG=C.UTF-8",
        "ZOO_CONF_DIR=/conf",
        "ZOO_DATA_DIR=/data",
        "ZOO_DATA_LOG_DIR=/datalog",
        "ZOO_LOG_DIR=/logs",
        "ZOOCFGDIR=/conf",
    ];
    Ok(Image {
        reference: super::zookeeper_reference(version),
        layers,
        start: Start {
            environment: environment.map(str::to_owned).to_vec(),
            command: vec!["zkServer.sh".to_owned(), "start-foreground".to_owned()],
            user: Some(USER.to_string()),
            working_directory: Some(format!("/{home}")),
            ..Start::default()
        },
    })
}

fn home(version: &str) -> String {
    format!("apache-zookeeper-{version}-bin")
}

fn server(cache: &Cache, version: &str, progress: &mut dyn Progress) -> Result<Layer> {
    let sources = images_dir()?.join("zookeeper");
    let (own, common) = (sources.join(version), sources.join("common"));
    let key = Key::of(&format!("zookeeper-{version}")).tree(&own)?.tree(&common)?.build();
    let what = format!("Preparing the ZooKeeper {version} image");
    let usual = Duration::from_secs(30);
    Layer::stage(cache, &key, progress, (&what, usual), |content| {
        fill(content, &home(version), &own, &common)
    })
}

fn fill(content: &Path, home: &str, own: &Path, common: &Path) -> Result<()> {
    let home = content.join(home);
    let lib = home.join("lib");
    fs::create_dir_all(&lib).with_context(|| format!("creating {}", lib.display()))?;
    cassandra::maven(&own.join("pom.xml"), &lib)?;
    verify(&lib, &own.join("lib.sha256"))?;
    cassandra::copy_all(&common.join("bin"), &home.join("bin"))?;
    cassandra::copy_all(&common.join("conf"), &content.join("conf"))?;
    for directory in OWN {
        let directory = content.join(directory);
        let making = || format!("making {}", directory.display());
        fs::create_dir_all(&directory).with_context(making)?;
        chown(&directory, Some(USER), Some(USER)).with_context(making)?;
    }
    Ok(())
}
