//! One step of the operator processes, and one of every agent.

use super::agent::{Agent, LAG, Reach, Saved};
use super::manifests::NAMESPACE;
use super::ring::{Configuration, Phase, Runs, Server};
use super::world::{Api, Link, RESTART, World};
use jiff::{SignedDuration, Timestamp};
use palladion_agent::decide::Source;
use palladion_agent::volume::SavedMember;
use palladion_api::cluster::{ClientAddresses, InternodeTlsMode};
use palladion_api::member::HealthRecord;
use palladion_cassandra::resources as kinds;
use palladion_plan::ObjectKey;
use palladion_plan::sim::operator::{Life, Write};
use palladion_plan::sim::{Activity, PodRun};
use serde_json::{Value, json};

/// How long the API may take to tell the spec before the saved one counts.
const API_GRACE: SignedDuration = SignedDuration::from_secs(10);

impl World {
    /// Whose address leads nowhere, or to somebody else: its Service has another one.
    pub(super) fn follow_services(&mut self) {
        let has_other = |server: &&Server| {
            let key = ObjectKey::new(kinds::SERVICE, NAMESPACE, &server.member);
            let service = self.store.get(&key);
            service.is_some_and(|s| s["spec"]["clusterIP"] != server.address.as_str())
        };
        let astray = self.ring.servers.values().filter(has_other);
        self.ring.astray = astray.map(|s| s.member.clone()).collect();
    }

    pub(super) fn step_operators(&mut self) -> Activity {
        let mut all = Activity::default();
        if self.api == Api::Away {
            return all;
        }
        for i in 0..self.operators.len() {
            let gone = self.terminated().into_iter().map(|(name, _)| name).collect();
            let open = self.open_tasks();
            let activity = self.operators[i].step(&mut self.store, &mut self.faults);
            self.watch_members(&gone);
            self.watch_tasks(&open);
            all = all.and(activity);
            for done in std::mem::take(&mut self.operators[i].done) {
                self.note(&done);
            }
        }
        if self.operators.iter().any(|o| o.life() == Life::Dead) {
            self.operators.retain(|o| o.life() != Life::Dead);
            self.tell("the operator dies");
        }
        if self.operators.is_empty() {
            let at = *self.restart_at.get_or_insert(self.store.now + RESTART);
            if at <= self.now() {
                self.restart_at = None;
                self.start_operator();
                self.tell("the operator starts again");
                return all.and(Activity::ACTED);
            }
            all = all.at(at);
        }
        all
    }

    pub(super) fn note(&mut self, done: &palladion_plan::sim::Done) {
        use palladion_plan::sim::operator::End;
        let what = if done.write == Write::Status {
            "report the status".to_string()
        } else {
            done.doing.clone()
        };
        let end = match &done.end {
            End::Done => String::new(),
            End::Failed(class, message) => format!(" ({class:?}: {message})"),
            End::AnswerLost => " (its answer is lost)".to_string(),
            End::DiedBefore => " (dies before it)".to_string(),
            End::DiedAfter => " (dies after it)".to_string(),
        };
        self.writes.push(what.clone());
        if done.write != Write::Status || !end.is_empty() {
            self.tell(&format!("operator: {what}{end}"));
        }
        if let Some(event) = &done.event {
            self.tell(&format!("   event: {}", event.message));
            self.events.insert(event.reason);
        }
        if let Some(count) = &done.counted {
            let words = std::iter::once(count.metric.name).chain(count.labels.iter().copied());
            *self.counts.entry(words.collect::<Vec<_>>().join(" ")).or_default() += 1;
        }
        self.watch_wishes();
        if matches!(done.end, End::Done | End::AnswerLost | End::DiedAfter) {
            self.note_destroyed(done);
        }
    }

