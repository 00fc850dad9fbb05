//! Joins in which somebody is killed again and again, at each step of the join: the joiner,
//! the leader, the operator, and of two servers the second, without which the first is no
//! majority. One ensemble comes out, and all that was acknowledged is there.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use palladion_e2e::bed;
use palladion_e2e::bed::{OPERATOR_NAMESPACE, text};
use palladion_e2e::machines::is_ready;
use palladion_e2e::wait_for;
use palladion_e2e::zookeeper::{Ensemble, Writing};
use palladion_testbed::faults::Victim as Process;
use serde_json::Value;

/// How far a join is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// It has the turn.
    Turn,
    /// It is permitted to start.
    Permitted,
    /// It follows the others, without a vote.
    Follows,
    /// Somebody reports its vote, and the turn has not ended yet.
    Votes,
}
use Phase::{Follows, Permitted, Turn, Votes};

/// Who is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Victim {
    Joiner,
    Leader,
    Operator,
    /// Of two that vote the one that does not lead, while a third joins.
    Second,
}
use Victim::{Joiner, Leader, Operator, Second};

/// When somebody is killed: in a join that is as far as this, or further.
const KILLS: [(Phase, Victim); 20] = [
    (Turn, Operator),
    (Permitted, Joiner),
    (Follows, Leader),
    (Votes, Joiner),
    (Turn, Second),
    (Permitted, Leader),
    (Follows, Operator),
    (Permitted, Operator),
    (Follows, Joiner),
    (Votes, Leader),
    (Turn, Leader),
    (Permitted, Second),
    (Follows, Joiner),
    (Turn, Joiner),
    (Votes, Operator),
    (Follows, Second),
    (Follows, Operator),
    (Permitted, Leader),
    (Turn, Operator),
    (Follows, Joiner),
];
/// A growth has two joins. What is not met in one is met in the next, however far its joins
/// are.
const MOST_GROWTHS: usize = 9;
/// From here on any moment of a join will do.
const LATE: usize = MOST_GROWTHS - 2;
/// From one kill to the next, with all restarts between.
const PATIENCE: Duration = Duration::from_secs(300);

pub fn at_each_step() {
    let ensemble = Ensemble::form("zk-kill", 1, &[]);
    let writing = Writing::begin_in(&ensemble, 2).expect("writing");
    let (began, first) = (Instant::now(), ensemble.service().pods());
    let mut killed: BTreeMap<(Victim, Phase), usize> = BTreeMap::new();
    let mut ids = Ids::default();
    let (mut left, mut growths, mut is_missed) = (KILLS.iter().peekable(), 0, false);
    while left.peek().is_some() {
        growths += 1;
        assert!(growths <= MOST_GROWTHS, "{} kills were not met: {killed:?}", left.len());
        ensemble.set_servers(3);
        while let Some((at, victim)) = left.peek() {
            // All had joined before it came to this: in the next growth any moment will do, but
            // for the last moment of a join, which is short, and waited for until it was met.
            let is_met = *at < Votes || killed.keys().any(|(_, met)| *met == Votes);
            let at = if is_missed && (is_met || growths > LATE) { Turn } else { *at };
            let met = kill(&ensemble, at, *victim);
            is_missed = met.is_none();
            let Some(met) = met else { break };
            println!("{victim:?} was killed in a join at {met:?}");
            *killed.entry((*victim, met)).or_default() += 1;
            left.next();
        }
        ensemble.wait_servers(3);
        writing.follow(&ensemble).expect("through all three");
        ids.note(&ensemble);
        let all = wait_for("each to serve", PATIENCE, || ensemble.configurations().map(Some));
        let all = all.expect("each serves");
        assert!(all.iter().all(|own| *own == all[0]), "one ensemble: {all:?}");
        ensemble.set_servers(1);
        ensemble.wait_servers(1);
        writing.follow(&ensemble).expect("through the first");
    }
    assert_eq!(ensemble.voters(), [1]);
    // Of the first its server was killed, and its pod never.
    wait_for("the pods of those that left to be gone", PATIENCE, || {
        Ok((ensemble.service().pods() == first).then_some(()))
    })
    .expect("one pod, the first");
    for phase in [Turn, Permitted, Follows, Votes] {
        assert!(killed.keys().any(|(_, at)| *at == phase), "nobody was killed at {phase:?}");
    }
    let written = writing.end(&ensemble).expect("all that was acknowledged is there");
    println!(
        "figure: zk-kill: {written}; {} kills in {growths} growths, {:.0} s; {killed:?}; IDs {:?}",
        killed.values().sum::<usize>(),
        began.elapsed().as_secs_f64(),
        ids.volumes.keys()
    );
    ensemble.service().end();
}

