//! The dynamic configuration: which servers are the ensemble, where they are and
//! who votes. The same text stands in a file on the volume and in the node
//! `/zookeeper/config`; its grammar is that of `QuorumPeer.QuorumServer`.

use crate::words::calls::Unclear;
use palladion_api::ids::StaticAddress;
use palladion_api::service_member::{EnsembleServer, ServerRole};
use palladion_api::zookeeper::{ServerId, ZookeeperPorts, Zxid};
use std::collections::BTreeMap;

/// Bytes of a line that are quoted.
const QUOTED: usize = 128;

/// A configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Its version: the transaction by which it came to be. Zero where a server has
    /// been given a file and has not led or followed yet.
    pub version: Zxid,
    /// Its servers.
    pub servers: BTreeMap<ServerId, Server>,
}

/// A server of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Where the others reach it: the first address, if somebody gave it several.
    pub address: StaticAddress,
    /// Port to its leader.
    pub quorum: u16,
    /// Port of elections.
    pub election: u16,
    /// Does it vote?
    pub role: ServerRole,
    /// Where clients reach it, as it stands there.
    pub client: Option<String>,
}

impl Config {
    /// Read the text of the node, which names its version.
    ///
    /// # Errors
    /// A line is none that a configuration of an ensemble without groups has.
    pub fn parse(text: &str) -> Result<Self, Unclear> {
        let mut config = Self::default();
        for line in text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')) {
            let odd = || Unclear::ConfigLine { line: line.chars().take(QUOTED).collect() };
            let (key, value) = line.split_once('=').ok_or_else(odd)?;
            let (key, value) = (key.trim(), value.trim());
            if key == "version" {
                config.version = Zxid::parse(value).map_err(|_| odd())?;
                continue;
            }
            // With groups and weights a majority is something else.
            let id = key.strip_prefix("server.").ok_or_else(odd)?;
            let id = ServerId::parse(id).map_err(|_| odd())?;
            let server = Server::parse(value).ok_or_else(odd)?;
            if config.servers.insert(id, server).is_some() {
                return Err(Unclear::TwoServers { id });
            }
        }
        Ok(config)
    }

    /// Read the text of a file, whose name tells its version.
    ///
    /// # Errors
    /// As for the text of the node.
    pub fn of_file(text: &str, version: Zxid) -> Result<Self, Unclear> {
        Self::parse(text).map(|config| Self { version, ..config })
    }

    /// The text of a file. The version is not in it: a server refuses such a file.
    pub fn file(&self) -> String {
        self.servers.iter().map(|(id, server)| server.line(*id) + "\n").collect()
    }

    /// The role of a server; `None` where it is not in the configuration.
    pub fn role(&self, id: ServerId) -> Option<ServerRole> {
        self.servers.get(&id).map(|server| server.role)
    }

    /// As the status of a member tells it.
    pub fn ensemble(&self) -> Vec<EnsembleServer> {
        let server = |(id, server): (&ServerId, &Server)| EnsembleServer {
            server_id: *id,
            address: server.address.clone(),
            role: server.role,
        };
        self.servers.iter().map(server).collect()
    }
}

impl Server {
    /// One of our own, at its member's address.
    pub fn new(address: &StaticAddress, ports: &ZookeeperPorts, role: ServerRole) -> Self {
        Self {
            address: address.clone(),
            quorum: ports.quorum,
            election: ports.election,
            role,
            client: Some(ports.client.to_string()),
        }
    }

    /// `10.96.0.11:2888:3888:participant;2181`; the role and the clients' address may
    /// be missing, the address may be an IPv6 one in brackets, and there may be several
    /// with `|` between them.
    fn parse(value: &str) -> Option<Self> {
        let (server, client) = match value.split_once(';') {
            Some((server, client)) => (server, Some(client.trim()).filter(|c| !c.is_empty())),
            None => (value, None),
        };
        let first = server.split('|').next()?;
        let last = server.rsplit('|').next()?;
        let (address, ports) = split_host(first)?;
        let mut ports = ports.split(':');
        let quorum = ports.next()?.parse().ok()?;
        let election = ports.next()?.parse().ok()?;
        // The role stands behind the last of several addresses.
        let (_, of_last) = split_host(last)?;
        let role = match of_last.split(':').nth(2) {
            None => ServerRole::Participant,
            Some(word) if word.eq_ignore_ascii_case("participant") => ServerRole::Participant,
            Some(word) if word.eq_ignore_ascii_case("observer") => ServerRole::Observer,
            Some(_) => return None,
        };
        let too_many = |ports: &str| ports.split(':').count() > 3;
        if too_many(of_last) || address.is_empty() {
            return None;
        }
        let (address, client) = (StaticAddress::new(address), client.map(str::to_string));
        Some(Self { address, quorum, election, role, client })
    }

