//! Who depends on whom in a namespace: the layer of a Component, and the cycle
//! that it is in.

use crate::resources::COMPONENT;
use palladion_api::staged::DependencyKind;
use palladion_plan::Snapshot;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What each Component depends on: whether on a service of another kind, and on which Components.
#[derive(Clone, Debug, Default)]
pub struct Graph(BTreeMap<String, Needs>);

#[derive(Clone, Debug, Default)]
struct Needs {
    components: Vec<String>,
    others: usize,
}

impl Graph {
    /// Read the Components of a snapshot.
    pub fn read(snapshot: &Snapshot) -> Self {
        let all = snapshot.all(COMPONENT).unwrap_or_default().iter();
        Self(all.map(|o| (o.meta.name.clone(), Needs::read(o.at("/spec/dependsOn")))).collect())
    }

    /// Length of the longest chain that a Component stands on; `None` if a chain has no end.
    pub fn layer(&self, component: &str) -> Option<u32> {
        self.layer_above(component, &mut BTreeSet::new(), &mut BTreeMap::new())
    }

    /// The same of a service that nobody depends on, by its `dependsOn`.
    pub fn layer_upon(&self, depends_on: Option<&Value>) -> Option<u32> {
        let needs = Needs::read(depends_on);
        let mut layer = Some(u32::from(needs.others > 0));
        for name in &needs.components {
            layer = layer.zip(self.layer(name)).map(|(layer, below)| layer.max(below + 1));
        }
        layer
    }

    fn layer_above<'a>(
        &'a self,
        component: &'a str,
        above: &mut BTreeSet<&'a str>,
        known: &mut BTreeMap<&'a str, Option<u32>>,
    ) -> Option<u32> {
        if let Some(layer) = known.get(component) {
            return *layer;
        }
        let Some(needs) = self.0.get(component) else {
            return Some(0);
        };
        if !above.insert(component) {
            return None;
        }
        let mut layer = Some(u32::from(needs.others > 0));
        for name in &needs.components {
            let below = self.layer_above(name, above, known);
            layer = layer.zip(below).map(|(layer, below)| layer.max(below + 1));
        }
        above.remove(component);
        known.insert(component, layer);
        layer
    }

    /// The shortest cycle that a Component is in: its name first, then what each depends on.
    pub fn cycle(&self, component: &str) -> Option<Vec<String>> {
        let mut ways: Vec<Vec<&str>> = vec![vec![component]];
        let mut seen = BTreeSet::new();
        while !ways.is_empty() {
            let mut next = Vec::new();
            for way in ways {
                let last = way.last().copied().unwrap_or_default();
                for name in self.0.get(last).map(|n| n.components.as_slice()).unwrap_or_default() {
                    if name == component {
                        return Some(way.iter().map(ToString::to_string).collect());
                    }
                    if seen.insert(name.as_str()) {
                        next.push(way.iter().copied().chain([name.as_str()]).collect());
                    }
                }
            }
            ways = next;
        }
        None
    }
}

impl Needs {
    fn read(depends_on: Option<&Value>) -> Self {
        let mut needs = Self::default();
        for dependency in depends_on.and_then(Value::as_array).into_iter().flatten() {
            let name = dependency["name"].as_str().unwrap_or_default().to_string();
            match dependency["kind"] == DependencyKind::Component.as_str() {
                true => needs.components.push(name),
                false => needs.others += 1,
            }
        }
        needs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(all: &[(&str, &[&str], usize)]) -> Graph {
        let needs = |components: &[&str], others| Needs {
            components: components.iter().map(ToString::to_string).collect(),
            others,
        };
        Graph(all.iter().map(|(name, on, others)| (name.to_string(), needs(on, *others))).collect())
    }

    #[test]
    fn a_layer_is_the_longest_chain_that_one_stands_on() {
        let graph = graph(&[
            ("alone", &[], 0),
            ("config", &[], 3),
            ("control", &[], 3),
            ("kube", &["config"], 3),
            ("web", &["kube", "config"], 1),
            ("early", &["not-there"], 0),
        ]);
        let layers = ["alone", "config", "kube", "web", "early"].map(|name| graph.layer(name));
        assert_eq!(layers, [Some(0), Some(1), Some(2), Some(3), Some(1)]);
        assert_eq!(graph.cycle("web"), None);
    }

    #[test]
    fn a_cycle_is_named_by_those_in_it_and_has_no_layer() {
        let graph = graph(&[
            ("a", &["b"], 1),
            ("b", &["c"], 0),
            ("c", &["a", "d"], 0),
            ("d", &["d2"], 0),
            ("d2", &["d"], 0),
            ("on-top", &["a"], 0),
        ]);
        assert_eq!(graph.cycle("b"), Some(vec!["b".into(), "c".into(), "a".into()]));
        assert_eq!(graph.cycle("d"), Some(vec!["d".into(), "d2".into()]));
        assert_eq!(graph.cycle("on-top"), None, "it is in none");
        for name in ["a", "b", "c", "d", "on-top"] {
            assert_eq!(graph.layer(name), None, "{name}");
        }
    }

    #[test]
    fn a_deep_lattice_is_walked_once() {
        let names: Vec<[String; 2]> = (0..40).map(|n| [format!("a{n}"), format!("b{n}")]).collect();
        let mut all = Graph::default();
        for (n, pair) in names.iter().enumerate() {
            let below: Vec<String> =
                n.checked_sub(1).map(|n| names[n].to_vec()).unwrap_or_default();
            for name in pair {
                all.0.insert(name.clone(), Needs { components: below.clone(), others: 0 });
            }
        }
        assert_eq!(all.layer("a39"), Some(39));
    }
}
