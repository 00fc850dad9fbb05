//! One step of the operator processes, and one of every agent.

use super::agent::{Agent, LAG, Reach};
use super::ring::Configuration;
use super::world::{Api, RESTART, World};
use palladion_cassandra::resources as kinds;
use palladion_plan::ObjectKey;
use palladion_plan::sim::operator::{Life, Write};
use palladion_plan::sim::{Activity, PodRun};
use serde_json::json;

impl World {
    pub(super) fn step_operators(&mut self) -> Activity {
        let mut all = Activity::default();
        if self.api == Api::Away {
            return all;
        }
        for i in 0..self.operators.len() {
            let gone = self.terminated().into_iter().map(|(name, _)| name).collect();
            let activity = self.operators[i].step(&mut self.store, &mut self.faults);
            self.watch_members(&gone);
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
        }
        if matches!(done.write, Write::DeleteProcess | Write::DeleteData)
            && matches!(done.end, End::Done | End::AnswerLost | End::DiedAfter)
        {
            self.watch_stop(&done.object.name);
            self.destructive.push(format!("{:?} {}", done.write, done.object.name));
        }
    }

    pub(super) fn step_agents(&mut self) -> Activity {
        let pods = self.kube.pods(&self.store);
        let mut gone: Vec<String> = self
            .agents
            .keys()
            .filter(|uid| !pods.iter().any(|p| p.uid == **uid))
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
        let (mut agent, mut refresh) = match self.agents.remove(&pod.uid) {
            Some(known) => known,
            None => (
                Agent::new(pod.clone(), now, self.configuration_of(&pod), self.version_of(&pod)),
                None,
            ),
        };
        agent.pod.ending = pod.ending;
        let key = ObjectKey::new(kinds::MEMBER, &pod.key.namespace, &pod.key.name);
        let live = self.store.get(&key).filter(|_| self.api == Api::Reachable).cloned();
        let mut all = Activity::default();
        if let Some(live) = live.as_ref().filter(|l| l["spec"] != agent.read) {
            let due = *refresh.get_or_insert(now + LAG);
            if due <= now {
                agent.read = live["spec"].clone();
                agent.spec = serde_json::from_value(agent.read.clone()).ok();
                refresh = None;
            } else {
                all = all.at(due);
            }
        }
        let mut reach = Reach {
            now,
            disks: &mut self.kube.disks,
            ring: &mut self.ring,
            volumes: &mut self.volumes,
        };
        all = all.and(agent.step(&mut reach));
        if let (Some(live), Some(spec)) = (&live, &agent.spec) {
            let generation = live["metadata"]["generation"].as_i64();
            let status = agent.status(spec, generation, &reach);
            let ready = status.server.as_ref().is_some_and(|s| s.native_transport == Some(true));
            if live["status"].is_null() || agent.reported.as_ref() != Some(&status) {
                let _ = self.store.put_status(&key, json!(status));
                agent.reported = Some(status);
                all = all.and(Activity::ACTED);
            }
            self.kube.set_ready(&mut self.store, &pod.key, ready);
        }
        self.agents.insert(pod.uid, (agent, refresh));
        all
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
            Configuration::Sound
        }
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
