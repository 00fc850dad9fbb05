//! Whether a node's kubelet serves, starts, or has ended.

use std::fs;

use anyhow::Result;

use super::Part;
use crate::config::Node;
use crate::process::Record;
use crate::site::Site;

/// Where every kubelet listens, in the node's own network.
const PORT: u16 = 10250;
/// How the kernel writes that a socket listens.
const LISTENS: &str = "0A";

/// What a kubelet is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It takes requests.
    Serving,
    /// It runs and takes no requests yet.
    Starting,
    /// It does not run.
    Ended,
}

/// Looks at the kubelet's process and its sockets.
pub fn state(site: &Site, node: Node) -> Result<State> {
    let record = Record::read(&site.records(), &Part::Kubelet.record(node))?;
    let Some(record) = record.filter(Record::is_running) else {
        return Ok(State::Ended);
    };
    let listens = ["tcp", "tcp6"].iter().any(|table| {
        // It may have ended since.
        let table = fs::read_to_string(format!("/proc/{}/net/{table}", record.pid));
        table.is_ok_and(|table| listens_at(&table, PORT))
    });
    Ok(if listens { State::Serving } else { State::Starting })
}

/// Reads a socket table of the kernel (proc(5), `/proc/net/tcp`).
fn listens_at(table: &str, port: u16) -> bool {
    let port = format!(":{port:04X}");
    table.lines().skip(1).any(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let local = fields.next().unwrap_or_default();
        let state = fields.nth(1).unwrap_or_default();
        local.ends_with(&port) && state == LISTENS
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "  sl  local_address rem_address   st tx_queue rx_queue\n   \
         0: 0100007F:2808 00000000:0000 0A 00000000:00000000\n   \
         1: 0B01570A:280A 00000000:0000 0A 00000000:00000000\n   \
         2: 0B01570A:C350 0101570A:192B 01 00000000:00000000\n";

    #[test]
    fn a_listening_socket_is_found_and_a_connected_one_is_none() {
        assert!(listens_at(TABLE, 10250));
        assert!(listens_at(TABLE, 10248));
        assert!(!listens_at(TABLE, 0xC350));
        assert!(!listens_at(TABLE, 6443));
        assert!(!listens_at("", 10250));
    }
}
