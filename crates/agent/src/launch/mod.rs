//! From a decision to start to a command line for init: reads the operator's
//! configuration, writes the rendered files.

mod fits;

pub use fits::fits;

use crate::access::roles;
use crate::capabilities::{self, Capabilities};
use crate::cdc;
use crate::certificate;
use crate::cql;
use crate::init::protocol::Launch;
use crate::issued::{Certificates, Reads};
use crate::launch_record::LaunchRecord;
use crate::management::Credentials;
use crate::render::auth::{self, AgentsSecret};
use crate::render::jolokia::Replays;
use crate::render::rewind::Rewind;
use crate::render::{
    Door, Identity, Local, archiving, cassandra_yaml, heap, jolokia, jvm, logback, rackdc, rewind,
    scylla,
};
use crate::seal::Keys;
use crate::settings::Settings;
use crate::volume::Volume;
use crate::volume::durable::write_secret;
use crate::volume::roles::Roles;
use crate::words::calls::Version;
use crate::words::files::{Doing, Missing};
use crate::words::start::Waiting;
use anyhow::{Context, Result, bail};
use palladion_agent_core::java;
use palladion_api::cluster::Mode;
use palladion_api::labels::ports;
use palladion_api::runtime::RuntimeSettings;
use palladion_api::server_config::{
    AGENTS_FOLDER, ClientEncryption, JMX_EXPORTER_FILE, JMX_PASSWORD_FILE, JMX_USER, JmxAccess,
    SERVER_CONFIG_FILE, SUPERUSER_FOLDER, ServerConfig,
};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The operator's configuration as it is mounted, and its hash.
#[derive(Clone, Debug)]
pub struct Mounted {
    /// What it says.
    pub config: ServerConfig,
    /// SHA-256 of the mounted files, shortened to 16 hexadecimal digits.
    pub hash: String,
}

/// Read the mounted configuration.
pub fn mounted(settings: &Settings) -> Result<Mounted> {
    let path = settings.config_file(SERVER_CONFIG_FILE);
    let text = fs::read(&path).with_context(|| Doing::Read { path: path.display().to_string() })?;
    let config: ServerConfig = serde_json::from_slice(&text)
        .with_context(|| Doing::Parse { path: path.display().to_string() })?;
    let mut hasher = Sha256::new();
    hasher.update(&text);
    if config.jmx_exporter {
        let path = settings.config_file(JMX_EXPORTER_FILE);
        hasher.update(
            fs::read(&path).with_context(|| Doing::Read { path: path.display().to_string() })?,
        );
    }
    let hash = hasher.finalize().iter().take(8).map(|b| format!("{b:02x}")).collect();
    Ok(Mounted { config, hash })
}

/// How a server is started.
pub struct Prepared {
    /// For init.
    pub launch: Launch,
    /// For the agent, also one that comes later.
    pub record: LaunchRecord,
    /// What opens the door of a sealed server, for this agent alone.
    pub keys: Option<Keys>,
}