/// Which volume each ID was given to.
#[derive(Default)]
struct Ids {
    volumes: BTreeMap<i64, String>,
}

impl Ids {
    /// An ID is of one volume for life, and those of joiners are above all that were given.
    fn note(&mut self, ensemble: &Ensemble) {
        let highest = self.volumes.keys().last().copied();
        let status = ensemble.service().status();
        for server in status["ensemble"].as_array().into_iter().flatten() {
            let id = server["id"].as_i64().expect("an ID");
            let volume = text(server, "/volumeID").to_string();
            assert!(!volume.is_empty(), "a volume of each: {server}");
            match self.volumes.insert(id, volume.clone()) {
                Some(old) => assert_eq!(old, volume, "ID {id} is of two volumes"),
                None => assert!(Some(id) > highest, "ID {id} was given before: {highest:?}"),
            }
        }
    }
}

/// Kill this one as soon as a join is as far; how far it was. None if all have joined before.
fn kill(ensemble: &Ensemble, at: Phase, victim: Victim) -> Option<Phase> {
    let begin = Instant::now();
    loop {
        assert!(begin.elapsed() < PATIENCE, "no join came to {at:?} for {victim:?}");
        let Ok(owner) = ensemble.service().owner() else { continue };
        let status = &owner["status"];
        if status["servers"] == "3/3" && status["turn"].is_null() {
            return None;
        }
        let members = bed().list(ensemble.name, "servicemembers").unwrap_or_default();
        if let Some((phase, joiner)) = join(status, &members).filter(|(phase, _)| *phase >= at)
            && end(ensemble, victim, joiner, status)
        {
            return Some(phase);
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// The join that is under way: how far it is, and whose it is.
fn join<'a>(status: &'a Value, members: &[Value]) -> Option<(Phase, &'a str)> {
    let turn = Some(&status["turn"]).filter(|turn| turn["step"] == "Join")?;
    let name = text(turn, "/member");
    let joiner = members.iter().find(|m| m["metadata"]["name"] == name)?;
    let votes = |m: &Value| {
        let servers = m["status"]["ensemble"]["servers"].as_array().cloned().unwrap_or_default();
        servers.iter().any(|s| s["serverID"] == turn["serverID"] && s["role"] == "Participant")
    };
    let phase = match joiner {
        _ if !turn["serverID"].is_null() && members.iter().any(votes) => Votes,
        m if m["status"]["ensemble"]["mode"].is_string() => Follows,
        m if m["spec"]["start"].is_object() => Permitted,
        _ => Turn,
    };
    Some((phase, name))
}

/// End this one, if it is there.
fn end(ensemble: &Ensemble, victim: Victim, joiner: &str, status: &Value) -> bool {
    let leader = text(status, "/leader");
    match victim {
        Operator => kill_operator(),
        // Its pod: of one pod an agent tries a start three times.
        Joiner => delete(ensemble, joiner),
        Leader => kill_server(ensemble, leader),
        Second => {
            let servers = status["ensemble"].as_array().cloned().unwrap_or_default();
            let mut second = servers.iter().map(|server| text(server, "/member"));
            let second = second.find(|name| *name != leader && *name != joiner);
            let are_two = servers.len() == 2 && !leader.is_empty();
            second.is_some_and(|second| are_two && kill_server(ensemble, second))
        }
    }
}

/// One that is not ready has been killed a moment before.
fn kill_operator() -> bool {
    let pods = bed().list(OPERATOR_NAMESPACE, "pods").unwrap_or_default();
    let is_there = pods.iter().any(|p| is_ready(p) && p["metadata"]["deletionTimestamp"].is_null());
    is_there && bed().kill_operator().is_ok()
}

/// One that is ending has been killed a moment before.
fn delete(ensemble: &Ensemble, pod: &str) -> bool {
    let found = bed().get(ensemble.name, "pod", pod).ok().flatten();
    let is_there = found.is_some_and(|pod| pod["metadata"]["deletionTimestamp"].is_null());
    let words = format!("delete pod {pod} -n {} --wait=false --grace-period=1", ensemble.name);
    is_there && bed().kubectl(&words).is_ok()
}

/// Its process, without a word. It may be starting just then.
fn kill_server(ensemble: &Ensemble, pod: &str) -> bool {
    let server = Process::Named("java".into());
    !pod.is_empty() && bed().cluster.kill(ensemble.name, pod, "zookeeper", &server).is_ok()
}