    /// The line of this server in a file, and in a request to change it.
    pub fn line(&self, id: ServerId) -> String {
        let Self { address, quorum, election, role, client } = self;
        let role = match role {
            ServerRole::Participant => "participant",
            // What is not known must not be given a vote.
            ServerRole::Observer | ServerRole::Unknown => "observer",
        };
        let client = client.as_deref().map(|c| format!(";{c}")).unwrap_or_default();
        let host = match address.as_str() {
            v6 if v6.contains(':') => format!("[{v6}]"),
            other => other.to_string(),
        };
        format!("server.{id}={host}:{quorum}:{election}:{role}{client}")
    }
}

/// The host, and what follows after it and a colon.
fn split_host(text: &str) -> Option<(&str, &str)> {
    match text.trim().strip_prefix('[') {
        Some(bracketed) => bracketed.split_once("]:"),
        None => text.trim().split_once(':'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(number: i64) -> ServerId {
        ServerId::new(number)
    }

    /// The node of an ensemble of three, as ZooKeeper 3.9.3 shows it.
    #[test]
    fn the_node_of_an_ensemble_is_read() {
        let text = "server.1=10.96.0.11:2888:3888:participant;0.0.0.0:2181\n\
            server.2=[2001:db8::2]:2888:3888:participant;[::]:2181\n\
            server.4=10.96.0.14:2888:3888:observer;0.0.0.0:2181\nversion=100000000";
        let config = Config::parse(text).unwrap();
        assert_eq!(config.version, Zxid::new(1 << 32));
        let roles: Vec<_> = [1, 2, 3, 4].map(|n| config.role(id(n))).to_vec();
        let (votes, observes) = (Some(ServerRole::Participant), Some(ServerRole::Observer));
        assert_eq!(roles, [votes, votes, None, observes]);
        assert_eq!(config.servers[&id(2)].address, "2001:db8::2".into());
        assert_eq!(config.servers[&id(1)].client.as_deref(), Some("0.0.0.0:2181"));
    }

    #[test]
    fn a_role_may_be_missing_and_addresses_may_be_several() {
        let text = "server.1=a:2888:3888\nserver.2=b:1:2|c:3:4:observer;2181\n# x\n\n";
        let config = Config::of_file(text, Zxid::new(7)).unwrap();
        assert_eq!(config.version, Zxid::new(7));
        assert_eq!(config.role(id(1)), Some(ServerRole::Participant));
        assert_eq!(config.role(id(2)), Some(ServerRole::Observer));
        assert_eq!(config.servers[&id(2)].address, "b".into());
    }

    #[test]
    fn what_is_no_configuration_is_refused_and_quoted() {
        let lines = [
            "group.1=1:2",
            "weight.1=2",
            "server.x=a:1:2",
            "server.1=a:1",
            "server.1=a:1:2:arbiter",
            "server.1=a:1:70000",
            "server.1=:1:2",
            "server.1=a:1:2:observer:5",
            "peerType=observer",
            "version=-1",
            "nothing",
        ];
        for line in lines {
            let found = Config::parse(line);
            assert_eq!(found, Err(Unclear::ConfigLine { line: line.into() }));
        }
        let twice = Config::parse("server.1=a:1:2\nserver.1=b:1:2");
        assert_eq!(twice, Err(Unclear::TwoServers { id: id(1) }));
        let long = Config::parse(&"x".repeat(1000)).unwrap_err().to_string();
        assert!(long.len() < 300, "{long}");
    }

    fn servers() -> impl Strategy<Value = BTreeMap<ServerId, Server>> {
        let address = prop_oneof!["[0-9]{1,3}(\\.[0-9]{1,3}){3}", "2001:db8::[0-9a-f]{1,4}"];
        let role = prop_oneof![Just(ServerRole::Participant), Just(ServerRole::Observer)];
        let client = proptest::option::of("(0\\.0\\.0\\.0:)?[1-9][0-9]{0,3}");
        let server = (address, any::<u16>(), any::<u16>(), role, client).prop_map(
            |(address, quorum, election, role, client)| Server {
                address: StaticAddress::new(address),
                quorum,
                election,
                role,
                client,
            },
        );
        proptest::collection::btree_map((1_i64..=254).prop_map(ServerId::new), server, 0..7)
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(servers in servers(), version in any::<u64>()) {
            let config = Config { version: Zxid::new(version), servers };
            prop_assert_eq!(Config::of_file(&config.file(), config.version), Ok(config.clone()));
            let node = format!("{}version={}", config.file(), config.version);
            prop_assert_eq!(Config::parse(&node), Ok(config));
        }

        #[test]
        fn no_text_makes_it_panic(text in "[server.0-9=:;|\\[\\]a-z\n]{0,80}") {
            let _ = Config::parse(&text);
        }
    }
}