/// Write the files and say how to start the server.
pub fn prepare(
    settings: &Settings,
    (volume, noted): (&Volume, Roles),
    issued: &mut Certificates,
    mounted: &Mounted,
    (identity, rewind): (&Identity, Option<&Rewind>),
) -> Result<Prepared> {
    let conf = settings.conf_dir();
    fs::create_dir_all(&conf)
        .with_context(|| Doing::CreateDirectory { path: conf.display().to_string() })?;
    fs::create_dir_all(&settings.pod.tmp_dir).with_context(|| Doing::CreateDirectory {
        path: settings.pod.tmp_dir.display().to_string(),
    })?;
    // No server is started that would take clients, or speak to other members, otherwise.
    match mounted.config.client_encryption() {
        ClientEncryption::OfSecret => certificate::stand_ready(settings, volume)?,
        ClientEncryption::OfOperator | ClientEncryption::Plain | ClientEncryption::ByHand => {}
    }
    issued.place(&mounted.config, volume, &settings.tls_dir(), Reads::AtStart)?;
    let tag = uuid::Uuid::new_v4().to_string();
    write(&conf.join("cassandra-rackdc.properties"), &rackdc::render(&mounted.config))?;
    let keys = match identity.door {
        Door::Open | Door::Closed | Door::AwaitsRebuild => None,
        Door::Sealed => {
            let capabilities = capabilities_of(&mounted.config)?;
            Some(Keys::make(&settings.tls_dir(), &settings.pod.name, capabilities, &tag)?)
        }
    };
    write_archiving(settings, volume, (&mounted.config, identity.door), rewind)?;
    prepare_cdc(volume, &mounted.config)?;
    match rewind {
        None => write_server_yaml(settings, mounted, identity)?,
        // Or it would hand to readers, as changes of this ring, what is read again of the archive:
        // of all members, all tables, and of after the time that is gone back to.
        Some(_) => write_server_yaml(settings, &without_cdc(mounted), identity)?,
    }
    let (program, arguments, credentials) = match mounted.config.mode {
        Mode::Cassandra => cassandra(settings, &mounted.config, (identity, rewind), noted)?,
        Mode::Scylla => {
            let arguments = scylla::arguments(
                &mounted.config,
                &local(settings, &mounted.config),
                identity,
                &conf,
            );
            (settings.scylla.clone(), arguments, None)
        }
    };
    let tmp = settings.pod.tmp_dir.display().to_string();
    let environment = BTreeMap::from([
        ("HOME".to_string(), tmp.clone()),
        ("TMPDIR".to_string(), tmp),
        ("CASSANDRA_CONF".to_string(), conf.display().to_string()),
        ("SCYLLA_CONF".to_string(), conf.display().to_string()),
    ]);
    let launch = Launch {
        tag: tag.clone(),
        program,
        arguments,
        environment,
        directory: settings.pod.tmp_dir.clone(),
    };
    let record = LaunchRecord {
        tag,
        config_hash: mounted.hash.clone(),
        seeds: identity.seeds.clone(),
        runtime: RuntimeSettings::default(),
        runtime_before: None,
        sealed: keys.is_some(),
        closed: identity.door == Door::Closed,
        awaits_rebuild: identity.door == Door::AwaitsRebuild,
        was_open: false,
        rewound: rewind.map(|rewind| rewind.to),
        client_address: identity.clients.address(settings.pod_ip),
        credentials,
    };
    Ok(Prepared { launch, record, keys })
}

fn without_cdc(mounted: &Mounted) -> Mounted {
    let config = ServerConfig { cdc: None, ..mounted.config.clone() };
    Mounted { config, hash: mounted.hash.clone() }
}

/// The directory for readers of changes. What is left in it of earlier servers keeps nobody from
/// starting.
fn prepare_cdc(volume: &Volume, config: &ServerConfig) -> Result<()> {
    if config.cdc.is_none() {
        return Ok(());
    }
    let directory = volume.cdc();
    volume.note_changes()?;
    cdc::prepare(&directory)?;
    let (log, part) = (volume.commit_log(), volume.cdc_index());
    if let Err(error) = cdc::settle(&directory, &log, &part, cdc::Rest::Starts) {
        let error = format!("{error:#}");
        tracing::warn!(error, "what earlier servers left to readers of changes cannot be settled");
    }
    Ok(())
}

/// Write how full segments of the commit log are kept, or which writes the server takes of those
/// that it is given. A start that does neither has no such file, whatever an earlier one had.
fn write_archiving(
    settings: &Settings,
    volume: &Volume,
    (config, door): (&ServerConfig, Door),
    rewind: Option<&Rewind>,
) -> Result<()> {
    let path = settings.conf_dir().join(rewind::FILE);
    let agent =
        std::env::current_exe().context(Doing::Resolve { path: "/proc/self/exe".into() })?;
    let links = volume.archive().links;
    let text = rewind
        .map(rewind::properties)
        .or_else(|| archiving::properties((config, door), &agent, &links));
    match text {
        Some(text) => write(&path, &text),
        None if path.exists() => fs::remove_file(&path)
            .with_context(|| Doing::Remove { path: path.display().to_string() }),
        None => Ok(()),
    }
}

/// Write `cassandra.yaml` or `scylla.yaml`; also for seeds that change while the server runs.
pub fn write_server_yaml(
    settings: &Settings,
    mounted: &Mounted,
    identity: &Identity,
) -> Result<()> {
    let config = &mounted.config;
    let local = local(settings, config);
    match config.mode {
        Mode::Cassandra => {
            let capabilities = capabilities_of(config)?;
            let text = cassandra_yaml::render(config, capabilities, &local, identity);
            write(&settings.conf_dir().join("cassandra.yaml"), &text)
        }
        Mode::Scylla => {
            let text = scylla::render(config, &local, identity, settings.scylla_api_address);
            write(&settings.conf_dir().join("scylla.yaml"), &text)
        }
    }
}

