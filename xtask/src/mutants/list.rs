//! The mutants: what each breaks, where, and the tests that must see it.

use std::fmt::{self, Display, Formatter};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// Files with mutants, below the root of the checkout.
const FILES: &str = "xtask/mutants";

/// One change that breaks a safety rule.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    /// What it is called, in words with dashes.
    pub name: String,
    /// The safety rule that it breaks, by number.
    pub rule: String,
    /// What it breaks, for people.
    pub breaks: String,
    /// The file that it changes, below the root of the checkout.
    pub file: String,
    /// Text that occurs once in the file.
    pub find: String,
    /// What stands there instead.
    pub put: String,
    /// Where its tests are.
    pub suite: Suite,
    /// Parts of the names of tests, of which one must fail.
    pub tests: Vec<String>,
}

/// Tests that are built together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Suite {
    /// Unit tests of the plan's grammar and its linter.
    Plan,
    /// Unit tests of what every agent has.
    Core,
    /// Unit tests of the agent of a ring's member.
    Agent,
    /// Unit tests of the agent of a server of ZooKeeper.
    Zookeeper,
    /// Unit tests of the agent of a node of RabbitMQ.
    Rabbitmq,
    /// That agent in a pod without Kubernetes and Erlang.
    RabbitmqPod,
    /// Unit tests of the agent in pods of staged services.
    Gate,
    /// Unit tests of the minds of staged services.
    Staged,
    /// Stories of Components, groups of node agents, Registrations and Stacks.
    Components,
    /// Stories of an ensemble of ZooKeeper.
    Ensemble,
    /// Stories of a cluster of RabbitMQ.
    Cluster,
    /// The agent in a pod without Kubernetes.
    Pod,
    /// Unit tests of the mind of `CassandraCluster`.
    Mind,
    /// Stories of the simulator.
    Stories,
}

impl Suite {
    /// The package that the tests belong to.
    pub fn package(self) -> &'static str {
        match self {
            Suite::Plan => "palladion-plan",
            Suite::Core => "palladion-agent-core",
            Suite::Agent | Suite::Pod => "palladion-agent",
            Suite::Zookeeper => "palladion-agent-zookeeper",
            Suite::Rabbitmq | Suite::RabbitmqPod => "palladion-agent-rabbitmq",
            Suite::Gate => "palladion-agent-gate",
            Suite::Staged | Suite::Components => "palladion-stack",
            Suite::Ensemble => "palladion-zookeeper",
            Suite::Cluster => "palladion-rabbitmq",
            Suite::Mind | Suite::Stories => "palladion-cassandra",
        }
    }

    /// Where the package is, below the root of the checkout.
    pub fn directory(self) -> &'static str {
        match self {
            Suite::Plan => "crates/plan",
            Suite::Core => "crates/agent-core",
            Suite::Agent | Suite::Pod => "crates/agent",
            Suite::Zookeeper => "crates/agent-zookeeper",
            Suite::Rabbitmq | Suite::RabbitmqPod => "crates/agent-rabbitmq",
            Suite::Gate => "crates/agent-gate",
            Suite::Staged | Suite::Components => "crates/stack",
            Suite::Ensemble => "crates/zookeeper",
            Suite::Cluster => "crates/rabbitmq",
            Suite::Mind | Suite::Stories => "crates/cassandra",
        }
    }

    /// Which tests of the package, in cargo's words.
    pub fn target(self) -> &'static [&'static str] {
        match self {
            Suite::Plan
            | Suite::Core
            | Suite::Agent
            | Suite::Zookeeper
            | Suite::Rabbitmq
            | Suite::Gate
            | Suite::Staged
            | Suite::Mind => &["--lib"],
            Suite::Components => &["--test", "component"],
            Suite::Ensemble => &["--test", "ensemble"],
            Suite::Cluster => &["--test", "cluster"],
            Suite::Pod | Suite::RabbitmqPod => &["--test", "pod"],
            Suite::Stories => &["--test", "scenarios"],
        }
    }
}

