//! The image that tests run inside the cluster: busybox, Python, a real CQL
//! driver, the stock CQL shell, a small server to probe by gRPC, and one that stands in
//! for the services of a stack.

use std::time::Duration;

use anyhow::{Context, Result};

use super::archive::{Image, Start};
use super::{TOOLS, copy, debian, files_layer, layer::Layer};
use crate::cache::{Cache, Key};
use crate::command::{command, run};
use crate::progress::Progress;
use crate::sources::images_dir;

const PACKAGES: [&str; 4] = ["busybox-static", "python3", "iproute2", "curl"];
/// Applets for what the packages above lack: ping, nslookup, nc, wget, …
const FINISH: &str = "/bin/busybox --install -s /usr/local/bin
rm -f /usr/local/bin/sh /usr/local/bin/ip";
/// The Python of that Debian, and where it looks for packages.
const PYTHON: &str = "3.11";
const SITE: &str = "usr/lib/python3/dist-packages";

/// The tools image.
pub fn image(cache: &Cache, progress: &mut dyn Progress) -> Result<Image> {
    let sources = images_dir()?.join("tools");
    let base = debian::base(cache, "tools", &PACKAGES, FINISH, progress)?;
    let key = Key::of("tools-python").tree(&sources)?.build();
    let what = ("Fetching a CQL driver and shell", Duration::from_secs(20));
    let python = Layer::stage(cache, &key, progress, what, |content| {
        for program in ["cqlsh", "grpc-health"] {
            copy(&sources.join(program), &content.join("usr/bin").join(program))?;
        }
        let mut pip = command("pip", ["install", "--quiet", "--no-deps", "--no-compile"]);
        pip.args(["--disable-pip-version-check", "--root-user-action=ignore"])
            .args(["--require-hashes", "--only-binary=:all:", "--python-version", PYTHON])
            .args(["--platform", "manylinux2014_x86_64", "--target"])
            .arg(content.join(SITE))
            .arg("--requirement")
            .arg(sources.join("requirements.txt"));
        run(&mut pip).map(drop).context("fetching the Python packages of the tools image")
    })?;
    let standin = images_dir()?.join("standin/standin");
    let standin = files_layer(cache, "standin", &[(&standin, "usr/bin/standin")])?;
    Ok(Image {
        reference: TOOLS.to_owned(),
        layers: vec![base, python, standin],
        start: Start {
            environment: vec![
                "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".to_owned(),
                "LANG=C.UTF-8".to_owned(),
            ],
            command: vec!["sleep".to_owned(), "infinity".to_owned()],
            ..Start::default()
        },
    })
}