fn local(settings: &Settings, config: &ServerConfig) -> Local {
    Local {
        pod_ip: settings.pod_ip,
        cpus: settings.cpu_limit.max(1),
        memory_mib: settings.memory_limit,
        data_root: settings.data_root(config.mode),
        tls_dir: settings.tls_dir(),
    }
}

fn capabilities_of(config: &ServerConfig) -> Result<Capabilities> {
    let found = capabilities::of(&config.version);
    found.with_context(|| Version::Unknown { version: config.version.clone() })
}

type Command = (PathBuf, Vec<String>, Option<Credentials>);

fn cassandra(
    settings: &Settings,
    config: &ServerConfig,
    (identity, rewind): (&Identity, Option<&Rewind>),
    noted: Roles,
) -> Result<Command> {
    let conf = settings.conf_dir();
    let capabilities = capabilities_of(config)?;
    write(&conf.join("logback.xml"), &logback::file(config))?;
    let policy = settings.pod.run_dir.join("jolokia-policy.xml");
    let replays = if rewind.is_some() { Replays::Allowed } else { Replays::Refused };
    write(&policy, &jolokia::policy(replays))?;
    let credentials = Credentials::random();
    let properties = settings.pod.run_dir.join("jolokia.properties");
    write_secret(
        &properties,
        jolokia::properties(settings.jolokia_address, &credentials, &policy).as_bytes(),
    )?;
    let java = java::program(settings.pod.java_home.as_deref());
    let image = image_options(&settings.image_conf(), java::major(&java)?)?;
    let secret = agents_secret(&settings.secrets_dir);
    let auth = auth::options(config, auth::default_role(identity, noted, secret));
    let rewind: Vec<String> = rewind.map(rewind::option).into_iter().collect();
    let options = jvm::Options {
        rewind: &rewind,
        opens: config.opens,
        image: &image,
        auth: &auth,
        person: &config.jvm_options,
        heap: heap::size(settings.memory_limit, settings.cpu_limit, config.heap_mib),
        memory_mib: settings.memory_limit,
        cpus: settings.cpu_limit.max(1),
    };
    let layout = jvm::Layout {
        home: settings.cassandra_home.clone(),
        conf,
        data_root: settings.data_root(config.mode),
        tmp: settings.pod.tmp_dir.clone(),
        java_agents: java_agents(settings, config, &properties)?,
        jmx_port: settings.jmx_port,
        jmx_passwords: jmx_passwords(settings, config)?,
    };
    Ok((java, jvm::arguments(&options, &layout, capabilities, identity), Some(credentials)))
}

/// Users and passwords of JMX: one, new at each start, in a directory that no other container of
/// the pod has. `nodetool` reads the same file.
fn jmx_passwords(settings: &Settings, config: &ServerConfig) -> Result<Option<PathBuf>> {
    match config.jmx {
        None => Ok(None),
        Some(JmxAccess::Password) => {
            let path = settings.pod.run_dir.join(JMX_PASSWORD_FILE);
            let password = Credentials::random().password;
            write_secret(&path, format!("{JMX_USER} {password}\n").as_bytes())?;
            Ok(Some(path))
        }
    }
}

/// What a sealed start waits for: the Secrets with the users that the agent is to make.
pub fn seal_waits(secrets: &Path) -> Option<Waiting> {
    let ours = cql::Credentials::mounted(secrets, AGENTS_FOLDER);
    let people = cql::Credentials::mounted(secrets, SUPERUSER_FOLDER);
    match (&ours, &people) {
        (None, _) => Some(Waiting::NoAgentsSecret),
        (Some(_), None) => Some(Waiting::NoSuperuserSecret),
        (Some(_), Some(_)) => {
            roles::is_named(ours.as_ref(), people.as_ref()).then_some(Waiting::NamesDefault)
        }
    }
}

fn agents_secret(secrets: &Path) -> AgentsSecret {
    let ours = cql::Credentials::mounted(secrets, AGENTS_FOLDER);
    let people = cql::Credentials::mounted(secrets, SUPERUSER_FOLDER);
    match ours {
        None => AgentsSecret::Missing,
        Some(_) if roles::is_named(ours.as_ref(), people.as_ref()) => AgentsSecret::NamesDefault,
        Some(_) => AgentsSecret::Mounted,
    }
}

