//! The volumes of a cluster's members: kept when the object goes, and given up by a user who
//! names one.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use palladion_api::labels::REPLACE;
use palladion_api::reasons::Reason;
use serde_json::Value;

use super::Service;
use crate::bed::{bed, condition, text};

/// What the operator would do it does in this time.
const WATCHED: Duration = Duration::from_secs(10);

impl Service {
    /// Uids of the claims by name.
    pub fn claims(&self) -> BTreeMap<String, String> {
        let claims = bed().list(self.name, "persistentvolumeclaims").expect("list claims");
        let both = |c: &Value| {
            (text(c, "/metadata/name").to_string(), text(c, "/metadata/uid").to_string())
        };
        claims.iter().map(both).collect()
    }

    /// The name of the claim of a member.
    pub fn claim_name(&self, ordinal: u32) -> String {
        format!("data-{}", self.member_name(ordinal))
    }

    /// The volumes that so many members have on record.
    pub fn volumes(&self, members: u32) -> Vec<String> {
        let volume = |n| text(&self.member(n), "/spec/volumeID").to_string();
        let all: Vec<String> = (0..members).map(volume).collect();
        assert!(all.iter().all(|volume| !volume.is_empty()), "{all:?}");
        all
    }

    /// Delete the object, and create it again by the same name as soon as it is gone.
    pub fn recreate(&self, manifest: &str) {
        let before = self.owner().expect("the object")["metadata"]["uid"].take();
        let (kind, name) = (self.kind, self.name);
        bed()
            .kubectl(&format!("delete {kind} {name} -n {name} --wait=true --timeout=120s"))
            .expect("deleted");
        self.apply(manifest);
        assert_ne!(self.owner().expect("the object")["metadata"]["uid"], before, "a new object");
    }

    /// Name the volume of a member as one that never comes back.
    pub fn give_up(&self, ordinal: u32, volume: &str) {
        self.annotate_member(ordinal, &format!("{REPLACE}={volume}"));
    }

    fn annotate_member(&self, ordinal: u32, annotation: &str) {
        let (member, name) = (self.member_name(ordinal), self.name);
        let words = format!("annotate servicemember {member} -n {name} --overwrite {annotation}");
        bed().kubectl(&words).expect("annotate");
    }

    /// The volume of a member is named while it serves: that is refused. Then its machine goes,
    /// the volume is named again, and another takes its place, elsewhere and with a claim of its
    /// own. How long that took until `is_whole` had come back.
    pub fn is_given_up(&self, ordinal: u32, is_whole: impl Fn()) -> Duration {
        let volume = text(&self.member(ordinal), "/spec/volumeID").to_string();
        let (claims, node) = (self.claims(), self.node_of(ordinal));
        self.give_up(ordinal, &volume);
        let refused = self.wait("the volume of a member that serves to be kept", |o| {
            condition(o, "Degraded")["reason"] == Reason::ReplaceRefused.as_str()
        });
        let said = condition(&refused, "Degraded")["message"].to_string();
        assert!(said.contains(&format!("serves on volume {volume}")), "{said}");
        self.is_kept(ordinal, "it serves");
        self.annotate_member(ordinal, &format!("{REPLACE}-"));
        self.wait("nothing to be refused", |o| condition(o, "Degraded")["status"] == "False");
        let away = self.keep_away(&[ordinal]);
        self.is_kept(ordinal, "nobody has named it yet");
        assert_eq!(self.claims(), claims, "no claim was deleted");
        let begin = Instant::now();
        self.give_up(ordinal, &volume);
        self.wait("another volume", |_| {
            let now = &self.member(ordinal)["spec"]["volumeID"];
            now.is_string() && *now != volume.as_str()
        });
        is_whole();
        let took = begin.elapsed();
        assert_ne!(self.node_of(ordinal), node, "its machine is still away");
        drop(away);
        let after = self.member(ordinal);
        assert!(after["spec"]["replace"].is_null(), "nothing is left of it: {after:#}");
        assert!(after["metadata"]["annotations"][REPLACE].is_null(), "{after:#}");
        let (own, now) = (self.claim_name(ordinal), self.claims());
        for (name, uid) in &claims {
            let is_kept = now.get(name) == Some(uid);
            assert_eq!(is_kept, *name != own, "{name}: the claim of {own} goes, and only that");
        }
        took
    }

    /// Its volume does not count as lost for some seconds.
    fn is_kept(&self, ordinal: u32, why: &str) {
        thread::sleep(WATCHED);
        let member = self.member(ordinal);
        assert!(member["spec"]["replace"].is_null(), "{why}: {member:#}");
    }
}
