//! What must hold after every single step, whatever went wrong before.

use super::ring::{Phase, Ring, Server};
use super::work::Call;
use super::world::{World, cluster_key};
use jiff::{SignedDuration, Timestamp};
use palladion_api::cluster::InternodeTlsMode;
use palladion_api::ids::HostId;
use palladion_api::labels;
use palladion_api::member::MemberState;
use palladion_api::waits::MOST;
use palladion_cassandra::resources as kinds;
use palladion_plan::ObjectKey;
use palladion_plan::sim::store::text;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

impl World {
    /// The first invariant that does not hold.
    pub fn check(&self) -> Result<(), String> {
        if self.ring.founders.len() > self.initializations_allowed {
            return Err(format!(
                "a second ring of the same name was founded: by {:?}",
                self.ring.founders
            ));
        }
        if let Some(breach) = self.ring.breaches.first() {
            return Err(breach.clone());
        }
        let joining: Vec<&String> = self
            .ring
            .servers
            .values()
            .filter(|s| matches!(s.phase, Phase::Joining { .. } | Phase::Initializing))
            .map(|s| &s.member)
            .collect();
        if joining.len() > 1 {
            return Err(format!("more than one member joins: {joining:?}"));
        }
        if let Some(violation) = self.operators.iter().find_map(|o| o.violations.first()) {
            return Err(format!("the linter refused a plan: {violation}"));
        }
        if self.operators.iter().any(|o| o.past_wakes > 10) {
            return Err("the mind wants to be woken in the past again and again".into());
        }
        self.waits_are_bounded()?;
        self.tasks_end_by_one_condition()?;
        self.no_turn_beside_a_job()?;
        self.no_configuration_in_use_is_gone()?;
        self.servers_can_speak_to_each_other()?;
        self.nobody_is_served_without_roles()?;
        self.complete_backups_are_whole()?;
        self.complete_restores_are_whole()?;
        self.complete_rings_have_their_roles()?;
        self.no_client_is_let_in_before_all_is_there()?;
        self.what_must_stay_stays()?;
        self.no_claim_of_a_member_is_gone()?;
        match self.ring.broken_promise(&self.kube.disks) {
            Some(words) => Err(words),
            None => Ok(()),
        }
    }

    /// No two servers are more than one step apart on the way to TLS between them, and each takes
    /// what the others show.
    fn servers_can_speak_to_each_other(&self) -> Result<(), String> {
        let step = |server: &Server| {
            InternodeTlsMode::STEPS.iter().position(|mode| *mode == server.internode)
        };
        let servers: Vec<&Server> = self.ring.servers.values().collect();
        for one in &servers {
            for other in &servers {
                let (Some(a), Some(b)) = (step(one), step(other)) else { continue };
                if a.abs_diff(b) > 1 {
                    return Err(format!(
                        "{} at {:?} and {} at {:?} cannot speak to each other",
                        one.member, one.internode, other.member, other.internode
                    ));
                }
                // In the clear nobody shows anything.
                let is_tls = a.max(b) > 1;
                let is_taken = |by: &String| other.shown.takes.contains(by);
                if is_tls && !one.shown.shows.as_ref().is_some_and(is_taken) {
                    return Err(format!(
                        "{} does not take the certificate of {}",
                        other.member, one.member
                    ));
                }
            }
        }
        Ok(())
    }

    /// The list of waits does not grow with the ring, and none is from the future.
    fn waits_are_bounded(&self) -> Result<(), String> {
        let cluster = self.store.get(&cluster_key());
        let waits = cluster.and_then(|c| c["status"]["waits"].as_array());
        let Some(waits) = waits else {
            return Ok(());
        };
        let since = |wait: &Value| wait["since"].as_str()?.parse::<Timestamp>().ok();
        // By the clock of whoever wrote them.
        let ahead = self.operators.iter().map(|o| o.clock).max().unwrap_or_default();
        let latest = self.store.now + ahead.max(SignedDuration::ZERO);
        let is_right = |wait| since(wait).is_some_and(|since| since <= latest);
        let is_twice = |(n, wait): (usize, &Value)| waits[..n].contains(wait);
        let once = !waits.iter().enumerate().any(is_twice);
        match !waits.is_empty() && waits.len() <= MOST && once && waits.iter().all(is_right) {
            true => Ok(()),
            false => Err(format!("the waits in the status: {waits:?}")),
        }
    }

