//! How a history ended, without what may differ between two good ends: times,
//! nonces, resourceVersions.

use super::manifests::NAMESPACE;
use super::ring::Phase;
use super::world::{World, cluster_key};
use palladion_cassandra::resources as kinds;
use serde_json::Value;
use std::collections::BTreeMap;

/// An end.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// Each member: what it is, in words.
    pub members: BTreeMap<String, String>,
    /// Each condition: status and reason.
    pub conditions: BTreeMap<String, String>,
    /// Objects by kind and name, but for configurations of older revisions.
    pub objects: Vec<String>,
    /// Full members of the ring.
    pub full_members: usize,
    /// Turn, replication and racks in the status.
    pub status: BTreeMap<String, Value>,
    /// Stops and deletions.
    pub destructive: Vec<String>,
}

/// A difference from the undisturbed history that is as it should be. Without
/// one, objects and destructive steps are the same, each as often.
#[derive(Clone, Copy, Debug)]
pub struct Allowed {
    /// What may differ.
    pub what: Differs,
    /// Why it may.
    pub why: &'static str,
}

/// What may differ: whatever begins with these words, and has those after a `*`
/// anywhere behind.
#[derive(Clone, Copy, Debug)]
pub enum Differs {
    /// Such an object is there, or is not.
    Object(&'static str),
    /// Such a thing is destroyed, so much more often at most.
    More(&'static str, usize),
    /// Such a thing is not destroyed.
    Less(&'static str),
}

fn fits(words: &str, such: &str) -> bool {
    let (begin, behind) = such.split_once('*').unwrap_or((such, ""));
    words.strip_prefix(begin).is_some_and(|rest| rest.contains(behind))
}

/// What the first of two sorted lists has more.
fn surplus<'a>(of: &'a [String], than: &[String]) -> Vec<&'a str> {
    let mut rest = than.to_vec();
    let mut more = Vec::new();
    for one in of {
        match rest.iter().position(|other| other == one) {
            Some(at) => drop(rest.remove(at)),
            None => more.push(one.as_str()),
        }
    }
    more
}

/// A part of the status as it is now: of the conditions of racks those that are
/// True, without their times. Whether one was True once depends on the way.
fn now(part: &Value) -> Value {
    let mut part = part.clone();
    let parts = part.as_object_mut().into_iter().flatten();
    for rack in parts.filter_map(|(_, rack)| rack.as_object_mut()) {
        if let Some(conditions) = rack.remove("conditions") {
            let all = conditions.as_array().into_iter().flatten();
            let so = all.filter(|c| c["status"] == "True").map(|c| c["type"].clone());
            rack.insert("conditions".into(), so.collect());
        } else if rack.contains_key("readyMembers") {
            rack.insert("conditions".into(), Value::Array(Vec::new()));
        }
    }
    part
}

impl World {
    /// How it has ended.
    pub fn end(&self) -> End {
        let status =
            self.store.get(&cluster_key()).map(|c| c["status"].clone()).unwrap_or_default();
        let conditions = status["conditions"].as_array().into_iter().flatten().map(|c| {
            let text = |field: &str| c[field].as_str().unwrap_or_default().to_string();
            (text("type"), format!("{} {}", text("status"), text("reason")))
        });
        let mut objects: Vec<String> = self
            .store
            .all()
            .filter(|(key, _)| key.namespace == NAMESPACE)
            .map(|(key, _)| format!("{} {}", key.resource.kind, key.name))
            .collect();
        objects.sort();
        let mut destructive = self.destructive.clone();
        destructive.sort();
        let kept = ["turn", "systemReplication", "systemReplicationChange", "racks", "members"];
        End {
            members: self.members().into_iter().map(|m| (m.clone(), self.words_of(&m))).collect(),
            conditions: conditions.collect(),
            objects,
            full_members: self.ring.full_members(),
            status: kept.iter().map(|k| (k.to_string(), now(&status[*k]))).collect(),
            destructive,
        }
    }

    /// Names of all members that are recorded.
    pub fn members(&self) -> Vec<String> {
        self.store.list(kinds::MEMBER).map(|(key, _)| key.name.clone()).collect()
    }

    /// What a member is, in words that do not depend on the history.
    fn words_of(&self, name: &str) -> String {
        let Some(member) = self
            .store
            .list(kinds::MEMBER)
            .find(|(key, _)| key.name == name)
            .map(|(_, m)| m.clone())
        else {
            return "no record".into();
        };
        let claim = self
            .store
            .list(kinds::CLAIM)
            .find(|(key, _)| key.name == format!("data-{name}"))
            .map(|(_, c)| c.clone());
        let annotation = |key: &str| {
            claim.as_ref().map(|c| c["metadata"]["annotations"][key].clone()).unwrap_or_default()
        };
        let agrees = |recorded: &Value, seen: &Value, claimed: Value| {
            *recorded == *seen && *recorded == claimed && recorded.is_string()
        };
        let host = agrees(
            &member["spec"]["hostID"],
            &member["status"]["hostID"],
            annotation("palladion.dev/host-id"),
        );
        let volume = agrees(
            &member["spec"]["volumeID"],
            &member["status"]["volume"]["volumeID"],
            annotation("palladion.dev/volume-id"),
        );
        let server = self.ring.servers.values().find(|s| s.member == name);
        let phase = server.map_or("no server".to_string(), |s| format!("{:?}", s.phase));
        let permit = if member["spec"]["start"].is_null() { "no permit" } else { "a permit" };
        let same_seeds = member["spec"]["seeds"].as_array().map_or(0, Vec::len);
        let record = |is: bool| if is { "recorded" } else { "not recorded" };
        format!(
            "{phase}, host ID {}, volume {}, {permit}, {same_seeds} seeds",
            record(host),
            record(volume)
        )
    }

