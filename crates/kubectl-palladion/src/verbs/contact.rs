//! `contact`: where clients connect to.

use crate::exit::{Exit, Trouble};
use crate::place::Where;
use crate::read::member::Member;
use crate::read::ring::Ring;
use crate::read::{items, text};
use crate::session::Session;
use crate::words::answer::Note;
use crate::words::trouble::{Hint, Said};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCandidates;
use palladion_api::labels::ports;
use palladion_api::names;
use palladion_api::server_config::{JMX_PASSWORD_FILE, JMX_USER};
use palladion_plan::workload::agent_pod::RUN_DIR;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// So many are enough for a driver to find the rest.
const MOST: usize = 3;

/// See the module.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion contact demo\n  kubectl palladion contact demo --format driver\n\nThe addresses are those of the members' Services: they work inside the Kubernetes cluster."
)]
pub struct Contact {
    /// The ring
    #[arg(add = ArgValueCandidates::new(crate::candidates::rings), value_parser = NonEmptyStringValueParser::new())]
    ring: String,
    /// For whom
    #[arg(long, value_enum, default_value_t)]
    format: Client,
    #[command(flatten)]
    at: Where,
}

/// Who wants to connect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Client {
    /// One address and port a line
    #[default]
    Text,
    /// JSON, for programs
    Json,
    /// A command line of cqlsh
    Cqlsh,
    /// nodetool of a member, as a kubectl command line
    Nodetool,
    /// A command line of cassandra-stress
    Stress,
    /// Settings of the DataStax and Apache Java driver
    Driver,
}

/// What a client needs to know.
struct Points {
    ring: String,
    namespace: String,
    datacenter: String,
    container: String,
    jmx: String,
    addresses: Vec<String>,
    members: Vec<String>,
}

impl Contact {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read, or that nobody serves.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let place = self.at.open(session).await?;
        let (object, members) =
            tokio::join!(place.ring_object(&self.ring), place.members(Some(&self.ring)));
        let (object, members) = (object?, members?);
        let points = points(&object, &members)?;
        if Ring::read(&object).client_tls == "Require" && self.format == Client::Cqlsh {
            session.note(&Note::TlsRequiredOfCqlsh { ring: self.ring.clone() });
        }
        for line in lines(&points, self.format, session.at.server()) {
            session.print_text(&line)?;
        }
        Ok(Exit::Done)
    }
}

/// Those that accept clients, one of each rack first.
pub fn serving(members: &[Member]) -> Vec<&Member> {
    let mut racks = BTreeSet::new();
    let serving = members.iter().filter(|m| m.serves());
    let (first, rest): (Vec<&Member>, Vec<&Member>) =
        serving.partition(|m| racks.insert((&m.datacenter, &m.rack)));
    first.into_iter().chain(rest).collect()
}

fn points(object: &Value, members: &[Member]) -> Result<Points, Trouble> {
    let ring = Ring::read(object);
    let serving = serving(members);
    let recorded: Vec<String> = items(object, "/status/contactPoints")
        .filter_map(Value::as_str)
        .map(str::to_string)
        .collect();
    let of_member = |m: &&Member| format!("{}:{}", m.address, ports::CQL);
    let addresses: Vec<String> = match recorded.is_empty() {
        true => serving.iter().take(MOST).map(of_member).collect(),
        false => recorded,
    };
    if addresses.is_empty() {
        let said = Said::NobodyServes { ring: ring.name.clone() };
        let hint = Hint::StatusOf { ring: ring.name };
        return Err(Trouble::new(Exit::NotWell, said).hint(hint));
    }
    Ok(Points {
        container: ring.container(),
        jmx: of_jmx(object),
        ring: text(object, "/metadata/name"),
        namespace: ring.namespace,
        datacenter: ring.datacenter,
        addresses,
        members: serving.iter().map(|m| m.name.clone()).collect(),
    })
}

/// What nodetool needs to get in: servers beside which others run ask for a password.
fn of_jmx(object: &Value) -> String {
    match items(object, "/spec/sidecars").next() {
        Some(_) => format!(" -u {JMX_USER} -pwf {RUN_DIR}/{JMX_PASSWORD_FILE}"),
        None => String::new(),
    }
}

fn host(address: &str) -> &str {
    address.rsplit_once(':').map_or(address, |(host, _)| host)
}

fn lines(points: &Points, client: Client, server: &str) -> Vec<String> {
    let Points { ring, namespace, datacenter, container, jmx, addresses, members } = points;
    let hosts: Vec<&str> = addresses.iter().map(|a| host(a)).collect();
    let first = hosts.first().copied().unwrap_or_default();
    match client {
        Client::Text => addresses.clone(),
        Client::Json => {
            let service = format!("{}.{namespace}.svc", names::client_service(ring));
            let data = json!({
                "ring": ring,
                "namespace": namespace,
                "datacenter": datacenter,
                "contactPoints": addresses,
                "service": service,
                "port": ports::CQL,
            });
            vec![serde_json::to_string_pretty(&data).unwrap_or_default()]
        }
        Client::Cqlsh => vec![format!("cqlsh {first} {}", ports::CQL)],
        Client::Nodetool => {
            let member = members.first().map_or("MEMBER", String::as_str);
            let place = format!("-n {namespace}{server} {member} -c {container}");
            vec![format!("kubectl exec {place} -- nodetool{jmx} status")]
        }
        Client::Stress => vec![format!(
            "cassandra-stress write n=100000 -node {} -port native={}",
            hosts.join(","),
            ports::CQL
        )],
        Client::Driver => {
            let points: Vec<String> = addresses.iter().map(|a| format!("\"{a}\"")).collect();
            vec![
                format!("datastax-java-driver.basic.contact-points = [ {} ]", points.join(", ")),
                format!(
                    "datastax-java-driver.basic.load-balancing-policy.local-datacenter = \"{datacenter}\""
                ),
            ]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodetool_gets_the_password_where_servers_ask_for_one() {
        let ring = |sidecars: Value| json!({ "spec": { "sidecars": sidecars } });
        let asks = of_jmx(&ring(json!([{ "name": "prober" }])));
        assert_eq!(asks, " -u palladion -pwf /run/palladion/jmx.password");
        assert_eq!(of_jmx(&ring(json!([]))), "");
        assert_eq!(of_jmx(&json!({ "spec": {} })), "");
    }
}
