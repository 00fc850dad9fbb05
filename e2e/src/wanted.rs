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
    datacenter: &'static str,
    racks: Vec<(&'static str, u32)>,
    by_zones: bool,
    lines: Vec<&'static str>,
    copies: Option<u32>,
    delays: Delays,
    security: Security,
}

/// Authentication and TLS, where no line says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Security {
    /// Neither.
    Off,
    /// What a ring has of which nothing is said.
    ByDefault,
}

/// The lines that turn both off.
const OFF: [&str; 2] =
    [r#"auth: {mode: "Off"}"#, r#"tls: {client: {mode: "Off"}, internode: {mode: "Off"}}"#];

/// How long servers wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Delays {
    /// Until the others have heard of a move: so long. For gossip to settle, and before
    /// the default superuser is made: not at all.
    Shortened(Duration),
    /// As long as Cassandra does by itself.
    Cassandras,
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
        datacenter: "dc1",
        racks: Vec::new(),
        by_zones: false,
        lines: Vec::new(),
        copies: None,
        delays: Delays::Shortened(SHORT_DELAY),
        security: Security::Off,
    }
}

impl WantedRing {
    /// Of this version instead of [`VERSION`].
    #[must_use]
    pub fn version(mut self, version: &'static str) -> Self {
        self.version = version;
        self
    }

    /// With this name of its datacenter instead of `dc1`.
    #[must_use]
    pub fn datacenter(mut self, name: &'static str) -> Self {
        self.datacenter = name;
        self
    }

    /// With these racks, each with its members.
    #[must_use]
    pub fn racks(mut self, racks: &[(&'static str, u32)]) -> Self {
        self.racks = racks.to_vec();
        self
    }

    /// With a rack for each of these zones, which the spec names instead of racks.
    #[must_use]
    pub fn zones(mut self, zones: &[&'static str]) -> Self {
        self.racks = zones.iter().map(|zone| (*zone, 1)).collect();
        self.by_zones = true;
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

    /// With the authentication and TLS that a ring has of which nothing is said.
    #[must_use]
    pub fn secure_by_default(mut self) -> Self {
        self.security = Security::ByDefault;
        self
    }

    /// Whose members come and go while rows are written.
    #[must_use]
    pub fn moves_under_load(mut self) -> Self {
        self.delays = Delays::Shortened(LONG_DELAY);
        self
    }

    /// With Cassandra's own delays, none of them shortened: a ring delay of 30 s among
    /// them.
    #[must_use]
    pub fn with_default_delays(mut self) -> Self {
        self.delays = Delays::Cassandras;
        self
    }

    /// The options that shorten delays. A server looks at the clock each 2 ms by default, which is
    /// two fifths of what it takes of a processor while nothing happens: here each 20 ms.
    fn delay_options(&self) -> String {
        match self.delays {
            Delays::Cassandras => String::new(),
            Delays::Shortened(ring_delay) => format!(
                "    - -Dcassandra.ring_delay_ms={}
    - -Dcassandra.skip_wait_for_gossip_to_settle=0
    - -Dcassandra.superuser_setup_delay_ms=0
    - -Dcassandra.approximate_time_precision_ms=20
",
                ring_delay.as_millis()
            ),
        }
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
            && self.datacenter == wanted.datacenter
            && self.racks == wanted.racks
            && self.by_zones == wanted.by_zones
            && self.lines == wanted.lines
            && self.security == wanted.security
            && self.delays >= wanted.delays
    }

    /// The manifest of a cluster of this name.
    pub fn manifest(&self, name: &str) -> String {
        let racks = self.racks_of_the_spec();
        let all = self.lines.iter().copied().chain(self.in_the_clear());
        let lines: String = all.map(|line| format!("  {line}\n")).collect();
        let (version, delays) = (self.version, self.delay_options());
        let datacenter = self.datacenter;
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
{delays}  datacenter:
    name: {datacenter}
{racks}"
        )
    }

    /// Where no line says otherwise nobody is asked who is there, and all is in the clear: what a
    /// ring has by default is tried by the stories of `secure`, the others are faster without.
    fn in_the_clear(&self) -> Vec<&'static str> {
        let lines = match self.security {
            Security::Off => OFF.as_slice(),
            Security::ByDefault => &[],
        };
        let said = |line: &str| {
            self.lines.iter().any(|own| own.split(':').next() == line.split(':').next())
        };
        lines.iter().copied().filter(|line| !said(line)).collect()
    }

    /// The lines of the datacenter that say what racks it has.
    fn racks_of_the_spec(&self) -> String {
        let of_each = |indent: &str, members: u32| {
            let lines = [
                format!("members: {members}"),
                "resources:".to_string(),
                "  requests: {cpu: 100m, memory: 1Gi}".to_string(),
                "  limits: {memory: 1Gi}".to_string(),
            ];
            lines.map(|line| format!("{indent}{line}\n")).concat()
        };
        if self.by_zones {
            let zones: Vec<&str> = self.racks.iter().map(|(zone, _)| *zone).collect();
            let template = of_each("      ", 1);
            return format!("    zones: [{}]\n    rackTemplate:\n{template}", zones.join(", "));
        }
        let racks = self
            .racks
            .iter()
            .map(|(rack, members)| format!("    - name: {rack}\n{}", of_each("      ", *members)));
        format!("    racks:\n{}", racks.collect::<String>())
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
        match self.security {
            Security::Off => {}
            Security::ByDefault => f.write_str(", secure by default")?,
        }
        match self.delays {
            Delays::Shortened(SHORT_DELAY) => {}
            Delays::Shortened(delay) => write!(f, ", a ring delay of {} s", delay.as_secs())?,
            Delays::Cassandras => f.write_str(", Cassandra's own delays")?,
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
        assert!(!plain.serves(&with_rows.clone().with_default_delays()));
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
        assert_eq!(manifest["spec"]["tls"]["client"]["mode"], "Off");
        let asking = wanted.clone().line("auth: {mode: Password}").manifest("asking");
        assert_eq!(asking.matches("auth:").count(), 1, "{asking}");
        let default = wanted.clone().secure_by_default().manifest("default");
        assert!(!default.contains("auth:") && !default.contains("tls:"), "{default}");
        assert!(wanted.manifest("roll").contains("-Dcassandra.ring_delay_ms=3000"));
    }

    #[test]
    fn with_its_own_delays_none_is_shortened() {
        let manifest = a_ring().racks(&[("a", 2)]).with_default_delays().manifest("slow");
        assert!(!manifest.contains("-Dcassandra."), "{manifest}");
        let spec: serde_json::Value = serde_yaml::from_str(&manifest).expect("should be YAML");
        assert_eq!(spec["spec"]["jvmOptions"].as_array().map(Vec::len), Some(2));
        assert_eq!(spec["spec"]["datacenter"]["racks"][0]["members"], 2);
    }
}
