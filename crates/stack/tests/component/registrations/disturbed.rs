//! Every record of a Registration may be lost, refused, or the last thing that a process
//! does: in the end the same pods are registered, each once.

use super::{World, component, good, spec};
use jiff::SignedDuration;
use palladion_plan::words::exchange::Failed;
use palladion_plan::{Answer, Exchange, ExchangeKey};
use palladion_stack::resources as kinds;
use serde_json::{Value, json};

/// What becomes of a write of the status, and of the process that sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The process dies before it is sent: what it has called for is done all the same.
    DiesBefore,
    /// The process dies when it is stored.
    DiesAfter,
    /// It is refused, and the process goes on.
    Refused,
}

const FAULTS: [Fault; 3] = [Fault::DiesBefore, Fault::DiesAfter, Fault::Refused];

/// A Registration, the processes that tend it, and the service that they call.
struct Story {
    world: World,
    /// What this process has sent; another one knows nothing of it.
    sent: Vec<ExchangeKey>,
    writes: usize,
    fault: Option<(usize, Fault)>,
    /// Nodes of the service, with the numbers that it calls them by.
    nodes: Vec<(u32, String)>,
    numbers: u32,
    /// So many of the next answers are lost after the call was done.
    lose: usize,
}

impl Story {
    fn new(spec: Value) -> Self {
        let world = World::new(spec);
        let (sent, nodes) = (Vec::new(), Vec::new());
        Self { world, sent, writes: 0, fault: None, nodes, numbers: 0, lose: 0 }
    }

    /// One second: what is recorded is sent, and what is decided is recorded.
    fn step(&mut self) {
        self.world.now += SignedDuration::from_secs(1);
        let wanted = self.world.wanted();
        self.world.answers.retain(|key, _| wanted.iter().any(|call| call.key == *key));
        for call in wanted {
            if !self.sent.contains(&call.key) {
                self.sent.push(call.key.clone());
                self.send(&call);
            }
        }
        let decided = self.world.decided();
        if decided != self.world.owner.body["status"] {
            self.write(decided);
        }
    }

    fn write(&mut self, status: Value) {
        let at = self.writes;
        self.writes += 1;
        let fault = self.fault.take_if(|(planned, _)| *planned == at).map(|(_, fault)| fault);
        if !matches!(fault, Some(Fault::DiesBefore | Fault::Refused)) {
            self.world.owner.body["status"] = status;
        }
        if matches!(fault, Some(Fault::DiesBefore | Fault::DiesAfter)) {
            self.world.epoch += 1;
            self.sent.clear();
            self.world.answers.clear();
        }
    }

    /// The service does what it is asked, and its answer may be lost.
    fn send(&mut self, call: &Exchange) {
        let last = call.path.rsplit('/').next().unwrap().to_string();
        let mut end = match call.method {
            "GET" => match self.nodes.iter().find(|(_, name)| *name == last) {
                Some((number, _)) => good(200, Some(&number.to_string())),
                None => Err(Failed::Code { code: 404 }),
            },
            "POST" => {
                let body: Value = serde_json::from_str(call.body.as_deref().unwrap()).unwrap();
                self.numbers += 1;
                self.nodes.push((self.numbers, body["name"].as_str().unwrap().to_string()));
                good(201, None)
            }
            "DELETE" => {
                let before = self.nodes.len();
                self.nodes.retain(|(number, _)| number.to_string() != last);
                good(if self.nodes.len() < before { 204 } else { 404 }, None)
            }
            other => panic!("{other} is not called"),
        };
        if self.lose > 0 {
            self.lose -= 1;
            end = Err(Failed::TimedOut { address: call.address.clone() });
        }
        let answer = Answer { at: self.world.now, end };
        self.world.answers.insert(call.key.clone(), answer);
        let mut names: Vec<&String> = self.nodes.iter().map(|(_, name)| name).collect();
        names.sort();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all, "registered twice: {:?}", self.nodes);
    }

    fn pass(&mut self, seconds: u32) {
        (0..seconds).for_each(|_| self.step());
    }

    /// The selected service has these pods from now on.
    fn pods(&mut self, members: u32) {
        let pods = self.world.objects.get_mut(&kinds::POD).unwrap();
        pods.retain(|pod| !pod.meta.name.starts_with("control"));
        component(&mut self.world, "control", members, members > 0);
    }

    /// Who is registered, and what the status says of each.
    fn end(&self) -> (Vec<String>, Vec<Value>, (String, String)) {
        let mut names: Vec<String> = self.nodes.iter().map(|(_, name)| name.clone()).collect();
        names.sort();
        let entries = self.world.owner.body["status"]["entries"].as_array().cloned();
        let said = |e: &Value| json!([e["name"], e["address"], e["state"], e["call"], e["hash"]]);
        (names, entries.iter().flatten().map(said).collect(), self.world.says("Available"))
    }
}

/// A story without a fault, then with each fault at each write.
fn disturbed(spec: impl Fn() -> Value, tell: impl Fn(&mut Story)) {
    let mut calm = Story::new(spec());
    tell(&mut calm);
    let (writes, wanted) = (calm.writes, calm.end());
    assert!(writes > 2, "{writes} writes");
    for fault in FAULTS {
        for at in 0..writes {
            let mut story = Story::new(spec());
            story.fault = Some((at, fault));
            tell(&mut story);
            assert_eq!(story.fault, None, "{fault:?} at write {at} did not happen");
            let died = i64::from(fault != Fault::Refused);
            assert_eq!(story.world.epoch, 1 + died, "{fault:?} at write {at}");
            story.pass(70);
            assert_eq!(story.end(), wanted, "{fault:?} at write {at}");
        }
    }
}

#[test]
fn pods_come() {
    disturbed(spec, |story| {
        story.pods(3);
        story.pass(20);
    });
}

#[test]
fn pods_go_and_come_back() {
    disturbed(spec, |story| {
        story.pods(3);
        story.pass(20);
        story.pods(1);
        story.pass(90);
        story.pods(2);
        story.pass(20);
    });
}

#[test]
fn what_registers_them_changes() {
    disturbed(spec, |story| {
        story.pods(2);
        story.pass(20);
        let body = json!("{\"name\": \"{{ pod.name }}\", \"role\": \"control\"}");
        story.world.owner.body["spec"]["register"]["body"] = body;
        story.pass(20);
    });
}

#[test]
fn answers_are_lost_on_the_way() {
    for lost in 1..4 {
        disturbed(spec, |story| {
            story.lose = lost;
            story.pods(2);
            story.pass(30);
        });
    }
}
