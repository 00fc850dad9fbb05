//! The images of this workspace's own programs.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::archive::{Image, Start};
use super::{cassandra, files_layer, verify};
use crate::cache::{Cache, Key};
use crate::sources::images_dir;

/// The operator's image.
pub const OPERATOR: &str = "palladion.dev/palladion-operator:dev";
/// The image that brings the agent into a database container.
pub const AGENT: &str = "palladion.dev/palladion-agent:dev";

/// Nobody in particular, as restricted pods want it.
const USER: &str = "65532";

/// The operator's and the agent's image, from the directory that holds their
/// statically linked binaries.
pub fn palladion(cache: &Cache, binaries: &Path) -> Result<Vec<Image>> {
    let operator = binaries.join("palladion-operator");
    let agent = binaries.join("palladion-agent");
    ensure_static(&operator)?;
    ensure_static(&agent)?;
    let jars = java_agents(cache)?;
    let image = |reference: &str, name: &str, files: &[(&Path, &str)]| -> Result<Image> {
        Ok(Image {
            reference: reference.to_owned(),
            layers: vec![files_layer(cache, name, files)?],
            start: Start {
                entrypoint: vec![format!("/{name}")],
                user: Some(USER.to_owned()),
                ..Start::default()
            },
        })
    };
    let jolokia = jars.join("jolokia-agent-jvm-2.3.0-javaagent.jar");
    let exporter = jars.join("jmx_prometheus_javaagent-1.0.1.jar");
    Ok(vec![
        image(OPERATOR, "palladion-operator", &[(&operator, "palladion-operator")])?,
        image(
            AGENT,
            "palladion-agent",
            &[
                (&agent, "palladion-agent"),
                (&jolokia, "jolokia.jar"),
                (&exporter, "jmx_prometheus_javaagent.jar"),
            ],
        )?,
    ])
}

fn java_agents(cache: &Cache) -> Result<std::path::PathBuf> {
    let sources = images_dir()?.join("agent");
    let key = Key::of("java-agents").tree(&sources)?.build();
    cache.get("parts", &key, |directory| {
        cassandra::maven(&sources.join("pom.xml"), directory)?;
        verify(directory, &sources.join("jars.sha256"))
    })
}

/// These images hold no libraries, so a binary that asks for a loader would
/// fail in the cluster with a puzzling "no such file".
fn ensure_static(program: &Path) -> Result<()> {
    let content = std::fs::read(program).with_context(|| {
        format!("reading {}; hint: build it before its image", program.display())
    })?;
    ensure!(
        wants_loader(&content) == Some(false),
        "{} is not a statically linked 64-bit program; hint: build it with \
         RUSTFLAGS='-C target-feature=+crt-static' and an explicit --target",
        program.display()
    );
    Ok(())
}

/// Whether a little-endian 64-bit ELF file has a program header of type
/// PT_INTERP; `None` if it is no such file.
fn wants_loader(elf: &[u8]) -> Option<bool> {
    const INTERPRETER: u32 = 3;
    if elf.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let two =
        |at: usize| Some(usize::from(u16::from_le_bytes(elf.get(at..at + 2)?.try_into().ok()?)));
    let table = u64::from_le_bytes(elf.get(32..40)?.try_into().ok()?);
    let (size, count) = (two(54)?, two(56)?);
    let table = usize::try_from(table).ok()?;
    for index in 0..count {
        let at = table.checked_add(index * size)?;
        let kind = u32::from_le_bytes(elf.get(at..at + 4)?.try_into().ok()?);
        if kind == INTERPRETER {
            return Some(true);
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dynamic_program_is_told_from_other_files() {
        let shell = std::fs::read("/bin/sh").expect("should read");
        assert_eq!(wants_loader(&shell), Some(true));
        assert_eq!(wants_loader(b"#!/bin/sh\n"), None);
        assert_eq!(wants_loader(&shell[..50]), None);
    }
}