    /// Whoever waits for a task waits for `Complete` or `Failed`: at its end exactly one is True.
    fn tasks_end_by_one_condition(&self) -> Result<(), String> {
        for (key, task) in self.store.list(kinds::TASK) {
            let conditions = task["status"]["conditions"].as_array().into_iter().flatten();
            let ends = conditions.filter(|c| c["status"] == "True").count();
            if ends != usize::from(task["status"]["endedAt"].is_string()) {
                return Err(format!("task {} has {ends} conditions that end it", key.name));
            }
        }
        Ok(())
    }

    /// Turns come before jobs and never both, and one member works at a time but for
    /// repairs that have no data in common: as far as agents can be asked to stop.
    fn no_turn_beside_a_job(&self) -> Result<(), String> {
        let pods: BTreeSet<&str> = self.agents.keys().map(String::as_str).collect();
        let at_work = self.ring.at_work(&pods);
        let both = |(agent, _): &&(super::agent::Agent, _)| agent.does_two_things();
        if let Some((agent, _)) = self.agents.values().find(both) {
            return Err(format!("{} does two things at once", agent.pod.key.name));
        }
        if at_work.len() > 1 {
            self.they_have_no_data_in_common(&at_work)?;
        }
        let turn = self.store.get(&cluster_key()).map(|c| &c["status"]["turn"]);
        // A turn may begin beside an operation: the ring needs both, and neither waits for ever.
        let operations = self.ring.at_operations(&pods);
        if let (Some((member, one)), Some((other, call))) = (operations.first(), at_work.first()) {
            return Err(format!("{other} works ({call:?}) beside {} of {member}", one.id));
        }
        let stoppable = at_work.iter().find(|(_, call)| call.is_stoppable());
        match (turn, stoppable) {
            (Some(turn), Some((member, call))) if !turn.is_null() => {
                Err(format!("{member} works ({call:?}) beside the turn {turn}"))
            }
            _ => Ok(()),
        }
    }

    /// Only repairs go on at a time, and no member that has copies is in two of them.
    fn they_have_no_data_in_common(&self, at_work: &[(&str, &Call)]) -> Result<(), String> {
        let mut seen = BTreeSet::new();
        for (_, call) in at_work {
            let Some(ranges) = &call.ranges else {
                return Err(format!("more than one member works at a time: {at_work:?}"));
            };
            let owners: BTreeSet<HostId> =
                ranges.iter().flat_map(|range| self.ring.owners(*range)).collect();
            if owners.iter().any(|owner| !seen.insert(owner.clone())) {
                return Err(format!("a member is in two repairs at a time: {at_work:?}"));
            }
        }
        Ok(())
    }

    /// Tasks that have not ended.
    pub(super) fn open_tasks(&self) -> Vec<ObjectKey> {
        let tasks = self.store.list(kinds::TASK);
        let open = tasks.filter(|(_, task)| !task["status"]["endedAt"].is_string());
        open.map(|(key, _)| key.clone()).collect()
    }

    /// The operator never deletes a task that has not ended.
    pub(super) fn watch_tasks(&mut self, open: &[ObjectKey]) {
        if let Some(gone) = open.iter().find(|key| self.store.get(key).is_none()) {
            self.ring.breaches.push(format!("{gone} was deleted before it had ended"));
        }
    }

    /// What a pod mounts stays: without it the pod does not start again.
    fn no_configuration_in_use_is_gone(&self) -> Result<(), String> {
        let going = |o: &Value| o["metadata"]["deletionTimestamp"].is_string();
        if self.store.get(&cluster_key()).is_none_or(|c| going(c)) {
            return Ok(());
        }
        for (key, pod) in self.store.list(kinds::POD).filter(|(_, pod)| !going(pod)) {
            let volumes = pod["spec"]["volumes"].as_array().into_iter().flatten();
            for name in volumes.filter_map(|v| v["configMap"]["name"].as_str()) {
                let map = ObjectKey::new(kinds::CONFIG_MAP, &key.namespace, name);
                if self.store.get(&map).is_none() {
                    return Err(format!("{} mounts ConfigMap {name}, which is gone", key.name));
                }
            }
        }
        Ok(())
    }

