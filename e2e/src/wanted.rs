//! The ring that a step wants: small and fast, of a version, with racks,
//! perhaps with rows written. Two steps that want the same share one ring.

use std::fmt;
use std::time::Duration;

/// The version that rings under test have.
pub const VERSION: &str = "5.0.5";
/// One of the line before it.
pub const OLDER_VERSION: &str = "4.1.9";

/// A ring as a step wants to find it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedRing {
    version: &'static str,
    racks: Vec<(&'static str, u32)>,
    lines: Vec<&'static str>,
    copies: Option<u32>,
    ring_delay: Duration,
}

/// How long servers wait until the others have heard of a move, for tests alone:
/// a ring comes up in a minute.
const SHORT_DELAY: Duration = Duration::from_secs(3);
/// The same where rows are written during moves. A coordinator that hears of a
/// joiner later than this leaves it out of its writes; with 3 s that was seen on
/// two busy cores. Cassandra's own default is 30 s.
const LONG_DELAY: Duration = Duration::from_secs(10);

/// A ring of [`VERSION`] without racks yet.
pub fn a_ring() -> WantedRing {
    WantedRing {
        version: VERSION,
        racks: Vec::new(),
        lines: Vec::new(),
        copies: None,
        ring_delay: SHORT_DELAY,
    }
}

impl WantedRing {
    /// Of this version instead of [`VERSION`].
    #[must_use]
    pub fn version(mut self, version: &'static str) -> Self {
        self.version = version;
        self
    }

    /// With these racks, each with its members.
    #[must_use]
    pub fn racks(mut self, racks: &[(&'static str, u32)]) -> Self {
        self.racks = racks.to_vec();
        self
    }

    /// With one more line of the spec, such as `nodeGoneGraceSeconds: 0`.
    #[must_use]
    pub fn line(mut self, line: &'static str) -> Self {
        self.lines.push(line);
        self
    }

    /// With rows in a keyspace of so many copies, for `Ring::check_data`.
    #[must_use]
    pub fn rows(mut self, copies: u32) -> Self {
        self.copies = Some(copies);
        self
    }

    /// Whose members come and go while rows are written.
    #[must_use]
    pub fn moves_under_load(mut self) -> Self {
        self.ring_delay = LONG_DELAY;
        self
    }

    /// How many copies of the rows there are to be, if any.
    pub fn copies(&self) -> Option<u32> {
        self.copies
    }

    /// How many members it has.
    pub fn members(&self) -> u32 {
        self.racks.iter().map(|(_, members)| members).sum()
    }

    /// Is a ring like this one good for a step that wants another? Rows that
    /// nobody asked for do no harm.
    pub fn serves(&self, wanted: &Self) -> bool {
        let rows = wanted.copies.is_none() || wanted.copies == self.copies;
        rows && self.version == wanted.version
            && self.racks == wanted.racks
            && self.lines == wanted.lines
            && self.ring_delay >= wanted.ring_delay
    }

    /// The manifest of a cluster of this name.
    pub fn manifest(&self, name: &str) -> String {
        let racks: String = self
            .racks
            .iter()
            .map(|(rack, members)| {
                format!(
                    "    - name: {rack}\n      members: {members}\n      resources:\n        requests: {{cpu: 100m, memory: 1Gi}}\n        limits: {{memory: 1Gi}}\n"
                )
            })
            .collect();
        let lines: String = self.lines.iter().map(|line| format!("  {line}\n")).collect();
        let (version, ring_delay) = (self.version, self.ring_delay.as_millis());
        format!(
            "apiVersion: palladion.dev/v1alpha1
kind: CassandraCluster
metadata:
  name: {name}
spec:
{lines}  repository: palladion.dev/cassandra
  version: {version}
  heapSize: 400Mi
  numTokens: 4
  terminationGracePeriodSeconds: 60
  jvmOptions:
    - -XX:+UseSerialGC
    - -XX:TieredStopAtLevel=1
    - -Dcassandra.ring_delay_ms={ring_delay}
    - -Dcassandra.skip_wait_for_gossip_to_settle=0
    - -Dcassandra.superuser_setup_delay_ms=0
  datacenter:
    name: dc1
    racks:
{racks}"
        )
    }
}

impl fmt::Display for WantedRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cassandra {}", self.version)?;
        for (rack, members) in &self.racks {
            write!(f, ", rack {rack} of {members}")?;
        }
        for line in &self.lines {
            write!(f, ", {line}")?;
        }
        if self.ring_delay != SHORT_DELAY {
            write!(f, ", a ring delay of {} s", self.ring_delay.as_secs())?;
        }
        match self.copies {
            Some(1) => f.write_str(", rows in 1 copy"),
            Some(copies) => write!(f, ", rows in {copies} copies"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_serves_whoever_wants_no_more_than_it_has() {
        let plain = a_ring().racks(&[("a", 2), ("b", 1)]);
        let with_rows = plain.clone().rows(2);
        assert!(with_rows.serves(&plain));
        assert!(!plain.serves(&with_rows));
        assert!(!with_rows.serves(&plain.clone().rows(3)));
        assert!(!with_rows.serves(&plain.clone().version(OLDER_VERSION)));
        assert!(!with_rows.serves(&plain.clone().moves_under_load()));
        assert!(with_rows.clone().moves_under_load().serves(&plain));
        assert!(!with_rows.serves(&plain.line("nodeGoneGraceSeconds: 0")));
    }

    #[test]
    fn the_manifest_is_a_cluster_of_the_wanted_kind() {
        let wanted = a_ring().racks(&[("a", 2), ("b", 1)]).line("nodeGoneGraceSeconds: 0");
        let manifest: serde_json::Value =
            serde_yaml::from_str(&wanted.manifest("roll")).expect("should be YAML");
        assert_eq!(manifest["metadata"]["name"], "roll");
        assert_eq!(manifest["spec"]["version"], VERSION);
        assert_eq!(manifest["spec"]["nodeGoneGraceSeconds"], 0);
        assert_eq!(manifest["spec"]["datacenter"]["racks"][1]["name"], "b");
        assert_eq!(wanted.members(), 3);
    }
}
