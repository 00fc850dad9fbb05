//! The filter rules and queues behind network faults, in one namespace.

use std::process::Command;

use anyhow::{Result, bail};

use super::Slow;
use crate::command::{command, run};

/// The chain that all our rules are in, so that healing is removing it.
const CHAIN: &str = "PALLADION-FAULT";

/// What happens to packets from or to a range of addresses.
#[derive(Debug)]
pub enum Rule {
    /// They vanish.
    Drop(String),
    /// Those of this TCP port vanish, whichever end has it.
    DropPort(u16),
    /// They pass.
    Accept(String),
    /// This share of all packets vanishes, in percent.
    Lose(u8),
}

/// An interface whose outgoing packets can be held up.
pub struct Queue {
    /// The words that enter its namespace.
    pub entry: Vec<String>,
    /// Its name there.
    pub interface: String,
}

/// A namespace and the interface at which its traffic is filtered.
pub struct Place {
    /// The words that enter the namespace.
    pub entry: Vec<String>,
    /// The interface's name there.
    pub interface: &'static str,
}

impl Place {
    /// Adds rules for both directions. Incoming packets are met before, and
    /// outgoing ones after, everything that Services do to them. Earlier rules
    /// of ours go.
    pub fn apply(&self, rules: &[Rule]) -> Result<()> {
        for (table, hook, interface, side) in
            [("raw", "PREROUTING", "-i", "-s"), ("mangle", "POSTROUTING", "-o", "-d")]
        {
            if self.iptables(table, &["-N", CHAIN]).is_ok() {
                self.iptables(table, &["-I", hook, interface, self.interface, "-j", CHAIN])?;
            }
            self.iptables(table, &["-F", CHAIN])?;
            for rule in rules {
                match rule {
                    Rule::Drop(range) => {
                        self.iptables(table, &["-A", CHAIN, side, range, "-j", "DROP"])?
                    }
                    Rule::DropPort(port) => {
                        let port = port.to_string();
                        for end in ["--dport", "--sport"] {
                            let words = ["-A", CHAIN, "-p", "tcp", end, &port, "-j", "DROP"];
                            self.iptables(table, &words)?;
                        }
                    }
                    Rule::Accept(range) => {
                        self.iptables(table, &["-A", CHAIN, side, range, "-j", "ACCEPT"])?
                    }
                    Rule::Lose(percent) => {
                        let share = format!("{:.2}", f32::from(*percent) / 100.0);
                        let random =
                            ["-m", "statistic", "--mode", "random", "--probability", &share];
                        self.iptables(
                            table,
                            &[&["-A", CHAIN][..], &random, &["-j", "DROP"]].concat(),
                        )?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Are rules of ours in force?
    pub fn has_rules(&self) -> bool {
        self.iptables("raw", &["-S", CHAIN]).is_ok()
    }

    /// A place without our rules is fine.
    pub fn clear(&self) -> Result<()> {
        for (table, hook, interface) in
            [("raw", "PREROUTING", "-i"), ("mangle", "POSTROUTING", "-o")]
        {
            if self.iptables(table, &["-D", hook, interface, self.interface, "-j", CHAIN]).is_ok() {
                self.iptables(table, &["-F", CHAIN])?;
                self.iptables(table, &["-X", CHAIN])?;
            }
        }
        Ok(())
    }

    fn iptables(&self, table: &str, words: &[&str]) -> Result<()> {
        let words = [&["-w", "-t", table], words].concat();
        run(&mut enter(&self.entry, "iptables", &words)).map(drop)
    }
}

/// Makes a place slow in the way that was asked for.
pub fn make_slow(place: &Place, queues: &[Queue], slow: Slow) -> Result<()> {
    let queue = match slow {
        Slow::LossPercent(percent) => return place.apply(&[Rule::Lose(percent)]),
        Slow::LatencyMs(delay) => format!("netem delay {delay}ms"),
        // Large enough a burst for one packet of any size, small enough to bite.
        Slow::RateKbit(rate) => format!("tbf rate {rate}kbit burst 64kb latency 400ms"),
    };
    for end in queues {
        let words = format!("qdisc replace dev {} root {queue}", end.interface);
        let words: Vec<&str> = words.split(' ').collect();
        if let Err(error) = run(&mut enter(&end.entry, "tc", &words)) {
            if error.to_string().contains("qdisc kind is unknown") {
                bail!(
                    "this kernel cannot do that: it has no {:?} queue; use Slow::RateKbit or Slow::LossPercent",
                    queue.split(' ').next().unwrap_or_default()
                );
            }
            return Err(error);
        }
    }
    Ok(())
}

/// An interface without a queue of ours is fine.
pub fn no_queue(queue: &Queue) {
    let words = ["qdisc", "del", "dev", &queue.interface, "root"];
    let _ = run(&mut enter(&queue.entry, "tc", &words));
}

/// A command run inside a namespace.
pub fn enter(entry: &[String], program: &str, words: &[&str]) -> Command {
    let mut entered = command(&entry[0], &entry[1..]);
    entered.arg(program).args(words);
    entered
}