impl Mutant {
    /// The text of its file with the change.
    pub fn applied(&self, text: &str) -> Result<String> {
        match text.matches(&self.find).count() {
            1 => Ok(text.replacen(&self.find, &self.put, 1)),
            found => bail!(
                "mutant {} no longer fits: its text occurs {found} times in {} and must occur once; adapt it in {FILES}/",
                self.name,
                self.file
            ),
        }
    }
}

impl Display for Mutant {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { name, rule, breaks, tests, .. } = self;
        write!(f, "{name} (safety rule {rule}): {breaks}\n    {}", tests.join(", "))
    }
}

/// All mutants, in the order of their files' names.
pub fn read(root: &Path) -> Result<Vec<Mutant>> {
    let folder = root.join(FILES);
    let entries = std::fs::read_dir(&folder).with_context(|| format!("listing {FILES}"))?;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.with_context(|| format!("listing {FILES}"))?.path());
    }
    paths.sort();
    let mut mutants = Vec::new();
    for path in paths {
        let what = || format!("reading mutants from {}", path.display());
        let text = std::fs::read_to_string(&path).with_context(what)?;
        let found: Vec<Mutant> = serde_yaml::from_str(&text).with_context(what)?;
        mutants.extend(found);
    }
    Ok(mutants)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::root;
    use std::collections::BTreeSet;

    /// Fewer than these do not try the rules.
    const LEAST: usize = 25;

    fn all() -> Vec<Mutant> {
        read(root()).expect("the mutants should be readable")
    }

    fn text(path: &str) -> String {
        std::fs::read_to_string(root().join(path)).unwrap_or_default()
    }

    /// All Rust sources of a package in one.
    fn sources(folder: &Path) -> String {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let read = |path: std::path::PathBuf| match path.is_dir() {
            true => sources(&path),
            false => std::fs::read_to_string(path).unwrap_or_default(),
        };
        entries.map(|entry| read(entry.path())).collect()
    }

    #[test]
    fn every_mutant_fits_the_sources() {
        for mutant in all() {
            let text = text(&mutant.file);
            let changed = mutant.applied(&text).unwrap_or_else(|why| panic!("{why}"));
            assert_ne!(changed, text, "{} changes nothing", mutant.name);
        }
    }

    #[test]
    fn every_mutant_breaks_a_rule_that_exists() {
        let rules = text("docs/concepts/safety.md");
        for mutant in all() {
            let head = format!("\n**{}", mutant.rule);
            let is_there = rules.split(&head).skip(1).any(|rest| rest.starts_with(['*', ' ']));
            assert!(
                is_there,
                "{} breaks safety rule {}, which there is not",
                mutant.name, mutant.rule
            );
        }
    }

    #[test]
    fn every_test_of_a_mutant_exists() {
        for mutant in all() {
            assert!(!mutant.tests.is_empty(), "{} has no tests", mutant.name);
            let sources = sources(&root().join(mutant.suite.directory()));
            for test in &mutant.tests {
                let name = test.trim_end_matches(':').rsplit("::").next().unwrap_or_default();
                // Programs without the harness of Rust have a list of their cases.
                let case = format!("(\"{name}");
                let heads = [format!("fn {name}"), format!("mod {name}"), case];
                let exists = heads.iter().any(|head| sources.contains(head));
                assert!(exists, "{} has the test {test}, which there is not", mutant.name);
            }
        }
    }

    #[test]
    fn there_are_enough_mutants_and_no_two_of_a_name() {
        let all = all();
        let names: BTreeSet<&str> = all.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.len() >= LEAST, "only {}", all.len());
    }

    #[test]
    fn a_text_that_occurs_twice_or_not_at_all_is_refused() {
        let mut mutant = all().remove(0);
        mutant.find = "a".into();
        mutant.put = "b".into();
        assert_eq!(mutant.applied("cat").expect("once"), "cbt");
        assert!(mutant.applied("banana").is_err());
        assert!(mutant.applied("dog").is_err());
    }
}
