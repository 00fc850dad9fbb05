//! Image layers: a directory's content as one tar file, cached by its inputs.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::cache::{Cache, Key, hex};
use crate::command::{command, run};
use crate::progress::{Progress, stage};

/// The tar file of a layer beside the record of what it is.
const TAR: &str = "layer.tar";
const RECORD: &str = "layer.json";

/// A finished layer.
#[derive(Debug, Clone)]
pub struct Layer {
    /// Its uncompressed tar file.
    pub tar: PathBuf,
    /// What the file is.
    pub blob: Blob,
}

/// Content by its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blob {
    /// SHA-256 in hexadecimal.
    pub sha256: String,
    /// Bytes.
    pub size: u64,
}

impl Layer {
    /// The same as [`Layer::get`], reported as a stage if it has to be made.
    pub fn stage(
        cache: &Cache,
        key: &Key,
        progress: &mut dyn Progress,
        what: (&str, Duration),
        fill: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<Self> {
        match cache.find("layers", key) {
            Some(_) => Self::get(cache, key, fill),
            None => stage(progress, what.0, what.1, || Self::get(cache, key, fill)),
        }
    }

    /// The layer of that key; `fill` puts its content, with owners and modes as
    /// they shall be in the image, into the directory it is given.
    pub fn get(cache: &Cache, key: &Key, fill: impl FnOnce(&Path) -> Result<()>) -> Result<Self> {
        let entry = cache.get("layers", key, |directory| {
            let content = directory.join("content");
            fs::create_dir(&content).with_context(|| format!("creating {}", content.display()))?;
            fill(&content)?;
            let tar = directory.join(TAR);
            pack(&content, &tar)?;
            fs::remove_dir_all(&content)
                .with_context(|| format!("removing {}", content.display()))?;
            let record = serde_json::to_vec(&describe(&tar)?)?;
            fs::write(directory.join(RECORD), record).context("recording a layer")
        })?;
        let record = entry.join(RECORD);
        let text = fs::read(&record).with_context(|| format!("reading {}", record.display()))?;
        Ok(Self {
            tar: entry.join(TAR),
            blob: serde_json::from_slice(&text)
                .with_context(|| format!("reading {}", record.display()))?,
        })
    }
}

/// Order and times are fixed, so that the same content is the same layer.
fn pack(content: &Path, tar: &Path) -> Result<()> {
    let mut pack = command("tar", ["--sort=name", "--mtime=@0", "--numeric-owner"]);
    pack.arg("-C").arg(content).arg("-cf").arg(tar).arg(".");
    run(&mut pack).map(drop)
}

fn describe(path: &Path) -> Result<Blob> {
    let reading = || format!("reading {}", path.display());
    let mut file = File::open(path).with_context(reading)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    let mut size = 0;
    loop {
        let count = file.read(&mut buffer).with_context(reading)?;
        if count == 0 {
            break;
        }
        hash.update(&buffer[..count]);
        size += count as u64;
    }
    Ok(Blob { sha256: hex(&hash.finalize()), size })
}
