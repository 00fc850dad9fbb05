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
    let shown = directory.display();
    std::fs::read_dir(directory)
        .map_err(|error| format!("cannot read the credentials in {shown}: {error}"))?;
    let bytes = |name: &str| match std::fs::read(directory.join(name)) {
        Ok(bytes) if bytes.trim_ascii().is_empty() => Err(format!(
            "{shown}/{name} is empty: write the credential into it, or remove the file"
        )),
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("cannot read {shown}/{name}: {error}")),
    };
    let text = |name: &str| {
        let Some(bytes) = bytes(name)? else { return Ok::<_, String>(None) };
        let text = String::from_utf8(bytes).map_err(|_| format!("{shown}/{name} is not text"))?;
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
}
