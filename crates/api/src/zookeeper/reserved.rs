//! Settings of ZooKeeper that are the operator's or the agent's own, and what a
//! person sets instead. A key that ZooKeeper does not know becomes the Java
//! property `zookeeper.<key>` (`QuorumPeerConfig.parseProperties`), so that
//! settings by property are in the same list.

use crate::reserved::{JVM_ENV, Reserved};

const ADDRESSES: &str = "addresses come from the member's Service";
const PORTS: &str = "set `ports` instead";
const DIRECTORIES: &str = "all directories are on the server's only volume";
const MEMBERSHIP: &str = "the operator controls which servers are in the ensemble";
const ADMIN: &str = "the admin server shows every property of the JVM, so it is off";
const FORGETS: &str = "with it, a server that has lost its data would vote or lead";
const DURABLE: &str = "with it, a server would acknowledge what is not on its disk";
const ACCESS: &str = "the agent alone logs in as the superuser, with a password of its own";
const TLS: &str = "TLS is not supported yet";

const fn reserved(name: &'static str, instead: &'static str) -> Reserved {
    Reserved { name, instead }
}

/// Keys of `config`. One that ends with `*` is the beginning of a key. Case does not count.
pub const CONFIG: &[Reserved] = &[
    reserved("dataDir", DIRECTORIES),
    reserved("dataLogDir", DIRECTORIES),
    reserved("dynamicConfigFile", MEMBERSHIP),
    reserved("initialConfigFile", MEMBERSHIP),
    reserved("clientPort*", PORTS),
    reserved("secureClient*", TLS),
    reserved("server.*", MEMBERSHIP),
    reserved("group.*", MEMBERSHIP),
    reserved("weight.*", MEMBERSHIP),
    reserved("standaloneEnabled", MEMBERSHIP),
    reserved("reconfigEnabled", MEMBERSHIP),
    reserved("peerType", MEMBERSHIP),
    reserved("electionAlg", MEMBERSHIP),
    reserved("electionPort*", PORTS),
    reserved("oraclePath", MEMBERSHIP),
    reserved("multiAddress.*", ADDRESSES),
    reserved("quorumListenOnAllIPs", ADDRESSES),
    reserved("localSessions*", "the agent's question must be a write that a quorum takes"),
    reserved("leaderServes", "the agent of the leader could not speak with its server"),
    reserved("admin.*", ADMIN),
    reserved("skipACL", ACCESS),
    reserved("superUser", ACCESS),
    reserved("DigestAuthenticationProvider.*", ACCESS),
    reserved("enforce.auth.*", ACCESS),
    reserved("sessionRequireClientSASLAuth", ACCESS),
    reserved("quorum.auth.*", "authentication between servers is not supported yet"),
    reserved("db.*", FORGETS),
    reserved("snapshot.trust*", FORGETS),
    reserved("forceSync", DURABLE),
    reserved("ssl*", TLS),
    reserved("portUnification", TLS),
    reserved("client.portUnification", TLS),
];

/// JVM options, by their beginning.
pub const JVM_OPTIONS: &[Reserved] = &[
    reserved("-Xmx", "set `heapSize` instead"),
    reserved("-Xms", "set `heapSize` instead"),
    reserved("-Dzookeeper.", "set it in `config`, without `zookeeper.`"),
    reserved("-Dcom.sun.management.jmxremote", "JMX is open to nobody"),
    reserved("-cp", "the class path is the image's"),
    reserved("-classpath", "the class path is the image's"),
    reserved("--class-path", "the class path is the image's"),
    reserved("-XX:Flags=", "options from files are not checked"),
    reserved("-XX:VMOptionsFile=", "options from files are not checked"),
];

/// Beginnings of environment variables that the pod template, the agent or
/// Kubernetes sets, and of those by which images of ZooKeeper are told what the
/// spec says: nobody reads them here.
pub const ENV_PREFIXES: &[&str] = &["POD_", "PALLADION_", "KUBERNETES_", "ZOO_", "ZK_"];

/// Environment variables of the pod template, and those of ZooKeeper's start scripts.
const ENV: &[&str] = &[
    "NODE_NAME",
    "CPU_LIMIT",
    "MEMORY_LIMIT",
    "JVMFLAGS",
    "SERVER_JVMFLAGS",
    "CLIENT_JVMFLAGS",
    "ZOOCFG",
    "ZOOCFGDIR",
    "ZOOMAIN",
];

/// Least memory limit of a server. With a heap of 96 MiB one is about 85 MiB
/// resident (3.9.3 on Java 17); a heap of half of this leaves room.
pub const LEAST_MEMORY_MIB: u64 = 256;

/// Does a reserved name stand for this one?
fn covers(reserved: &Reserved, name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is = reserved.name.to_ascii_lowercase();
    match is.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == is,
    }
}

/// Is this key of `config` reserved?
pub fn config(name: &str) -> Option<Reserved> {
    CONFIG.iter().copied().find(|r| covers(r, name))
}

/// Can it be the name of a setting? Java's properties end a name at blanks, `=`
/// and `:`, and take `\` for the beginning of another character, so that a name
/// with one of these would be another setting.
pub fn is_setting(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(inner)
}

/// Can it be the value of a setting: one line, of which nothing is read as something else?
pub fn is_value(value: &str) -> bool {
    value.chars().all(|c| !c.is_control() && c != '\\')
}

/// Is this JVM option reserved?
pub fn jvm_option(option: &str) -> Option<Reserved> {
    JVM_OPTIONS.iter().copied().find(|r| option.starts_with(r.name))
}

/// Names of environment variables that are reserved, besides the beginnings.
pub(crate) fn env_names() -> impl Iterator<Item = &'static str> {
    ENV.iter().chain(JVM_ENV).copied()
}

/// Is this environment variable reserved?
pub fn env(name: &str) -> bool {
    env_names().any(|reserved| reserved == name)
        || ENV_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_with_which_data_could_be_lost_are_reserved() {
        for name in [
            "db.autocreate",
            "snapshot.trust.empty",
            "forceSync",
            "skipACL",
            "DigestAuthenticationProvider.superDigest",
            "server.1",
            "dataDir",
            "clientPortAddress",
            "ssl.quorum.keyStore.location",
            "sslQuorum",
            "localSessionsEnabled",
            "admin.enableServer",
        ] {
            assert!(config(name).is_some(), "{name}");
        }
        for name in ["tickTime", "snapCount", "4lw.commands.whitelist", "autopurge.purgeInterval"] {
            assert!(config(name).is_none() && is_setting(name), "{name}");
        }
        assert!(config("DATADIR").is_some(), "another spelling is no way in");
    }

    #[test]
    fn a_name_or_a_value_cannot_bring_in_another_setting() {
        for name in ["", "a b", "a=b", "a:b", "a\ndb.autocreate", "\\u0064ataDir", " dataDir"] {
            assert!(!is_setting(name), "{name:?}");
        }
        assert!(is_value("stat,ruok,conf") && is_value("jaas zk 2888"));
        assert!(!is_value("1\ndataDir=/x") && !is_value("1\\"));
    }

    #[test]
    fn options_and_variables_by_which_properties_come_in_are_reserved() {
        assert!(jvm_option("-Dzookeeper.db.autocreate=true").is_some());
        assert!(jvm_option("-Xmx1g").is_some());
        assert!(jvm_option("-XX:+UseG1GC").is_none());
        assert!(env("JVMFLAGS") && env("ZOO_MY_ID") && env("JAVA_TOOL_OPTIONS"));
        assert!(!env("TZ"));
    }
}