    /// A member that serves is stopped only while all others are up.
    pub(super) fn watch_stop(&mut self, member: &str) {
        let serves = |s: &&Server| s.member == member && s.phase == Phase::Normal;
        let Some(host) = self.ring.servers.values().find(serves).and_then(|s| s.host_id.clone())
        else {
            return;
        };
        let mut except = self.gone_without();
        except.push(host);
        let except: Vec<&HostId> = except.iter().collect();
        self.ring.watch_others(&format!("{member} is stopped"), &except, self.store.now);
    }

    /// A member is stopped because people want it, and only while no other one is
    /// stopped or down, unless they have said `Now`.
    pub(super) fn watch_wishes(&mut self) {
        let members = self.store.list(kinds::MEMBER);
        let stopped: BTreeMap<String, Value> = members
            .filter(|(_, m)| m["spec"]["run"] == "Stopped")
            .map(|(key, m)| (key.name.clone(), m["spec"]["wanted"].clone()))
            .collect();
        let before = std::mem::take(&mut self.stopped);
        for (member, wanted) in stopped.iter().filter(|(name, _)| !before.contains(*name)) {
            if wanted["run"] != "Stopped" && wanted["run"] != "Terminated" {
                self.ring.breaches.push(format!("{member} is stopped, and nobody wants it"));
            }
            let serves = |s: &&Server| s.member == *member && s.phase == Phase::Normal;
            let is_free =
                wanted["when"] == "Now" || !self.ring.servers.values().any(|s| serves(&s));
            if is_free {
                continue;
            }
            if let Some(other) = before.iter().find(|other| stopped.contains_key(*other)) {
                let text = format!("{member} is stopped while {other} is");
                self.ring.breaches.push(text);
            }
            self.watch_stop(member);
        }
        self.stopped = stopped.into_keys().collect();
    }

    /// Pods that are not ready while another one is ended: clients count them.
    pub(super) fn note_unready(&mut self, ended: &str) {
        let is_ready = |pod: &serde_json::Value| {
            let conditions = pod["status"]["conditions"].as_array();
            conditions.into_iter().flatten().any(|c| c["type"] == "Ready" && c["status"] == "True")
        };
        let pods = self.store.list(kinds::POD);
        let unready = pods.filter(|(key, pod)| key.name != ended && !is_ready(pod));
        let names: Vec<String> = unready.map(|(key, _)| key.name.clone()).collect();
        self.unready_at_stop.extend(names);
    }

    /// Host IDs of which a person has said that an upgrade goes on without them.
    fn gone_without(&self) -> Vec<HostId> {
        let members = self.store.list(kinds::MEMBER).map(|(_, member)| member);
        members
            .filter(|m| m["metadata"]["annotations"][labels::UPGRADE_WITHOUT].is_string())
            .filter_map(|m| m["spec"]["replace"]["hostID"].as_str())
            .map(HostId::new)
            .collect()
    }

    /// The operator may have written to members: is it right to permit, to let
    /// leave, to declare gone?
    pub(super) fn watch_members(&mut self, terminated: &BTreeSet<String>) {
        for (name, host) in self.terminated() {
            if !terminated.contains(&name) {
                self.ring.watch_end(&name, &host);
            }
        }
        let members: Vec<_> =
            self.store.list(kinds::MEMBER).map(|(key, m)| (key.name.clone(), m.clone())).collect();
        for (name, member) in members {
            for what in ["start", "intent"] {
                let words = &member["spec"][what];
                // An intent is renewed while the member is leaving; that starts nothing.
                let which = match what {
                    "intent" => text(words, "/hostID"),
                    _ => text(words, "/nonce"),
                };
                if words.is_null() || !self.given.insert(format!("{what} {name} {which}")) {
                    continue;
                }
                // Who comes back with its own data mends the ring, whoever else is down.
                let comes_back = ["ResumeLeave", "Readdress"].contains(&text(words, "/kind"));
                if what == "start" && comes_back {
                    continue;
                }
                let address = text(&member, "/spec/address");
                let own = self
                    .ring
                    .seats
                    .iter()
                    .find(|(_, s)| s.address.as_str() == address)
                    .map(|(host, _)| host.clone());
                let except = [HostId::new(text(words, "/hostID")), own.unwrap_or_default()];
                self.ring.watch_others(
                    &format!("{what} is given to {name}"),
                    &except.each_ref(),
                    self.store.now,
                );
            }
        }
    }

