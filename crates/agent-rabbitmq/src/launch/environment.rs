//! The environment by which RabbitMQ's start script is told what a configuration file
//! cannot say: its name, its directories, the flags of a joiner. Variables of the image or
//! of a user by which a node would start otherwise are refused, not overridden: somebody
//! meant them.

use crate::decide::{Entry, LeftOver};
use crate::words::files::Odd;
use anyhow::{Result, bail};
use palladion_api::rabbitmq::{NodeName, RabbitmqServerConfig};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// Name of the node.
const NAME: &str = "RABBITMQ_NODENAME";
/// A variable that is not set is read without it as well (`rabbit_env:get_prefixed_env_var`).
const PREFIX: &str = "RABBITMQ_";
/// Variables that must not be set: by them a node would have another name, another cookie or
/// other data, find peers, or run code that nobody has checked. Images set some that say
/// where things are in them; those are overridden.
const REFUSED: [&str; 18] = [
    "RABBITMQ_ERLANG_COOKIE",
    NAME,
    "RABBITMQ_NODE_IP_ADDRESS",
    "RABBITMQ_NODE_ONLY",
    "RABBITMQ_FEATURE_FLAGS",
    "RABBITMQ_MNESIA_DIR",
    "RABBITMQ_QUORUM_DIR",
    "RABBITMQ_STREAM_DIR",
    "RABBITMQ_ENABLED_PLUGINS",
    "RABBITMQ_FEATURE_FLAGS_FILE",
    "RABBITMQ_DEFAULT_USER",
    "RABBITMQ_DEFINITIONS_FILE",
    "RABBITMQ_SERVER_ERL_ARGS",
    "RABBITMQ_CTL_ERL_ARGS",
    "RABBITMQ_ADVANCED_CONFIG_FILE",
    "ERL_FLAGS",
    "ERL_AFLAGS",
    "ERL_ZFLAGS",
];

/// Where things are.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The node.
    pub node: &'a NodeName,
    /// Its data, and the home of its user.
    pub data: &'a Path,
    /// `rabbitmq.conf`.
    pub conf: &'a Path,
    /// The file of the plugins.
    pub plugins: &'a Path,
    /// In memory.
    pub run: &'a Path,
    /// Scratch space.
    pub tmp: &'a Path,
}

/// Refuse an environment by which a node would start otherwise than meant. Its own name may
/// be there: by it what a user types in the container finds the node.
///
/// # Errors
/// A variable is set that must not be.
pub fn check(
    environment: impl Iterator<Item = (OsString, OsString)>,
    node: &NodeName,
) -> Result<()> {
    for (name, value) in environment {
        let is = |known: &str| {
            name == known || known.strip_prefix(PREFIX).is_some_and(|bare| name == bare)
        };
        let is_own = is(NAME) && value == node.as_str();
        let refused = REFUSED.iter().any(|refused| is(refused));
        if refused && !value.is_empty() && !is_own {
            bail!(Odd::Variable { name: name.to_string_lossy().into() });
        }
    }
    Ok(())
}

