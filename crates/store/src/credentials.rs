//! Credentials of a store of objects, as a Secret is mounted: a file for each
//! key. They are never looked for elsewhere (environment, home directory, metadata
//! service), so none is sent to a store that it was not given for.

use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

/// What the files of a directory say; see [`read`].
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    /// `accessKeyId`, S3.
    pub access_key_id: Option<String>,
    /// `secretAccessKey`, S3.
    pub secret_access_key: Option<String>,
    /// `sessionToken`, S3: of temporary credentials.
    pub session_token: Option<String>,
    /// `serviceAccount.json`, Google Cloud Storage.
    pub service_account: Option<String>,
    /// `accountKey`, Azure.
    pub account_key: Option<String>,
    /// `sasToken`, Azure.
    pub sas_token: Option<String>,
    /// `ca.crt`: certificates by which the store is known, in place of those of the machine.
    pub ca: Option<Vec<u8>>,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(..)")
    }
}

/// Read the files that are there.
///
/// # Errors
/// The directory or one of its files cannot be read, or a file is empty.
pub fn read(directory: &Path) -> Result<Credentials, String> {
    named(directory, "")
}

/// What begins the names of files for another store than the ring's own.
const SOURCE: &str = "source.";
/// For which store they are.
const STORE: &str = "store";

/// As [`read`], for this place: its address and, where it has one, a space and its endpoint. A
/// file `store` says for which one they are, where there is one.
///
/// # Errors
/// As [`read`]; or the file names another place.
pub fn read_own(
    directory: &Path,
    (at, endpoint): (&str, Option<&str>),
) -> Result<Credentials, String> {
    let place = written(at, endpoint);
    match store_of(directory, STORE)?.is_none_or(|found| found == place) {
        true => read(directory),
        false => Err(other(directory, STORE, &place)),
    }
}

/// Read those files that begin with `source.`, which are for this place alone: its address and,
/// where it has one, a space and its endpoint.
///
/// # Errors
/// As [`read`]; or the file `source.store` does not name the place.
pub fn read_source(
    directory: &Path,
    (at, endpoint): (&str, Option<&str>),
) -> Result<Credentials, String> {
    let (place, entry) = (written(at, endpoint), format!("{SOURCE}{STORE}"));
    match store_of(directory, &entry)? {
        Some(found) if found == place => named(directory, SOURCE),
        Some(_) => Err(other(directory, &entry, &place)),
        None => Err(format!(
            "the Secret in {} has no entry {entry}, and credentials go to no store that they were not given for: write `{place}` into it, and the credentials of that store into entries that begin with {SOURCE}",
            directory.display()
        )),
    }
}

fn written(at: &str, endpoint: Option<&str>) -> String {
    endpoint.map_or(at.to_string(), |endpoint| format!("{at} {endpoint}"))
}

fn store_of(directory: &Path, entry: &str) -> Result<Option<String>, String> {
    match std::fs::read_to_string(directory.join(entry)) {
        Ok(found) => Ok(Some(found.trim().to_string())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("cannot read {}/{entry}: {error}", directory.display())),
    }
}

fn other(directory: &Path, entry: &str, place: &str) -> String {
    let (shown, found) = (directory.display(), store_of(directory, entry).ok().flatten());
    let found = found.unwrap_or_default();
    format!(
        "the entry {entry} of the Secret in {shown} is `{found}`, and the backup is in `{place}`: its credentials go to no other store; write `{place}` into that entry, and the credentials of that store beside it"
    )
}

fn named(directory: &Path, prefix: &str) -> Result<Credentials, String> {
    let shown = directory.display();
    std::fs::read_dir(directory)
        .map_err(|error| format!("cannot read the credentials in {shown}: {error}"))?;
    let bytes = |name: &str| match std::fs::read(directory.join(format!("{prefix}{name}"))) {
        Ok(bytes) if bytes.trim_ascii().is_empty() => Err(format!(
            "{shown}/{prefix}{name} is empty: write the credential into it, or remove the file"
        )),
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("cannot read {shown}/{prefix}{name}: {error}")),
    };
    let text = |name: &str| {
        let Some(bytes) = bytes(name)? else { return Ok::<_, String>(None) };
        let text =
            String::from_utf8(bytes).map_err(|_| format!("{shown}/{prefix}{name} is not text"))?;
        Ok(Some(text.trim().to_string()))
    };
    Ok(Credentials {
        access_key_id: text("accessKeyId")?,
        secret_access_key: text("secretAccessKey")?,
        session_token: text("sessionToken")?,
        service_account: text("serviceAccount.json")?,
        account_key: text("accountKey")?,
        sas_token: text("sasToken")?,
        ca: bytes("ca.crt")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mounted_secret_is_read_and_never_shown() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        assert_eq!(read(folder.path()).unwrap(), Credentials::default());
        write("accessKeyId", "id\n");
        write("secretAccessKey", "secret\n");
        let all = read(folder.path()).unwrap();
        assert_eq!(all.access_key_id.as_deref(), Some("id"));
        assert_eq!(all.secret_access_key.as_deref(), Some("secret"));
        assert!(!format!("{all:?}").contains("secret"));
        write("sasToken", " \n");
        assert!(read(folder.path()).unwrap_err().contains("sasToken is empty"));
        let missing = read(&folder.path().join("x")).unwrap_err();
        assert!(missing.contains("cannot read the credentials"), "{missing}");
    }
    #[test]
    fn credentials_of_another_store_are_read_for_that_one_alone() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("accessKeyId", "own");
        write("source.accessKeyId", "other\n");
        let of = |at: &str, endpoint| read_source(folder.path(), (at, endpoint));
        let missing = of("s3://b/p", Some("http://h:1")).unwrap_err();
        assert!(missing.contains("no entry source.store"), "{missing}");
        assert!(missing.contains("write `s3://b/p http://h:1` into it"), "{missing}");
        write("source.store", " s3://b/p http://h:1\n");
        let read = of("s3://b/p", Some("http://h:1")).unwrap();
        assert_eq!(read.access_key_id.as_deref(), Some("other"));
        for (at, endpoint) in [
            ("s3://b/p", None),
            ("s3://b", Some("http://h:1")),
            ("s3://b/p", Some("http://h:12")),
            ("s3://b/p/q", Some("http://h:1")),
        ] {
            let said = of(at, endpoint).unwrap_err();
            assert!(said.contains("is `s3://b/p http://h:1`"), "{said}");
        }
        assert_eq!(super::read(folder.path()).unwrap().access_key_id.as_deref(), Some("own"));
    }
}