    /// Agents of full members note that these run.
    pub(super) fn beat(&mut self) {
        for (uid, (agent, _)) in &mut self.agents {
            if self.ring.servers.get(uid).is_some_and(|s| s.phase == Phase::Normal) {
                agent.beat(self.store.now, self.ring.learned_grace, &mut self.kube.disks);
            }
        }
    }

    pub(super) fn step_agents(&mut self) -> Activity {
        let pods = self.kube.pods(&self.store);
        let mut gone: Vec<String> = self
            .agents
            .keys()
            .filter(|uid| !pods.iter().any(|p| p.uid.as_str() == uid.as_str()))
            .cloned()
            .collect();
        gone.sort();
        for uid in gone {
            self.agents.remove(&uid);
            self.ring.stop(&uid, self.store.now);
        }
        pods.into_iter().fold(Activity::default(), |all, pod| all.and(self.step_agent(pod)))
    }

    fn step_agent(&mut self, pod: PodRun) -> Activity {
        let now = self.store.now;
        let (mut agent, mut refresh) = match self.agents.remove(pod.uid.as_str()) {
            Some(known) => known,
            None => {
                let clock = self.clocks.get(&pod.key.name).copied().unwrap_or_default();
                let (server, version) = (self.configuration_of(&pod), self.version_of(&pod));
                let mut agent = Agent::new(pod.clone(), now, clock, server, version);
                agent.internode = self.internode_of(&pod);
                agent.client_addresses = self.client_addresses_of(&pod);
                let stored = self.store.get(&pod.key);
                let address = stored.and_then(|stored| stored["status"]["podIP"].as_str());
                agent.pod_ip = address.and_then(|a| a.parse().ok()).unwrap_or(agent.pod_ip);
                agent.protocol = self.protocol;
                let key = ObjectKey::new(kinds::MEMBER, &pod.key.namespace, &pod.key.name);
                let told = self.store.get(&key).map(|m| m["status"]["health"].clone());
                let told = told.and_then(|told| serde_json::from_value(told).ok());
                let told: Vec<HealthRecord> = told.unwrap_or_default();
                agent.watch.take_over(&told, agent.clock_at(now));
                (agent, None)
            }
        };
        agent.pod.ending = pod.ending;
        let key = ObjectKey::new(kinds::MEMBER, &pod.key.namespace, &pod.key.name);
        let node = if self.kube.reaches_api(&pod.node) { None } else { Some(Link::Cut) };
        let link = node.or(self.links.get(&pod.key.name).copied());
        let api = if link == Some(Link::Cut) { Api::Away } else { self.api };
        let live = self.store.get(&key).filter(|_| api == Api::Reachable).cloned();
        if api == Api::Reachable && link.is_none() {
            agent.in_contact_at = Some(now);
        }
        let mut all = self.hear(&mut agent, &mut refresh, api, live.as_deref());
        let waited = agent.begun + API_GRACE;
        let saved = match (api, live.is_some()) {
            (Api::Away, _) => Saved::Counts,
            // What it was told it cannot read.
            (Api::Reachable, true) if waited <= now && !agent.read.is_null() => Saved::Counts,
            // No record of it, or it hears of it in a moment: the agent waits for one.
            (Api::Reachable, _) => Saved::CountsNotYet,
        };
        if agent.saved.is_none() && waited > now {
            all = all.at(waited);
        }
        let mut reach = Reach {
            now,
            disks: &mut self.kube.disks,
            ring: &mut self.ring,
            volumes: &mut self.volumes,
            spec_beside_the_ledger: saved,
        };
        let (decision, activity) = agent.turn(&mut reach);
        all = all.and(activity);
        if let Some(live) = live.as_ref().filter(|_| link.is_none()) {
            agent.note_set_back(&live["status"], &mut self.kube.disks);
            let generation = agent.saved.as_ref().and_then(|s| s.generation);
            let status = agent.status(&decision, generation, now);
            if live["status"].is_null() || agent.reported.as_ref() != Some(&status) {
                // Its member was there a moment ago, and it may write nothing but this.
                if let Err(why) = self.store.put_status(&key, json!(status)) {
                    self.ring.breaches.push(format!("the status of {}: {why:?}", key.name));
                }
                agent.reported = Some(status);
                all = all.and(Activity::ACTED);
            }
        }
        if self.api == Api::Reachable && self.kube.reaches_api(&pod.node) {
            // The kubelet asks the agent.
            self.kube.set_ready(&mut self.store, &pod.key, agent.is_ready(&decision));
        }
        self.agents.insert(pod.uid.to_string(), (agent, refresh));
        all
    }

