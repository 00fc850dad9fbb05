//! What goes wrong in a store: drawn from a seed, or planned for the next request.

#![allow(dead_code, reason = "each test takes what it needs")]

use std::collections::BTreeMap;
use std::sync::Mutex;

/// One thing that goes wrong with one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is refused, and nothing was done.
    Status(u16, &'static str),
    /// It is carried out, and the answer never comes.
    Lost,
    /// Half of the answer comes.
    Cut,
    /// One bit of what is sent is another one when it arrives.
    WrongSent,
    /// One bit of what is read is another one when it arrives.
    WrongRead,
}

/// All kinds, for a draw.
pub const KINDS: [Fault; 10] = [
    Fault::Status(403, "AccessDenied"),
    Fault::Status(404, "NoSuchKey"),
    Fault::Status(404, "NoSuchBucket"),
    Fault::Status(429, "TooManyRequests"),
    Fault::Status(500, "InternalError"),
    Fault::Status(503, "SlowDown"),
    Fault::Lost,
    Fault::Cut,
    Fault::WrongSent,
    Fault::WrongRead,
];

/// When the process ends that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before its request is carried out.
    Before,
    /// When it was, and before the answer.
    After,
}

/// A process that is killed at its request.
#[derive(Clone, Copy, Debug)]
pub struct Kill {
    /// So many requests are answered before.
    pub left: u64,
    /// Before or after that one is carried out.
    pub when: When,
    /// The process.
    pub pid: u32,
}

impl Kill {
    /// Kill it.
    pub fn now(self) {
        let pid = rustix::process::Pid::from_raw(self.pid.try_into().unwrap()).unwrap();
        // It may have been killed by a request beside this one.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

/// See the module.
#[derive(Debug, Default)]
pub struct Faults(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    planned: Vec<(&'static str, Fault)>,
    seed: u64,
    one_in: u64,
    ignores_conditions: bool,
    kill: Option<Kill>,
    counts: BTreeMap<String, u64>,
    requests: BTreeMap<String, u64>,
}

impl Faults {
    /// Of `one_in` requests one fails from now on; none if it is 0.
    pub fn seed(&self, seed: u64, one_in: u64) {
        let mut state = self.0.lock().unwrap();
        (state.seed, state.one_in) = (seed.wrapping_mul(0x2545_f491_4f6c_dd1d) | 1, one_in);
    }

    /// The next request by this method has this fault.
    pub fn plan(&self, method: &'static str, fault: Fault) {
        self.0.lock().unwrap().planned.push((method, fault));
    }

    /// From now on it overwrites what it should only create, as some stores do.
    pub fn ignore_conditions(&self) {
        self.0.lock().unwrap().ignores_conditions = true;
    }

    /// Does it?
    pub fn ignores_conditions(&self) -> bool {
        self.0.lock().unwrap().ignores_conditions
    }

    /// Kill a process at one of its requests.
    pub fn kill(&self, kill: Kill) {
        self.0.lock().unwrap().kill = Some(kill);
    }

    /// Is it this request?
    pub fn killed(&self) -> Option<Kill> {
        let mut state = self.0.lock().unwrap();
        match &mut state.kill {
            Some(kill) if kill.left > 0 => {
                kill.left -= 1;
                None
            }
            Some(_) => state.kill.take(),
            None => None,
        }
    }

    /// How often each kind has happened.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        self.0.lock().unwrap().counts.clone()
    }

    /// How many requests came, by method; reads of a part of an object as `RANGE`.
    pub fn requests(&self, method: &str) -> u64 {
        self.0.lock().unwrap().requests.get(method).copied().unwrap_or_default()
    }

    /// What happens to a request.
    pub fn draw(&self, method: &str, is_range: bool) -> Option<Fault> {
        let mut state = self.0.lock().unwrap();
        let kind = if is_range { "RANGE" } else { method };
        *state.requests.entry(kind.to_string()).or_default() += 1;
        let fault = match state.planned.iter().position(|(of, _)| *of == method) {
            Some(at) => Some(state.planned.remove(at).1),
            None => state.drawn(),
        };
        if let Some(fault) = fault {
            *state.counts.entry(format!("{fault:?}")).or_default() += 1;
        }
        fault
    }
}

impl State {
    fn next(&mut self) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed
    }

    fn drawn(&mut self) -> Option<Fault> {
        if self.one_in == 0 || !self.next().is_multiple_of(self.one_in) {
            return None;
        }
        let at = self.next() % KINDS.len() as u64;
        Some(KINDS[usize::try_from(at).unwrap()])
    }
}
