//! The text of one pod, and the map that the texts of all pods are in: the same for
//! Components and groups of node agents.

use crate::build::map;
use crate::decide::draft::{Draft, apply, wait_for};
use crate::decide::rollout::inputs_of;
use crate::decide::settle::Timing;
use crate::facts::rejected::rejected;
use crate::gate::{self, Stand};
use crate::owner::Owner;
use crate::render::{LARGEST_MAP, Problem, Templates, Variables};
use crate::resources::CONFIG_MAP;
use crate::words::gates::Closed;
use crate::words::objects::{self, Waiting};
use palladion_api::component::names;
use palladion_api::gate::{file_of_key, hash_of_files, key_of_file};
use palladion_plan::Snapshot;
use palladion_plan::workload::pod::PodFact;
use std::collections::BTreeMap;

/// The text of one pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Its key in the map.
    pub key: String,
    /// Its files.
    pub files: BTreeMap<String, String>,
    /// Hash of its files.
    pub hash: String,
    /// May the pod have it now?
    pub time: Timing,
}

impl Text {
    /// These files, for now.
    pub fn new(key: String, files: BTreeMap<String, String>) -> Self {
        let hash = hash_of_files(files.iter().map(|(k, v)| (k.as_str(), v.as_str())));
        Self { key, files, hash, time: Timing::Now }
    }

    /// What the templates make of these variables for a pod. Where they cannot be
    /// rendered, that is reported, and there is none.
    pub fn rendered(
        templates: &Templates,
        variables: &Variables,
        (key, pod): (String, &str),
        draft: &mut Draft,
    ) -> Option<Self> {
        match templates.render(variables) {
            Ok(files) => Some(Self::new(key, files)),
            Err(Problem { file, line, fault }) => {
                let (pod, line) = (pod.to_string(), line.unwrap_or_default());
                draft.report(objects::Problem::Unrenderable { pod, file, line, fault });
                None
            }
        }
    }

    /// Is it in the map, whole, as that was read back?
    pub fn is_in(&self, stored: Option<&BTreeMap<String, String>>) -> bool {
        if self.files.is_empty() {
            return true;
        }
        let stored = stored.into_iter().flatten();
        let own: BTreeMap<&str, &str> = stored
            .filter_map(|(key, value)| Some((file_of_key(&self.key, key)?, value.as_str())))
            .collect();
        own == self.files.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect()
    }

    /// Its part of the map.
    pub fn data(&self) -> impl Iterator<Item = (String, String)> {
        self.files.iter().map(|(file, value)| (key_of_file(&self.key, file), value.clone()))
    }
}

/// Has the text of a pod that runs changed from outside, and not by the spec?
pub fn has_changed_outside(pod: &PodFact, inputs: &str, text: Option<&Text>) -> bool {
    gate::stand(pod) == Stand::Passed
        && inputs_of(pod) == Some(inputs)
        && text.is_some_and(|text| gate::runs_with(pod) != Some(text.hash.as_str()))
}

/// Did all texts come about?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Made {
    /// As far as is known.
    #[default]
    All,
    /// What a dependency says is not known, and so not whether they will.
    Unknown,
    /// No, and somebody has to see to it: pods that start again get what is in the map.
    NotAll,
}

/// The texts of all pods of a service.
#[derive(Debug, Default)]
pub struct Texts {
    /// By name of the pod, as far as they can be made.
    pub all: BTreeMap<String, Text>,
    /// Why they cannot be made yet.
    pub lacking: Option<Closed>,
    /// Did all of them come about?
    pub made: Made,
}

impl Texts {
    /// The text that a pod should have now, once it is there to be read by it.
    pub fn current(&self, pod: &str, stored: Option<&BTreeMap<String, String>>) -> Option<&Text> {
        self.due(pod).filter(|text| text.is_in(stored))
    }

    /// Does a restart for a newer template wait, because the text that goes with it is not there
    /// to be read (safety rule 8.8)?
    pub fn hold(&self, pod: &str, stored: Option<&BTreeMap<String, String>>) -> bool {
        self.are_stuck() || self.due(pod).is_some_and(|text| !text.is_in(stored))
    }

    fn due(&self, pod: &str) -> Option<&Text> {
        self.all.get(pod).filter(|text| text.time == Timing::Now)
    }

    /// Has somebody to see to it that all of them come about?
    pub fn are_stuck(&self) -> bool {
        self.made == Made::NotAll
    }

    /// Where one cannot be made, all pods keep what they have: a service of which some have a
    /// newer text was asked for by nobody. Who has none yet gets its own.
    pub fn keep_stored(&mut self, stored: Option<&BTreeMap<String, String>>) {
        let is_stored = |key: &str| {
            stored.is_some_and(|stored| stored.keys().any(|k| file_of_key(key, k).is_some()))
        };
        if self.are_stuck() {
            self.all.retain(|_, text| !is_stored(&text.key));
        }
    }
}

/// The bytes of texts, counted while they are made: texts that do not fit into one map are
/// not all to be held before that is seen.
#[derive(Debug, Default)]
pub struct Room(usize);

impl Room {
    /// Is there room for this text, too? That there is none is reported.
    pub fn takes(&mut self, text: &Text, draft: &mut Draft) -> bool {
        self.0 += text.files.iter().map(|(file, value)| file.len() + value.len()).sum::<usize>();
        let takes = self.0 <= LARGEST_MAP;
        if !takes {
            draft.report(objects::Problem::TooLarge { most: LARGEST_MAP });
        }
        takes
    }
}

/// Write the map, if it is not too large for one object. One that the API server rejects, or
/// that is somebody else's, is tried again each time.
pub fn write_map(
    snapshot: &Snapshot,
    owner: Owner<'_>,
    (data, stored): (&BTreeMap<String, String>, Option<&BTreeMap<String, String>>),
    draft: &mut Draft,
) -> Made {
    if map::size(data) > LARGEST_MAP {
        draft.report(objects::Problem::TooLarge { most: LARGEST_MAP });
        return Made::NotAll;
    }
    if stored.is_some_and(|stored| stored != data) {
        let map = names::config_map(owner.name);
        wait_for(draft, (CONFIG_MAP, &map), Waiting::Written { map: map.clone() });
    }
    apply(snapshot, CONFIG_MAP, map::config_map(owner, data), (None, None), draft);
    match rejected(snapshot).any(|object| object.resource == CONFIG_MAP) {
        true => Made::NotAll,
        false => Made::All,
    }
}