/// What is added to the environment of the container.
pub fn environment(
    place: &Place<'_>,
    config: &RabbitmqServerConfig,
    entry: &Entry,
) -> BTreeMap<String, String> {
    let shown = |path: &Path| path.display().to_string();
    let none = |name: &str| shown(&place.run.join(name));
    let mut all: Vec<(&str, String)> = vec![
        ("HOME", shown(place.data)),
        ("LANG", "C.UTF-8".into()),
        (NAME, place.node.to_string()),
        ("RABBITMQ_USE_LONGNAME", "true".into()),
        ("RABBITMQ_MNESIA_BASE", shown(place.data)),
        ("RABBITMQ_CONFIG_FILE", shown(place.conf)),
        ("RABBITMQ_ENABLED_PLUGINS_FILE", shown(place.plugins)),
        ("RABBITMQ_GENERATED_CONFIG_DIR", shown(&place.run.join("generated"))),
        // Files of the image that nobody has checked: there are none.
        ("RABBITMQ_ADVANCED_CONFIG_FILE", none("no-advanced.config")),
        ("RABBITMQ_CONFIG_FILES", none("no-conf.d")),
        ("RABBITMQ_CONF_ENV_FILE", none("no-rabbitmq-env.conf")),
        ("RABBITMQ_DIST_PORT", config.ports.distribution.to_string()),
        ("RABBITMQ_PID_FILE", shown(&place.run.join("rabbitmq.pid"))),
        ("RABBITMQ_LOG_BASE", shown(place.tmp)),
        ("RABBITMQ_LOGS", "-".into()),
        ("ERL_CRASH_DUMP", shown(&place.tmp.join("erl_crash.dump"))),
        // With these the script becomes the virtual machine, instead of waiting for one that
        // it starts: a signal reaches the node, and no node outlives its script.
        ("RABBITMQ_ALLOW_INPUT", "true".into()),
        ("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", "-noinput".into()),
    ];
    if let Entry::Joiner { flags, left_over: LeftOver::Removed, .. } = entry {
        // Exactly these: a node with others could not join. An empty list is one, too.
        all.push(("RABBITMQ_FEATURE_FLAGS", flags.join(",")));
    }
    all.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::config;
    use super::*;

    fn of(entry: &Entry) -> BTreeMap<String, String> {
        let node = NodeName::new("rabbit@r-0.r-rmq-nodes.x.svc.cluster.local");
        let place = Place {
            node: &node,
            data: Path::new("/var/lib/rabbitmq"),
            conf: Path::new("/palladion/conf/rabbitmq.conf"),
            plugins: Path::new("/palladion/conf/enabled_plugins"),
            run: Path::new("/run/palladion"),
            tmp: Path::new("/tmp"),
        };
        environment(&place, &config(), entry)
    }

    #[test]
    fn the_environment_of_a_member() {
        let lines: Vec<String> =
            of(&Entry::Plain).into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn a_joiner_has_the_flags_of_its_cluster_and_nobody_else_is_told_any() {
        let flags = vec!["quorum_queue".to_string(), "stream_queue".to_string()];
        let joiner = |left_over| {
            let flags = flags.clone();
            of(&Entry::Joiner { nodes: Vec::new(), flags, left_over })
        };
        let kept = joiner(LeftOver::Kept);
        assert!(!kept.contains_key("RABBITMQ_FEATURE_FLAGS"), "it has its own");
        let joiner = joiner(LeftOver::Removed);
        assert_eq!(joiner["RABBITMQ_FEATURE_FLAGS"], "quorum_queue,stream_queue");
        assert!(!of(&Entry::Plain).contains_key("RABBITMQ_FEATURE_FLAGS"));
        assert!(!of(&Entry::First).contains_key("RABBITMQ_FEATURE_FLAGS"));
    }

    #[test]
    fn variables_by_which_a_node_would_start_otherwise_are_refused() {
        let own = NodeName::new("rabbit@a");
        let with = |name: &str, value: &str| check([(name.into(), value.into())].into_iter(), &own);
        assert!(with("RABBITMQ_NODENAME", "rabbit@b").is_err());
        assert!(with("RABBITMQ_NODENAME", "rabbit@a").is_ok());
        assert!(with("RABBITMQ_ERLANG_COOKIE", "x").is_err());
        assert!(with("ERL_FLAGS", "-pa /tmp").is_err());
        assert!(with("ERL_FLAGS", "").is_ok());
        for name in ["STREAM_DIR", "ENABLED_PLUGINS", "FEATURE_FLAGS_FILE", "DEFAULT_USER"] {
            assert!(with(name, "x").is_err(), "{name}");
            assert!(with(&format!("RABBITMQ_{name}"), "x").is_err(), "{name}");
        }
        assert!(with("NODENAME", "rabbit@b").is_err() && with("NODENAME", "rabbit@a").is_ok());
        // The stock image says where things are.
        assert!(with("RABBITMQ_DATA_DIR", "/var/lib/rabbitmq").is_ok());
        assert!(with("TZ", "UTC").is_ok());
    }
}