    /// Members that are on record as gone, with their host IDs.
    pub(super) fn terminated(&self) -> Vec<(String, HostId)> {
        let members = self.store.list(kinds::MEMBER);
        members
            .filter(|(_, m)| m["spec"]["run"] == "Terminated")
            .map(|(key, m)| {
                (key.name.clone(), HostId::new(m["spec"]["hostID"].as_str().unwrap_or_default()))
            })
            .collect()
    }

    /// A disk with the data of a member of the ring keeps its claim.
    fn no_claim_of_a_member_is_gone(&self) -> Result<(), String> {
        for (name, disk) in &self.kube.disks {
            let Some(data) = &disk.content.data else {
                continue;
            };
            let node = ObjectKey::new(kinds::NODE, "", &disk.node);
            if self.store.get(&node).is_none() || self.given_up.contains(&data.host_id) {
                continue;
            }
            let key = ObjectKey::new(kinds::CLAIM, super::manifests::NAMESPACE, &disk.claim);
            let bound =
                self.store.get(&key).is_some_and(|c| c["spec"]["volumeName"] == name.as_str());
            if !bound
                && self.ring.seats.contains_key(&data.host_id)
                && self.deletion_is_wanted() == Wanted::No
            {
                return Err(format!(
                    "claim {} is gone, and its disk holds the data of {}",
                    disk.claim, data.host_id
                ));
            }
        }
        Ok(())
    }

    fn deletion_is_wanted(&self) -> Wanted {
        let asked = self
            .store
            .get(&super::world::cluster_key())
            .is_none_or(|c| c["spec"]["deletionPolicy"] == "Delete");
        if asked { Wanted::Yes } else { Wanted::No }
    }
}

#[derive(PartialEq, Eq)]
enum Wanted {
    Yes,
    No,
}

/// A member that is away for longer than this is seen down by everybody.
const SEEN_DOWN: SignedDuration = SignedDuration::from_secs(45);

impl Ring {
    /// Note since when each full member is away.
    pub(super) fn note_absences(&mut self, now: Timestamp) {
        let reached = self.servers.values().filter(|s| !self.is_out_of_reach(&s.member));
        let up: BTreeSet<&HostId> = reached.filter_map(|s| s.host_id.as_ref()).collect();
        self.away.retain(|host, _| self.seats.contains_key(host) && !up.contains(host));
        for (host, seat) in &self.seats {
            if seat.state == MemberState::Normal && !up.contains(host) {
                self.away.entry(host.clone()).or_insert(now);
            }
        }
    }

    /// A member is declared gone only when no server has it for a member.
    pub(super) fn watch_end(&mut self, member: &str, host: &HostId) {
        let believer = self.servers.iter().find(|(pod, s)| {
            s.member != member && self.views.of(pod).iter().any(|m| m.host_id == *host)
        });
        if let Some((_, server)) = believer {
            let text = format!("{member} is declared gone although {} knows {host}", server.member);
            self.breaches.push(text);
        }
    }

    /// Something begins that no ring may suffer while another member is down.
    pub(super) fn watch_others(&mut self, what: &str, except: &[&HostId], now: Timestamp) {
        self.note_absences(now);
        let down = self
            .away
            .iter()
            .filter(|(host, _)| !self.called_lost.contains(*host))
            .find(|(host, since)| !except.contains(host) && now > **since + SEEN_DOWN);
        if let Some((host, since)) = down {
            let text = format!("{what} although {host} has been down since {since}");
            self.breaches.push(text);
        }
    }
}
