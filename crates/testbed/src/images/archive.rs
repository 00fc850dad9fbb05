//! An image as an OCI archive, written straight into whatever imports it.
//!
//! The archive is a tar file of blobs. Its layers are streamed from the cache,
//! so no second copy of an image of several hundred megabytes is ever made.

use std::fs::File;
use std::io::{self, Write};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::layer::{Blob, Layer};
use crate::cache::hex;

const BLOCK: usize = 512;

/// A finished image.
#[derive(Debug, Clone)]
pub struct Image {
    /// The full reference, such as `palladion.dev/pause:dev`.
    pub reference: String,
    /// Its layers, lowest first.
    pub layers: Vec<Layer>,
    /// How containers of it start.
    pub start: Start,
}

/// How containers of an image start unless told otherwise.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// `NAME=value`.
    pub environment: Vec<String>,
    /// The program and its fixed arguments.
    pub entrypoint: Vec<String>,
    /// Arguments that a container may replace.
    pub command: Vec<String>,
    /// Numeric user, if not root.
    pub user: Option<String>,
    /// Where it starts, if not in `/`.
    pub working_directory: Option<String>,
}

impl Image {
    /// What identifies the image's content and name.
    pub fn identity(&self) -> String {
        format!("{}@{}", self.reference, self.manifest().1.sha256)
    }

    /// Writes the whole archive.
    pub fn write(&self, out: &mut dyn Write) -> Result<()> {
        let writing = || format!("writing the archive of {}", self.reference);
        let (manifest, described) = self.manifest();
        let config = self.config();
        let index = self.index(&described);
        entry(out, "oci-layout", br#"{"imageLayoutVersion":"1.0.0"}"#).with_context(writing)?;
        for layer in &self.layers {
            self.write_layer(out, layer).with_context(writing)?;
        }
        for blob in [&config, &manifest] {
            entry(out, &blob_path(&describe(blob).sha256), blob).with_context(writing)?;
        }
        entry(out, "index.json", &index).with_context(writing)?;
        out.write_all(&[0; 2 * BLOCK]).with_context(writing)?;
        out.flush().with_context(writing)
    }

    fn write_layer(&self, out: &mut dyn Write, layer: &Layer) -> Result<()> {
        let mut file =
            File::open(&layer.tar).with_context(|| format!("opening {}", layer.tar.display()))?;
        out.write_all(&header(&blob_path(&layer.blob.sha256), layer.blob.size))?;
        let copied = io::copy(&mut file, out)?;
        ensure!(
            copied == layer.blob.size,
            "{} has {copied} bytes instead of {}; remove its directory and try again",
            layer.tar.display(),
            layer.blob.size
        );
        Ok(out.write_all(padding(copied))?)
    }

    fn config(&self) -> Vec<u8> {
        let mut config = json!({
            "Env": self.start.environment,
            "Entrypoint": self.start.entrypoint,
            "Cmd": self.start.command,
        });
        if let Some(user) = &self.start.user {
            config["User"] = json!(user);
        }
        if let Some(directory) = &self.start.working_directory {
            config["WorkingDir"] = json!(directory);
        }
        let layers: Vec<_> = self.layers.iter().map(|l| digest(&l.blob)).collect();
        bytes(&json!({
            "architecture": if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" },
            "os": "linux",
            "config": config,
            "rootfs": {"type": "layers", "diff_ids": layers},
        }))
    }

    fn manifest(&self) -> (Vec<u8>, Blob) {
        let part = |kind: &str, blob: &Blob| {
            let media_type = format!("application/vnd.oci.image.{kind}");
            json!({"mediaType": media_type, "digest": digest(blob), "size": blob.size})
        };
        let layers = self.layers.iter().map(|l| part("layer.v1.tar", &l.blob));
        let manifest = bytes(&json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": part("config.v1+json", &describe(&self.config())),
            "layers": layers.collect::<Vec<_>>(),
        }));
        let described = describe(&manifest);
        (manifest, described)
    }

    fn index(&self, manifest: &Blob) -> Vec<u8> {
        bytes(&json!({
            "schemaVersion": 2,
            "manifests": [{
                "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "digest": digest(manifest),
                "size": manifest.size,
                "annotations": {"org.opencontainers.image.ref.name": self.reference},
            }],
        }))
    }
}

fn bytes(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

fn describe(content: &[u8]) -> Blob {
    Blob { sha256: hex(&Sha256::digest(content)), size: content.len() as u64 }
}

fn digest(blob: &Blob) -> String {
    format!("sha256:{}", blob.sha256)
}

fn blob_path(sha256: &str) -> String {
    format!("blobs/sha256/{sha256}")
}

fn entry(out: &mut dyn Write, path: &str, content: &[u8]) -> io::Result<()> {
    let size = content.len() as u64;
    out.write_all(&header(path, size))?;
    out.write_all(content)?;
    out.write_all(padding(size))
}

fn padding(size: u64) -> &'static [u8] {
    const ZEROES: [u8; BLOCK] = [0; BLOCK];
    let over = (size % BLOCK as u64) as usize;
    &ZEROES[..(BLOCK - over) % BLOCK]
}

/// A POSIX ustar header of a plain file. Our paths are short and our sizes are
/// below the eight gigabytes that its octal field holds.
fn header(path: &str, size: u64) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let mut put = |at: usize, text: &[u8]| block[at..at + text.len()].copy_from_slice(text);
    put(0, path.as_bytes());
    put(100, b"0000644\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{size:011o}\0").as_bytes());
    put(136, b"00000000000\0");
    put(148, b"        ");
    put(156, b"0");
    put(257, b"ustar\x0000");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{command, run};

    #[test]
    fn tar_reads_the_archive_and_every_blob_is_what_its_name_says() {
        let directory = tempfile::tempdir().expect("should make a directory");
        let tar = directory.path().join("layer.tar");
        std::fs::write(&tar, vec![7; 700]).expect("should write");
        let image = Image {
            reference: "palladion.dev/x:1".to_owned(),
            layers: vec![Layer { tar, blob: describe(&[7; 700]) }],
            start: Start::default(),
        };
        let archive = directory.path().join("image.tar");
        let mut file = File::create(&archive).expect("should create");
        image.write(&mut file).expect("should write");
        let mut unpack = command("tar", ["-xf"]);
        run(unpack.arg(&archive).arg("-C").arg(directory.path())).expect("should unpack");
        let blobs = std::fs::read_dir(directory.path().join("blobs/sha256")).expect("should be");
        let mut count = 0;
        for blob in blobs {
            let path = blob.expect("should list").path();
            let content = std::fs::read(&path).expect("should read");
            assert!(path.ends_with(describe(&content).sha256));
            count += 1;
        }
        assert_eq!(count, 3, "layer, config and manifest");
    }

    #[test]
    fn the_identity_changes_with_the_name_and_with_how_it_starts() {
        let mut image =
            Image { reference: "a:1".to_owned(), layers: vec![], start: Start::default() };
        let first = image.identity();
        image.start.command = vec!["x".to_owned()];
        let second = image.identity();
        assert_ne!(first, second);
        image.reference = "a:2".to_owned();
        assert_ne!(second, image.identity());
    }
}
