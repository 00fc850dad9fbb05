//! The one builder of clusters for tests: what a person wrote, what there is
//! around it, and what validation makes of the two.

use crate::generations::{Generations, OF_THIS_RELEASE};
use crate::validate::{ConfigMapFact, Input, IsDefault, Valid, ValidRack, validate};
use crate::words::refusal::Refusal;
use palladion_api::CassandraClusterSpec;
use palladion_api::cluster::{Datacenter, InternodeTlsMode, Rack};
use palladion_plan::{Meta, Object};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A cluster `demo` with datacenter `dc1` and no racks yet.
pub(crate) fn a_cluster() -> ClusterFixture {
    ClusterFixture {
        owner: Object {
            meta: Meta {
                name: "demo".into(),
                namespace: "databases".into(),
                uid: "11111111-2222-3333-4444-555555555555".into(),
                generation: 1,
                ..Meta::default()
            },
            body: Value::Null,
        },
        spec: CassandraClusterSpec {
            version: "5.0.5".into(),
            datacenter: Datacenter { name: "dc1".into(), ..Datacenter::default() },
            num_tokens: 16,
            seeds_per_rack: 2,
            termination_grace_period_seconds: 900,
            ..CassandraClusterSpec::default()
        },
        settings: BTreeMap::from([(
            "agentImage".into(),
            "palladion.dev/palladion-agent:0.1.0".into(),
        )]),
        config_maps: BTreeMap::new(),
        storage_classes: vec![("local".into(), IsDefault::Yes)],
        sets: BTreeSet::new(),
        generations: OF_THIS_RELEASE,
    }
}

/// A cluster in the making.
#[derive(Clone)]
pub(crate) struct ClusterFixture {
    owner: Object,
    spec: CassandraClusterSpec,
    settings: BTreeMap<String, String>,
    config_maps: BTreeMap<String, ConfigMapFact>,
    storage_classes: Vec<(String, IsDefault)>,
    sets: BTreeSet<String>,
    generations: Generations,
}

impl ClusterFixture {
    /// One more rack, with defaults.
    pub(crate) fn rack(mut self, name: &str, members: i32) -> Self {
        self.spec.datacenter.racks.push(Rack {
            name: palladion_api::ids::RackName::new(name),
            members,
            ..Rack::default()
        });
        self
    }

    /// Change the spec.
    pub(crate) fn spec(mut self, change: impl FnOnce(&mut CassandraClusterSpec)) -> Self {
        change(&mut self.spec);
        self
    }

    /// Change the first rack.
    pub(crate) fn first_rack(self, change: impl FnOnce(&mut Rack)) -> Self {
        self.spec(|spec| change(&mut spec.datacenter.racks[0]))
    }

    /// Merge a piece of manifest into the first rack.
    pub(crate) fn first_rack_with(self, manifest: &Value) -> Self {
        self.first_rack(|rack| {
            let mut whole = serde_json::to_value(&*rack).unwrap();
            let all = whole.as_object_mut().unwrap();
            all.extend(manifest.as_object().unwrap().clone());
            *rack = serde_json::from_value(whole).unwrap();
        })
    }

    /// Change the metadata of the cluster object.
    pub(crate) fn meta(mut self, change: impl FnOnce(&mut Meta)) -> Self {
        change(&mut self.owner.meta);
        self
    }

    /// A ConfigMap with this data is there.
    pub(crate) fn config_map(mut self, name: &str, data: Value) -> Self {
        let map = Object {
            meta: Meta { name: name.into(), ..Meta::default() },
            body: json!({ "data": data }),
        };
        let fact = ConfigMapFact::Present(Arc::new(map));
        self.config_maps.insert(name.into(), fact);
        self
    }

    /// A ConfigMap cannot be read.
    pub(crate) fn unreadable_config_map(mut self, name: &str, why: &str) -> Self {
        let fact = ConfigMapFact::Unknown(why.into());
        self.config_maps.insert(name.into(), fact);
        self
    }

    /// These storage classes are there and no other.
    pub(crate) fn storage_classes(mut self, classes: &[(&str, IsDefault)]) -> Self {
        self.storage_classes = classes.iter().map(|(n, d)| (n.to_string(), *d)).collect();
        self
    }

    /// The StatefulSet of this name is there.
    pub(crate) fn set_exists(mut self, name: &str) -> Self {
        self.sets.insert(name.into());
        self
    }

    /// The operator was started with this image of the agent.
    pub(crate) fn with_agent_image(mut self, image: &str) -> Self {
        self.settings.insert("agentImage".into(), image.into());
        self
    }

    /// The release of the operator knows these template generations.
    pub(crate) fn with_generations(mut self, generations: Generations) -> Self {
        self.generations = generations;
        self
    }

    /// The operator was started without an image of the agent.
    pub(crate) fn without_agent_image(mut self) -> Self {
        self.settings.clear();
        self
    }

    /// What validation says.
    pub(crate) fn validate(&self) -> Result<Valid, Refusal> {
        let missing = ConfigMapFact::Missing;
        // As facts have it.
        let mut spec = self.spec.clone();
        spec.datacenter = spec.datacenter.expanded();
        validate(&Input {
            owner: &self.owner,
            spec: &spec,
            settings: &self.settings,
            operator_config: None,
            config_map: &|name| self.config_maps.get(name).unwrap_or(&missing).clone(),
            storage_classes: self.storage_classes.clone(),
            sets: self.sets.clone(),
            dropped: Vec::new(),
            highest_release_line: None,
            generations: self.generations,
            internode_reach: (InternodeTlsMode::Off, InternodeTlsMode::Require),
            internode_tls: spec
                .tls
                .as_ref()
                .and_then(|t| t.internode.as_ref())
                .map_or_else(Default::default, |t| t.mode),
        })
    }

    /// The validated cluster.
    pub(crate) fn valid(&self) -> Valid {
        self.validate().unwrap()
    }

    /// The validated cluster and its first rack.
    pub(crate) fn valid_rack(&self) -> (Valid, ValidRack) {
        let valid = self.valid();
        let rack = valid.racks[0].clone();
        (valid, rack)
    }
}
