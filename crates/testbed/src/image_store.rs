//! The nodes' image stores. Importing a gigabyte of images takes most of a
//! minute per node, so it is done once into a cached store, and every node gets
//! a copy of hard links to it.
//!
//! Links are safe: containerd never writes to a committed layer or a blob. Only
//! its databases are changed in place, so those are really copied.

use std::fs;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::cache::{Cache, Key};
use crate::command::{command, run, shown};
use crate::images::Image;
use crate::progress::{Progress, stage};

/// Starting containerd takes a second, ending it less.
const PATIENCE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(20);

/// A store takes more than a gigabyte, and a running node does not need the one
/// it was made from.
const KEPT_STORES: usize = 3;

/// The namespace inside containerd that Kubernetes uses.
const KUBERNETES: &str = "k8s.io";

/// A store that holds these images, from the cache or made now.
pub fn build(cache: &Cache, images: &[Image], progress: &mut dyn Progress) -> Result<PathBuf> {
    let version = run(&mut command("containerd", ["--version"]))?;
    let mut key = Key::of("images").text(&version);
    for image in images {
        key = key.text(&image.identity());
    }
    let key = key.build();
    if let Some(store) = cache.find("stores", &key) {
        return Ok(store);
    }
    let usual = Duration::from_secs(40);
    let store = stage(progress, "Unpacking the images", usual, || {
        cache.get("stores", &key, |directory| {
            let mut containerd = Temporary::start(directory)?;
            let socket = containerd.socket();
            images.iter().try_for_each(|image| import(&socket, image))?;
            containerd.stop()
        })
    })?;
    cache.keep_newest("stores", KEPT_STORES)?;
    Ok(store)
}

/// Gives a node its own store, unless it has one.
pub fn give(store: &Path, root: &Path) -> Result<()> {
    if root.exists() {
        return Ok(());
    }
    // `cp` makes the links and then a true copy of each database in one go; a
    // half-made store must not look like a whole one.
    let unfinished = root.with_extension("unfinished");
    let script = r#"set -e
rm -rf "$2"
cp -al "$1" "$2"
cd "$1"
find . -name '*.db' -exec cp -a --remove-destination '{}' "$2/{}" ';'
mv "$2" "$3""#;
    let mut copy = command("sh", ["-c", script, "sh"]);
    copy.arg(store).arg(&unfinished).arg(root);
    run(&mut copy)
        .map(drop)
        .with_context(|| format!("copying the image store to {}", root.display()))
}

/// Imports an image into a running containerd.
pub fn import(socket: &Path, image: &Image) -> Result<()> {
    let importing = || format!("importing {}", image.reference);
    let mut ctr = Command::new("ctr");
    ctr.arg("--address").arg(socket);
    ctr.args(["--namespace", KUBERNETES, "images", "import", "-"]);
    ctr.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = ctr.spawn().with_context(|| format!("starting `{}`", shown(&ctr)))?;
    let mut input = child.stdin.take().with_context(importing)?;
    // What ctr says explains a broken pipe better than the pipe does.
    let written = image.write(&mut std::io::BufWriter::with_capacity(1 << 20, &mut input));
    let _ = input.flush();
    drop(input);
    let output = child.wait_with_output().with_context(importing)?;
    if !output.status.success() {
        bail!("{}: {}", importing(), String::from_utf8_lossy(&output.stderr).trim());
    }
    written
}

/// Gives an image of a running containerd another name besides its own.
pub fn tag(socket: &Path, reference: &str, name: &str) -> Result<()> {
    let mut ctr = Command::new("ctr");
    ctr.arg("--address").arg(socket);
    ctr.args(["--namespace", KUBERNETES, "images", "tag", "--force", reference, name]);
    run(&mut ctr).map(drop).with_context(|| format!("naming {reference} {name}"))
}

/// A containerd without Kubernetes, on a directory of its own, that ends with
/// the thread that started it.
struct Temporary {
    child: Child,
    run_dir: PathBuf,
}

impl Temporary {
    fn start(root: &Path) -> Result<Self> {
        let run_dir = PathBuf::from(format!("/run/palladion-images-{}", std::process::id()));
        let making = || format!("preparing containerd in {}", run_dir.display());
        fs::create_dir_all(&run_dir).with_context(making)?;
        let (root, run) = (root.display(), run_dir.display());
        let config = format!(
            "version = 2\nroot = \"{root}\"\nstate = \"{run}/state\"\n\
             disabled_plugins = [\"io.containerd.grpc.v1.cri\", \"io.containerd.internal.v1.opt\"]\n\
             [grpc]\n  address = \"{run}/containerd.sock\"\n"
        );
        fs::write(run_dir.join("config.toml"), config).with_context(making)?;
        let log = fs::File::create(run_dir.join("log")).with_context(making)?;
        let mut start = command("setpriv", ["--pdeathsig", "KILL"]);
        start
            .args(["unshare", "--mount", "--propagation", "private", "containerd", "--config"])
            .arg(run_dir.join("config.toml"))
            .stdout(log.try_clone().with_context(making)?)
            .stderr(log);
        let child = start.spawn().with_context(making)?;
        let mut containerd = Self { child, run_dir };
        let end = Instant::now() + PATIENCE;
        while UnixStream::connect(containerd.socket()).is_err() {
            let ended = containerd.child.try_wait().context("watching containerd start")?;
            if ended.is_some() || Instant::now() > end {
                let log = fs::read_to_string(containerd.run_dir.join("log")).unwrap_or_default();
                bail!("starting containerd to unpack images: {}", log.trim());
            }
            sleep(POLL);
        }
        Ok(containerd)
    }

    fn socket(&self) -> PathBuf {
        self.run_dir.join("containerd.sock")
    }

    /// Lets it write its databases to the end.
    fn stop(&mut self) -> Result<()> {
        use rustix::process::{Pid, Signal, kill_process};
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            kill_process(pid, Signal::TERM).context("ending containerd")?;
        }
        self.child.wait().context("waiting for containerd to end")?;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.run_dir);
    }
}
