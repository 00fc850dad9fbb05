//! Where a repository is, as it is typed: `/backups/demo`, `s3://bucket/prefix`,
//! `gs://bucket/prefix` or `azure://account/container/prefix`. Nothing is opened here.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// What a place may look like, for errors.
const FORMS: &str =
    "write a directory, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or azure://ACCOUNT/CONTAINER/PREFIX";
/// Which names of buckets are valid: those that every store takes.
const BUCKET: std::ops::RangeInclusive<usize> = 3..=63;

/// Where a repository is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A volume that is mounted.
    Directory(PathBuf),
    /// Objects of a store.
    Objects(ObjectAddress),
}

/// Where a repository is in a store of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectAddress {
    /// In which store.
    pub bucket: Bucket,
    /// What the names of its objects begin with, without a slash at either end; may be empty.
    pub prefix: String,
}

/// A bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bucket {
    /// Of S3, or of a store that speaks its protocol.
    S3 {
        /// Its name.
        bucket: String,
    },
    /// Of Google Cloud Storage.
    Gcs {
        /// Its name.
        bucket: String,
    },
    /// Of Azure Blob Storage.
    Azure {
        /// The account.
        account: String,
        /// The container.
        container: String,
    },
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return match text.is_empty() {
                true => Err(format!("it is empty; {FORMS}")),
                false => Ok(Self::Directory(PathBuf::from(text))),
            };
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (first, after) = rest.split_once('/').unwrap_or((rest, ""));
        let (bucket, prefix) = match scheme {
            "s3" => (Bucket::S3 { bucket: bucket(first)? }, after),
            "gs" => (Bucket::Gcs { bucket: bucket(first)? }, after),
            "azure" => {
                let (container, after) = after.split_once('/').unwrap_or((after, ""));
                (Bucket::Azure { account: account(first)?, container: bucket(container)? }, after)
            }
            other => return Err(format!("`{other}://` is not a kind of store; {FORMS}")),
        };
        Ok(Self::Objects(ObjectAddress { bucket, prefix: prefix_of(prefix)? }))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(path) => write!(f, "{}", path.display()),
            Self::Objects(objects) => objects.fmt(f),
        }
    }
}

impl fmt::Display for ObjectAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.bucket {
            Bucket::S3 { bucket } => write!(f, "s3://{bucket}")?,
            Bucket::Gcs { bucket } => write!(f, "gs://{bucket}")?,
            Bucket::Azure { account, container } => write!(f, "azure://{account}/{container}")?,
        }
        if self.prefix.is_empty() { Ok(()) } else { write!(f, "/{}", self.prefix) }
    }
}

fn bucket(text: &str) -> Result<String, String> {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-_".contains(c);
    let is_valid = BUCKET.contains(&text.len())
        && text.chars().all(is_part)
        && !text.starts_with(['.', '-'])
        && !text.contains("..");
    match is_valid {
        true => Ok(text.to_string()),
        false => Err(format!(
            "`{text}` is not the name of a bucket or container: write 3 to 63 of a-z, 0-9, `.` and `-`"
        )),
    }
}

/// It becomes part of the name of a host, so nothing else may be in it.
fn account(text: &str) -> Result<String, String> {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    match (3..=24).contains(&text.len()) && text.chars().all(is_part) {
        true => Ok(text.to_string()),
        false => Err(format!(
            "`{text}` is not the name of a storage account: write 3 to 24 of a-z and 0-9"
        )),
    }
}

/// A part that begins with a dot would be refused as the name of an object.
fn prefix_of(text: &str) -> Result<String, String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let is_valid =
        |part: &str| !part.is_empty() && !part.starts_with('.') && part.chars().all(is_part);
    match text.is_empty() || text.split('/').all(is_valid) {
        true => Ok(text.to_string()),
        false => Err(format!(
            "`{text}` is not a prefix: write parts of A-Z, a-z, 0-9, `.`, `_` and `-` with one slash between two, none beginning with a dot"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_place_is_read_and_shown_as_it_was_typed() {
        for text in [
            "/backups/demo",
            "demo",
            "s3://bucket",
            "s3://my.bucket-1/a/b_c",
            "gs://bucket/a",
            "azure://account1/container/a",
        ] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
        let slash: Address = "s3://bucket/a/".parse().unwrap();
        assert_eq!(slash.to_string(), "s3://bucket/a");
    }

    #[test]
    fn what_is_none_says_how_to_write_it() {
        for (text, says) in [
            ("", "write a directory"),
            ("http://host/x", "`http://` is not a kind of store"),
            ("s3://", "3 to 63"),
            ("s3://Bucket", "3 to 63"),
            ("s3://bucket//a", "one slash"),
            ("s3://bucket/../a", "beginning with a dot"),
            ("s3://bucket/a//", "one slash"),
            ("azure://account", "3 to 63"),
            ("azure://evil.host/container", "storage account"),
        ] {
            let error = text.parse::<Address>().unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