    /// News of its member reach an agent a little late, and not while the API is away.
    fn hear(
        &self,
        agent: &mut Agent,
        refresh: &mut Option<Timestamp>,
        api: Api,
        live: Option<&Value>,
    ) -> Activity {
        let Some(live) = live else {
            if api == Api::Reachable {
                agent.source = Source::Saved;
            }
            return Activity::default();
        };
        agent.note_times(live, self.store.now);
        if live["spec"] == agent.read && agent.source == Source::Live {
            return Activity::default();
        }
        let due = *refresh.get_or_insert(self.store.now + LAG);
        if due > self.store.now {
            return Activity::default().at(due);
        }
        *refresh = None;
        agent.read = live["spec"].clone();
        let Ok(spec) = serde_json::from_value(agent.read.clone()) else {
            return Activity::default();
        };
        if agent.evidence.is_none() {
            // An answer that an earlier agent gave stands.
            agent.evidence = serde_json::from_value(live["status"]["evidence"].clone()).ok();
        }
        let generation = live["metadata"]["generation"].as_i64();
        agent.saved = Some(SavedMember { generation, spec });
        agent.source = Source::Live;
        Activity::ACTED
    }

    /// What the server will say to the configuration that its pod mounts.
    fn configuration_of(&self, pod: &PodRun) -> Configuration {
        let text = self.server_json(pod).unwrap_or_default();
        if text.contains("broken_setting") {
            let words =
                "ConfigurationException: Invalid yaml. Please remove properties [broken_setting]";
            Configuration::Refused(words.to_string())
        } else if text.contains("hanging_setting") {
            Configuration::Hangs
        } else {
            let config: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
            Configuration::Runs(Runs {
                keeps_mib: config["cdc"]["totalMib"].as_u64(),
                asks: text.contains("\"auth\":\"Password\""),
                certified: text.contains("\"clientCertificates\":\"Operator\""),
                added: text.contains("\"opens\":\"WhenRebuilt\""),
                tls_alone: text.contains("\"clientTls\":\"Require\""),
            })
        }
    }

    /// How it will speak to other members.
    fn internode_of(&self, pod: &PodRun) -> InternodeTlsMode {
        let json = self.server_json(pod).unwrap_or_default();
        let config: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
        serde_json::from_value(config["internodeTls"].clone()).unwrap_or_default()
    }

    /// What it will announce to clients.
    fn client_addresses_of(&self, pod: &PodRun) -> Option<ClientAddresses> {
        let json = self.server_json(pod).unwrap_or_default();
        let config: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
        serde_json::from_value(config["clientAddresses"].clone()).ok()
    }

    /// The version that its image runs.
    fn version_of(&self, pod: &PodRun) -> String {
        let json = self.server_json(pod).unwrap_or_default();
        let config: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
        config["version"].as_str().unwrap_or_default().to_string()
    }

    fn server_json(&self, pod: &PodRun) -> Option<&str> {
        let volumes = self.store.get(&pod.key)?["spec"]["volumes"].as_array()?;
        let map = volumes.iter().find_map(|v| v["configMap"]["name"].as_str())?;
        let key = ObjectKey::new(kinds::CONFIG_MAP, &pod.key.namespace, map);
        self.store.get(&key)?["data"]["server.json"].as_str()
    }
}
