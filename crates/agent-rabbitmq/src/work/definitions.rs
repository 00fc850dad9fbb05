//! Definitions: users, virtual hosts, policies, queues, as a file that somebody keeps. An
//! import adds and changes, and deletes nothing.

use super::{Done, Hands};
use crate::read::name;
use crate::wire::Error;
use crate::wire::ctl::{Input, Program};
use crate::words::calls::NotRepeated;
use crate::words::files::{Missing, Odd};
use crate::words::job::{Doing, Done as Words, Failed, NotSo};
use anyhow::{Context, Result, anyhow, bail};
use palladion_agent_core::words::files::Doing as WithFile;
use palladion_api::words::Names;
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Thousands of queues are declared one by one.
const IMPORT_TIME: Duration = Duration::from_secs(600);

/// Definitions that were found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definitions {
    /// Where.
    path: PathBuf,
    /// The first 32 hexadecimal digits of the SHA-256 of the file.
    pub hash: String,
    /// The queues in it.
    queues: BTreeSet<(String, String)>,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    queues: Vec<Queue>,
}

#[derive(Deserialize)]
struct Queue {
    name: String,
    #[serde(default = "usual")]
    vhost: String,
}

fn usual() -> String {
    "/".into()
}

/// The hash of a file of definitions; `None` where there is none.
///
/// # Errors
/// It cannot be read.
pub fn hash(path: &Path) -> Result<Option<String>> {
    Ok(read(path)?.map(|text| hash_of(&text)))
}

fn hash_of(text: &[u8]) -> String {
    Sha256::digest(text).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => {
            Err(error).with_context(|| WithFile::Read { path: path.display().to_string() })
        }
    }
}

impl Definitions {
    /// Those in a file; `None` where there is none.
    ///
    /// # Errors
    /// It cannot be read, or holds something else.
    pub fn find(path: &Path) -> Result<Option<Self>> {
        let Some(text) = read(path)? else {
            return Ok(None);
        };
        // What serde says may quote a value, which may be a password: only where it stands goes on.
        let odd = |error: serde_json::Error| {
            let (path, line, column) = (path.display().to_string(), error.line(), error.column());
            anyhow!(Odd::Definitions { path, line, column })
        };
        // An object first: serde would take a list for a structure, too.
        let _: Map<String, Value> = serde_json::from_slice(&text).map_err(odd)?;
        let file: File = serde_json::from_slice(&text).map_err(odd)?;
        let queues = file.queues.into_iter().map(|queue| (queue.vhost, queue.name)).collect();
        Ok(Some(Self { path: path.to_path_buf(), hash: hash_of(&text), queues }))
    }
}

impl Hands {
    /// The definitions that the pod mounts.
    pub(super) fn found_definitions(&self) -> Result<Option<Definitions>> {
        Definitions::find(&self.definitions)
    }

    /// Import them, if they are those that are meant.
    pub(super) async fn import_definitions(&self, hash: &str) -> Result<Done> {
        let Some(found) = self.found_definitions()? else {
            bail!(Failed::NoDefinitions);
        };
        if found.hash != hash {
            bail!(Failed::OtherDefinitions { named: hash.into(), found: found.hash });
        }
        self.import(&found).await?;
        Ok(Done::of(Words::Imported { hash: hash.into() }))
    }

    pub(super) async fn import(&self, definitions: &Definitions) -> Result<()> {
        let path = definitions.path.to_str().context(Missing::Definitions)?;
        let arguments = ["import_definitions", path, "--format", "json"];
        let imported = self.ctl.call(Program::Ctl, &arguments, Input::None, IMPORT_TIME);
        // It prints what it does not take, and users have passwords.
        let quiet = |error: Error| error.saying(NotRepeated::Definitions { path: path.into() });
        imported.await.map_err(quiet).context(Doing::ImportDefinitions)?;
        let queues = self.queues_now().await?;
        let there: BTreeSet<(String, String)> =
            queues.into_iter().map(|queue| (queue.vhost, queue.name)).collect();
        let absent: Vec<&(String, String)> = definitions.queues.difference(&there).collect();
        if !absent.is_empty() {
            let queues = Names::of(absent.iter().map(|(vhost, queue)| name(vhost, queue)));
            bail!(NotSo::NoQueue { queues });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_known_by_the_hash_of_their_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("definitions.json");
        assert_eq!((hash(&path).unwrap(), Definitions::find(&path).unwrap()), (None, None));
        fs::write(&path, r#"{"queues":[{"name":"q","vhost":"v"},{"name":"r"}]}"#).unwrap();
        let found = Definitions::find(&path).unwrap().unwrap();
        assert_eq!((Some(&found.hash), found.hash.len()), (hash(&path).unwrap().as_ref(), 32));
        let expected = [("/", "r"), ("v", "q")].map(|(v, n)| (v.to_string(), n.to_string()));
        assert_eq!(found.queues, expected.into());
        fs::write(&path, "[]").unwrap();
        assert!(Definitions::find(&path).is_err());
    }

    #[test]
    fn what_is_no_definitions_is_said_by_its_place_and_never_quoted() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("definitions.json");
        for text in
            ["\"a-password\"", "{\n\"queues\": \"a-password\"}", "{\"a-password\": a-password"]
        {
            fs::write(&path, text).unwrap();
            let error = format!("{:#}", Definitions::find(&path).unwrap_err());
            assert!(!error.contains("a-password"), "{error}");
            assert!(error.contains("line ") && error.contains("column "), "{error}");
        }
        fs::write(&path, "{\n\"queues\": 7}").unwrap();
        assert!(Definitions::find(&path).unwrap_err().to_string().contains("line 2"));
    }
}
