//! Volumes on disks of their own, which forget what was not yet written to them
//! when their node loses its power.
//!
//! The volume is an ext4 in a file, mounted when the node starts. A loss of power
//! shuts it down with the request that ext4 has for such tests: nothing more
//! reaches the file, neither data nor journal, and what memory held of it is gone.
//! The journal is replayed at the next mount.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::cluster::Cluster;
use crate::command::{command, run};
use crate::config::Node;
use crate::site::{Site, disk_of};

/// `EXT4_IOC_SHUTDOWN` with `EXT4_GOING_FLAGS_NOLOGFLUSH`, of `fs/ext4/ext4.h`.
const SHUT_DOWN: &str = "import fcntl, os, struct, sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587d, struct.pack('I', 2))";
/// The kernel lets go of a disk when the last process that saw it is gone.
const PATIENCE: Duration = Duration::from_secs(30);

impl Cluster {
    /// Give a volume a disk of its own of so many MiB, empty, from the next start of its node;
    /// the node must be without power.
    pub fn give_disk(&self, volume: &str, size_mib: u32) -> Result<()> {
        let giving = || format!("giving volume {volume} a disk");
        let file = self.disk_of_a_node_without_power(volume).with_context(giving)?;
        let disk = fs::File::create(&file).with_context(giving)?;
        disk.set_len(u64::from(size_mib) << 20).with_context(giving)?;
        run(command("mkfs.ext4", ["-q", "-F"]).arg(&file))
            .context("hint: Debian has it in the package e2fsprogs")
            .with_context(giving)
            .map(drop)
    }

    /// The volume is a directory again from the next start of its node, which must be without power.
    pub fn take_disk(&self, volume: &str) -> Result<()> {
        let file = self.disk_of_a_node_without_power(volume)?;
        if file.exists() {
            fs::remove_file(&file).with_context(|| format!("taking the disk of {volume}"))?;
        }
        Ok(())
    }

    fn disk_of_a_node_without_power(&self, volume: &str) -> Result<PathBuf> {
        let (node, directory) = self.locate(volume)?;
        let name = node.name();
        ensure!(self.on_node(node, "true").is_err(), "node {name} runs; take its power first");
        let file = disk_of(&directory);
        wait_until_free(&file)?;
        Ok(file)
    }

    /// What the disks of a node have not written is lost.
    pub(super) fn lose_unwritten(&self, node: Node) -> Result<()> {
        if self.on_node(node, "true").is_err() {
            return Ok(());
        }
        for directory in volumes_on_disks(self.site(), node) {
            let mut python = self.on_node(node, "python3")?;
            run(python.args(["-c", SHUT_DOWN]).arg(&directory))
                .with_context(|| format!("cutting off {}", directory.display()))?;
        }
        Ok(())
    }
}

/// Until nothing of the node's last life holds its disks any more.
pub(super) fn wait_until_all_are_free(site: &Site, node: Node) -> Result<()> {
    volumes_on_disks(site, node).iter().try_for_each(|volume| wait_until_free(&disk_of(volume)))
}

fn volumes_on_disks(site: &Site, node: Node) -> Vec<PathBuf> {
    let all = (1..=site.config.volumes_per_node).map(|number| site.volume_dir(node, number));
    all.filter(|volume| disk_of(volume).exists()).collect()
}

fn wait_until_free(file: &Path) -> Result<()> {
    let end = Instant::now() + PATIENCE;
    loop {
        let used = run(command("losetup", ["--associated"]).arg(file))?;
        if used.trim().is_empty() {
            return Ok(());
        }
        if Instant::now() > end {
            bail!("{} is still in use: {}", file.display(), used.trim());
        }
        sleep(Duration::from_millis(100));
    }
}