/// `jvm-server.options`, then the file for this Java, as the image's own start script reads them.
fn image_options(conf: &Path, java: u32) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for name in ["jvm-server.options".to_string(), format!("jvm{java}-server.options")] {
        let path = conf.join(name);
        match fs::read_to_string(&path) {
            Ok(text) => all.extend(jvm::parse_options(&text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                tracing::warn!(path = %path.display(), "the image has no JVM option file of this name");
            }
            Err(error) => {
                return Err(error)
                    .with_context(|| Doing::Read { path: path.display().to_string() });
            }
        }
    }
    Ok(all)
}

fn java_agents(
    settings: &Settings,
    config: &ServerConfig,
    properties: &Path,
) -> Result<Vec<String>> {
    let mut all = vec![jamm(&settings.cassandra_home.join("lib"))?.display().to_string()];
    let jolokia = settings.shared_dir.join("jolokia.jar");
    if !jolokia.exists() {
        bail!(Missing::Jolokia { path: jolokia.display().to_string() });
    }
    all.push(format!("{}=config={}", jolokia.display(), properties.display()));
    if config.jmx_exporter {
        let jar = settings.shared_dir.join("jmx_prometheus_javaagent.jar");
        let file = settings.config_file(JMX_EXPORTER_FILE);
        all.push(format!("{}={}:{}", jar.display(), ports::PROMETHEUS, file.display()));
    }
    Ok(all)
}

fn jamm(lib: &Path) -> Result<PathBuf> {
    let entries =
        fs::read_dir(lib).with_context(|| Doing::List { path: lib.display().to_string() })?;
    let is_jamm = |path: &PathBuf| {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        name.starts_with("jamm-") && name.ends_with(".jar")
    };
    entries
        .flatten()
        .map(|e| e.path())
        .find(is_jamm)
        .with_context(|| Missing::Jamm { path: lib.display().to_string() })
}

/// In one go: the server reads its file again when seeds change.
fn write(path: &Path, text: &str) -> Result<()> {
    let part = path.with_extension("part");
    fs::write(&part, text).with_context(|| Doing::Write { path: part.display().to_string() })?;
    fs::rename(&part, path).with_context(|| Doing::Rename {
        from: part.display().to_string(),
        to: path.display().to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a pod with these users in the two Secrets.
    fn of<T>(users: &[(&str, &str)], what: impl FnOnce(&Path) -> T) -> T {
        let secrets = tempfile::tempdir().unwrap();
        for (folder, user) in users {
            let folder = secrets.path().join(folder);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("username"), user).unwrap();
            fs::write(folder.join("password"), "p").unwrap();
        }
        what(secrets.path())
    }

    #[test]
    fn no_server_makes_the_default_superuser_where_nobody_closes_it() {
        let (agents, people) = (AGENTS_FOLDER, SUPERUSER_FOLDER);
        let secret = |users: &[(&str, &str)]| of(users, agents_secret);
        assert_eq!(secret(&[(agents, "palladion")]), AgentsSecret::Mounted);
        assert_eq!(secret(&[(agents, "palladion"), (people, "admin")]), AgentsSecret::Mounted);
        assert_eq!(secret(&[]), AgentsSecret::Missing);
        assert_eq!(secret(&[(people, "admin")]), AgentsSecret::Missing);
        for users in [
            [(agents, "cassandra"), (people, "admin")],
            [(agents, "palladion"), (people, "cassandra")],
        ] {
            assert_eq!(secret(&users), AgentsSecret::NamesDefault);
        }
    }

    #[test]
    fn a_sealed_start_waits_for_both_users_that_are_to_be_made() {
        let (agents, people) = (AGENTS_FOLDER, SUPERUSER_FOLDER);
        let waits = |users: &[(&str, &str)]| of(users, seal_waits);
        assert_eq!(waits(&[]), Some(Waiting::NoAgentsSecret));
        assert_eq!(waits(&[(people, "admin")]), Some(Waiting::NoAgentsSecret));
        assert_eq!(waits(&[(agents, "palladion")]), Some(Waiting::NoSuperuserSecret));
        let default = [(agents, "palladion"), (people, "cassandra")];
        assert_eq!(waits(&default), Some(Waiting::NamesDefault));
        assert_eq!(waits(&[(agents, "palladion"), (people, "admin")]), None);
    }
}
