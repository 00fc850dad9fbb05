//! Local volumes that are emptied, go missing, or are made ready for the next.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::cluster::Cluster;
use crate::command::run;
use crate::config::Node;
use crate::system::{STORAGE_CLASS, volume_name};

impl Cluster {
    /// The volume that a claim is bound to.
    pub fn volume_of_claim(&self, namespace: &str, claim: &str) -> Result<String> {
        let volume = self.kubectl(&[
            "-n",
            namespace,
            "get",
            "pvc",
            claim,
            "-o",
            "jsonpath={.spec.volumeName}",
        ])?;
        if volume.is_empty() {
            bail!("claim {namespace}/{claim} is bound to no volume yet");
        }
        Ok(volume)
    }

    /// The directory on the host that holds a volume's content.
    pub fn volume_dir(&self, volume: &str) -> Result<PathBuf> {
        self.locate(volume).map(|(_, directory)| directory)
    }

    /// Loses all that is on a volume; whoever uses it sees it empty at once.
    pub fn wipe_volume(&self, volume: &str) -> Result<()> {
        let directory = self.volume_dir(volume)?;
        empty(&directory).with_context(|| format!("wiping volume {volume}"))
    }

    /// Puts another, empty file system in a volume's place, as when a disk was
    /// not mounted after a restart. Pods that run keep what they have.
    pub fn hide_volume(&self, volume: &str) -> Result<()> {
        self.mount_over(volume, "mode=755").with_context(|| format!("hiding volume {volume}"))
    }

    /// Puts an empty file system of so many MiB in a volume's place, which a
    /// server can fill up. It lives in memory, so it does not outlast its node.
    pub fn shrink_volume(&self, volume: &str, size_mib: u32) -> Result<()> {
        self.mount_over(volume, &format!("mode=755,size={size_mib}m"))
            .with_context(|| format!("shrinking volume {volume}"))
    }

    /// Ends [`Cluster::hide_volume`] and [`Cluster::shrink_volume`].
    pub fn unhide_volume(&self, volume: &str) -> Result<()> {
        let (node, directory) = self.locate(volume)?;
        run(self.on_node(node, "umount")?.args(["-t", "tmpfs"]).arg(directory))
            .map(drop)
            .with_context(|| format!("bringing volume {volume} back"))
    }

    /// Empties every volume of the nodes whose claim is gone and offers it again, and
    /// returns their names. Volumes that are bound are left alone, and those that a test has
    /// made itself.
    pub fn recycle_volumes(&self) -> Result<Vec<String>> {
        let released = r#"jsonpath={range .items[?(@.status.phase=="Released")]}{.metadata.name} {.spec.storageClassName}{"\n"}{end}"#;
        let volumes = self.kubectl(&["get", "pv", "-o", released])?;
        let mut recycled = Vec::new();
        let own = volumes.lines().filter_map(|line| line.split_once(' '));
        for (volume, _) in own.filter(|(_, class)| *class == STORAGE_CLASS) {
            let directory = self.volume_dir(volume)?;
            empty(&directory).with_context(|| format!("emptying volume {volume}"))?;
            renew(&directory).with_context(|| format!("resetting volume {volume}"))?;
            // It stays Released for a moment after this; asked again, nothing is refused.
            let forget = r#"{"spec": {"claimRef": null}}"#;
            self.kubectl(&["patch", "pv", volume, "--type=merge", "-p", forget])?;
            recycled.push(volume.to_owned());
        }
        Ok(recycled)
    }

    fn mount_over(&self, volume: &str, options: &str) -> Result<()> {
        let (node, directory) = self.locate(volume)?;
        let mut mount = self.on_node(node, "mount")?;
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(directory);
        run(&mut mount).map(drop)
    }

    pub(super) fn locate(&self, volume: &str) -> Result<(Node, PathBuf)> {
        let site = self.site();
        for node in self.nodes() {
            for number in 1..=site.config.volumes_per_node {
                if volume_name(node, number) == volume {
                    return Ok((node, site.volume_dir(node, number)));
                }
            }
        }
        bail!("{volume:?} is not a volume of this testbed; they are called like local-n1-v1");
    }
}

fn empty(directory: &Path) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let removed = if path.is_dir() && !path.is_symlink() {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        match removed {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            result => result.with_context(|| format!("removing {}", path.display()))?,
        }
    }
    Ok(())
}

/// Owner and mode as a new disk has them: a pod's group may have changed them.
fn renew(directory: &Path) -> Result<()> {
    use std::os::unix::fs::{PermissionsExt, chown};
    chown(directory, Some(0), Some(0))?;
    Ok(fs::set_permissions(directory, fs::Permissions::from_mode(0o755))?)
}
