//! What a testbed is called, and every name on the host that follows from it.
//!
//! Two testbeds with different names share nothing but the cache, so a test run
//! never trips over one that a person left running.

use std::fmt;
use std::path::PathBuf;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use crate::cache::Cache;

/// Interface names are the tightest limit: 15 bytes with a suffix of ours.
const LONGEST_NAME: usize = 20;

/// Every namespace, cgroup and directory of ours begins with this.
const PREFIX: &str = "palladion";

/// The parsed name of a testbed: lower-case letters, digits and dashes, at most
/// 20 bytes, beginning with a letter.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ClusterName(String);

impl ClusterName {
    /// Parses a name; the error says what would be accepted.
    pub fn parse(text: &str) -> Result<Self> {
        let starts_well = text.starts_with(|c: char| c.is_ascii_lowercase());
        let is_plain =
            text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        if !starts_well || !is_plain || text.ends_with('-') || text.len() > LONGEST_NAME {
            bail!(
                "testbed name {text:?} is not usable: give lower-case letters, digits and dashes, \
                 beginning with a letter, at most {LONGEST_NAME} of them"
            );
        }
        Ok(Self(text.to_owned()))
    }

    /// The name as given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of one of its network namespaces; `part` is `cp` or a node.
    pub fn network_namespace(&self, part: &str) -> String {
        format!("{PREFIX}-{}-{part}", self.0)
    }

    /// What every network namespace of this testbed begins with. The trailing
    /// separator is not enough to tell `a` from `a-b`; compare the part too.
    pub fn network_namespace_prefix(&self) -> String {
        format!("{PREFIX}-{}-", self.0)
    }

    /// The directory below each cgroup hierarchy's root that holds everything.
    pub fn cgroup(&self) -> String {
        format!("{PREFIX}-{}", self.0)
    }

    /// Sockets, process records, keys and kubeconfigs; gone after `down`.
    pub fn run_dir(&self) -> PathBuf {
        run_root().join(&self.0)
    }

    /// etcd's and the nodes' data; gone after `down`.
    pub fn data_dir(&self, cache: &Cache) -> PathBuf {
        cache.root().join("clusters").join(&self.0)
    }

    /// The components' logs; kept after `down`, until the next `up`.
    pub fn log_dir(&self, cache: &Cache) -> PathBuf {
        cache.root().join("logs").join(&self.0)
    }
}

/// The directory that holds one directory per running testbed.
pub fn run_root() -> PathBuf {
    PathBuf::from("/run").join(PREFIX)
}

impl Default for ClusterName {
    fn default() -> Self {
        Self(PREFIX.to_owned())
    }
}

impl fmt::Display for ClusterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for ClusterName {
    type Error = anyhow::Error;

    fn try_from(text: String) -> Result<Self> {
        Self::parse(&text)
    }
}

impl From<ClusterName> for String {
    fn from(name: ClusterName) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_reach_outside_our_directories_are_refused() {
        for bad in ["", "..", "a/b", "A", "1a", "a_b", "a-", "a.b", "abcdefghijklmnopqrstu"] {
            assert!(ClusterName::parse(bad).is_err(), "{bad:?} should be refused");
        }
        assert!(ClusterName::parse("ci-2").is_ok());
    }

    #[test]
    fn two_names_share_no_directory_namespace_or_cgroup() {
        let (a, b) = (ClusterName::parse("ci").expect("should parse"), ClusterName::default());
        let cache = Cache::at("/tmp/cache");
        assert_ne!(a.run_dir(), b.run_dir());
        assert_ne!(a.data_dir(&cache), b.data_dir(&cache));
        assert_ne!(a.cgroup(), b.cgroup());
        assert_ne!(a.network_namespace("n1"), b.network_namespace("n1"));
    }
}