    /// IDs of the operations that this member has begun, on whatever volume.
    pub fn begun_by(&self, member: &str) -> Vec<String> {
        self.ring.begun.iter().filter(|(m, _)| m == member).map(|(_, id)| id.clone()).collect()
    }

    /// Is every wanted member a full one, with nothing left to do?
    pub fn expect_ring(&mut self, members: usize) {
        let normal = self.ring.servers.values().filter(|s| s.phase == Phase::Normal).count();
        assert_eq!(
            (normal, self.ring.full_members()),
            (members, members),
            "servers that are NORMAL, members of the ring\n{}",
            self.last_words()
        );
        let end = self.end();
        assert_eq!(end.status["turn"], Value::Null, "the turn has ended\n{}", self.last_words());
        let waits = self.store.get(&cluster_key()).map(|c| c["status"]["waits"].clone());
        assert_eq!(waits, Some(Value::Null), "nothing is waited for\n{}", self.last_words());
        assert_eq!(end.conditions["Progressing"], "False UpToDate", "{}", self.last_words());
        assert_eq!(end.conditions["Degraded"], "False UpToDate", "{}", self.last_words());
        let health = self.condition("Healthy");
        assert!(health.starts_with("True AllChecksPass"), "{health}\n{}", self.last_words());
        for (name, words) in &end.members {
            assert!(
                words.contains("host ID recorded, volume recorded, no permit"),
                "{name}: {words}\n{}",
                self.last_words()
            );
        }
        self.expect_rest();
    }

    /// A look at the world without need writes nothing.
    pub fn expect_rest(&mut self) {
        let before = self.faults.writes();
        for operator in &mut self.operators {
            operator.resync();
        }
        self.settle();
        assert_eq!(
            self.faults.writes(),
            before,
            "at rest nothing is written\n{}",
            self.last_words()
        );
    }
}

impl End {
    /// Is it the undisturbed end, but for what is allowed?
    pub fn is_like(&self, expected: &End, allowed: &[Allowed]) -> Result<(), String> {
        let mut lines = self.differences(expected, allowed);
        if lines.is_empty() {
            return Ok(());
        }
        let allowed = allowed.iter().map(|a| format!("allowed is {:?}: {}", a.what, a.why));
        lines.extend(allowed);
        Err(lines.join("\n"))
    }

    fn differences(&self, expected: &End, allowed: &[Allowed]) -> Vec<String> {
        let mut lines = Vec::new();
        let mut differ = |what: &str, is: String, should: String| {
            if is != should {
                lines.push(format!("{what}:\n  is        {is}\n  should be {should}"));
            }
        };
        let words = |map: &BTreeMap<String, String>| format!("{map:?}");
        differ("members", words(&self.members), words(&expected.members));
        differ("conditions", words(&self.conditions), words(&expected.conditions));
        differ("full members", self.full_members.to_string(), expected.full_members.to_string());
        differ("status", format!("{:?}", self.status), format!("{:?}", expected.status));
        for (what, found) in unexplained(self, expected, allowed) {
            differ(what, format!("{found:?}"), "[]".into());
        }
        lines
    }
}

/// Objects and destructive steps in which two ends differ, but for what is allowed.
fn unexplained<'a>(
    end: &'a End,
    expected: &'a End,
    allowed: &[Allowed],
) -> [(&'static str, Vec<&'a str>); 4] {
    let is_allowed = |fits: &dyn Fn(&Differs) -> bool| allowed.iter().any(|a| fits(&a.what));
    let object =
        |o: &&str| !is_allowed(&|what| matches!(what, Differs::Object(such) if fits(o, such)));
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let more = |thing: &&str| {
        // For whatever reason: what was destroyed, and by what step.
        let step = thing.split(" (").next().unwrap_or(thing);
        let so_often = seen.entry(step.to_string()).or_default();
        *so_often += 1;
        let is_so = |what: &Differs| {
            matches!(what, Differs::More(such, most)
                if fits(thing, such) && *so_often <= *most)
        };
        !is_allowed(&is_so)
    };
    let less = |t: &&str| !is_allowed(&|what| matches!(what, Differs::Less(such) if fits(t, such)));
    let left_over = surplus(&end.objects, &expected.objects).into_iter().filter(object);
    let missing = surplus(&expected.objects, &end.objects).into_iter().filter(object);
    let besides = surplus(&end.destructive, &expected.destructive).into_iter().filter(more);
    let not = surplus(&expected.destructive, &end.destructive).into_iter().filter(less);
    [
        ("objects, left over", left_over.collect()),
        ("objects, missing", missing.collect()),
        ("destroyed besides", besides.collect()),
        ("not destroyed", not.collect()),
    ]
}
