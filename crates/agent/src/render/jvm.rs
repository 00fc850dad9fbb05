//! The JVM's command line: the image's own option files for the Java that is
//! there, then what this pod and this start need, then the person's options, and
//! last what authentication needs and what decides how the member enters the ring.

use super::heap::Heap;
use super::{Entry, Identity};
use crate::capabilities::{BootstrapProgress, Capabilities};
use palladion_api::server_config::Opens;
use std::path::PathBuf;

/// A machine with less memory than this should not touch its whole heap at start.
const TOUCH_FROM_MIB: u64 = 4096;

/// For so many seconds, a year, a server remembers how a repair is doing. Its own default is a day
/// from the beginning of the repair (`ActiveRepairService`): of one that takes longer it then says
/// what it says of one that never was.
const REPAIRS_REMEMBERED: u32 = 31_536_000;

/// Where things are for the JVM.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Home of the server in its image.
    pub home: PathBuf,
    /// Our configuration directory.
    pub conf: PathBuf,
    /// Root of the data volume.
    pub data_root: PathBuf,
    /// Scratch space.
    pub tmp: PathBuf,
    /// Java agents, in order, with their options.
    pub java_agents: Vec<String>,
    /// Loopback port of JMX.
    pub jmx_port: u16,
    /// Users and passwords of JMX, where it asks for one.
    pub jmx_passwords: Option<PathBuf>,
}

/// What the command line is made of.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// Options of the image's files, in order.
    pub image: &'a [String],
    /// What `auth` of the spec needs; after the person's, because a default
    /// superuser that nobody can close must not be made.
    pub auth: &'a [String],
    /// Options of the person, in order; after ours, so that they win.
    pub person: &'a [String],
    /// Which writes a replay takes; after the person's, because no other ones may come.
    pub rewind: &'a [String],
    /// When the member takes clients, where its datacenter was added to a ring: then it may be
    /// rebuilt at any time.
    pub opens: Option<Opens>,
    /// Heap.
    pub heap: Heap,
    /// Memory of the container in MiB.
    pub memory_mib: u64,
    /// CPUs of the container.
    pub cpus: u32,
}

/// Arguments of `java`.
pub fn arguments(
    options: &Options<'_>,
    layout: &Layout,
    capabilities: Capabilities,
    identity: &Identity,
) -> Vec<String> {
    let mut all = image_options(options);
    all.extend(memory(options, &all));
    all.extend(layout.java_agents.iter().map(|agent| format!("-javaagent:{agent}")));
    all.extend(server(layout, options.cpus));
    all.extend(entry(capabilities, identity, options.opens.is_some()));
    all.extend(options.person.iter().cloned());
    all.extend(options.rewind.iter().cloned());
    all.extend(options.auth.iter().cloned());
    all.extend(jmx(layout));
    all.push(auto_bootstrap(&identity.entry));
    all.push("-cp".into());
    all.push(format!("{}:{}/*", layout.conf.display(), layout.home.join("lib").display()));
    all.push("org.apache.cassandra.service.CassandraDaemon".into());
    all
}

/// The image's options without a heap size (ours follows) and, where a person
/// chooses a collector, without the image's: two collectors are refused.
fn image_options(options: &Options<'_>) -> Vec<String> {
    let chosen = options.person.iter().any(|o| is_collector(o));
    let heap = ["-Xmx", "-Xms", "-Xmn"];
    options
        .image
        .iter()
        .filter(|o| !heap.iter().any(|h| o.starts_with(h)))
        .filter(|o| !(chosen && (is_collector(o) || o.contains("CMS"))))
        .cloned()
        .collect()
}

fn is_collector(option: &str) -> bool {
    option.starts_with("-XX:+Use") && option.ends_with("GC")
}

fn memory(options: &Options<'_>, image: &[String]) -> Vec<String> {
    let Heap { total_mib, young_mib } = options.heap;
    let mut all = vec![format!("-Xms{total_mib}M"), format!("-Xmx{total_mib}M")];
    if image.iter().chain(options.person).any(|o| o == "-XX:+UseConcMarkSweepGC") {
        all.push(format!("-Xmn{young_mib}M"));
    }
    if options.memory_mib < TOUCH_FROM_MIB {
        all.push("-XX:-AlwaysPreTouch".into());
    }
    // A JVM out of memory is not a member any more; it ends and is started again.
    all.push("-XX:+ExitOnOutOfMemoryError".into());
    // A dump is as big as the heap and would fill the pod's scratch space.
    all.push("-XX:-HeapDumpOnOutOfMemoryError".into());
    all
}

fn server(layout: &Layout, cpus: u32) -> Vec<String> {
    let conf = layout.conf.display();
    let tmp = layout.tmp.display();
    vec![
        format!("-XX:ErrorFile={tmp}/hs_err_pid%p.log"),
        format!("-Djava.io.tmpdir={tmp}"),
        format!("-Dcassandra.config=file://{conf}/cassandra.yaml"),
        format!("-Dlogback.configurationFile=file://{conf}/logback.xml"),
        format!("-Dcassandra.logdir={tmp}"),
        format!("-Dcassandra.storagedir={}", layout.data_root.display()),
        "-Dcassandra-foreground=yes".into(),
        format!("-Dcassandra.jmx.local.port={}", layout.jmx_port),
        format!("-Dcassandra.available_processors={cpus}"),
        format!("-Dcassandra.parent_repair_status_expiry_seconds={REPAIRS_REMEMBERED}"),
    ]
}

/// With the file alone Cassandra lets in everybody on the loopback address. Last, because the JVM
/// takes the last of one name.
fn jmx(layout: &Layout) -> Vec<String> {
    let Some(passwords) = &layout.jmx_passwords else {
        return Vec::new();
    };
    vec![
        "-Dcom.sun.management.jmxremote.authenticate=true".into(),
        format!("-Dcom.sun.management.jmxremote.password.file={}", passwords.display()),
    ]
}

fn entry(capabilities: Capabilities, identity: &Identity, is_added: bool) -> Vec<String> {
    let reset = match capabilities.bootstrap_progress {
        BootstrapProgress::Resumed => None,
        BootstrapProgress::MustBeReset => {
            Some("-Dcassandra.reset_bootstrap_progress=true".to_string())
        }
    };
    match &identity.entry {
        // Without it a rebuild of what an earlier one has streamed, or a join, is refused.
        Entry::Plain | Entry::ResumeLeave if is_added => reset.into_iter().collect(),
        Entry::Plain | Entry::ResumeLeave => Vec::new(),
        Entry::Join | Entry::Restore { .. } => reset.into_iter().collect(),
        // Of no effect once the member has joined; the plain flag would then be refused.
        Entry::Replace { address, .. } => reset
            .into_iter()
            .chain([format!("-Dcassandra.replace_address_first_boot={address}")])
            .collect(),
    }
}

/// A member of a ring that begins with a backup bootstraps with its tokens, too. There are no rows of
/// users yet; but it gets the roles that it owns now, without which nobody can log in, to no member.
/// And a server that bootstraps refuses a token that another one has (seen of 5.0.5).
///
/// The property overrules `cassandra.yaml`, and the JVM takes the last of one name: neither an
/// image's file of options nor a spec that was accepted long ago makes a member join with nothing.
fn auto_bootstrap(entry: &Entry) -> String {
    format!("-Dcassandra.auto_bootstrap={}", !matches!(entry, Entry::ResumeLeave))
}

/// Options in a file of the image: one or more a line, `#` begins a comment.
pub fn parse_options(file: &str) -> Vec<String> {
    file.lines()
        .map(str::trim)
        .filter(|line| line.starts_with('-'))
        .flat_map(str::split_whitespace)
        .map(str::to_string)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::auth::{self, DefaultRole};
    use super::super::heap;
    use super::super::testing::a_config;
    use super::super::{Clients, Door};
    use super::*;
    use crate::capabilities;
    use palladion_api::cluster::AuthMode;
    use palladion_api::server_config::ServerConfig;

    const G1: &str =
        "# heap\n-Xmx4G\n-XX:+UseG1GC\n--add-opens java.base/java.io=ALL-UNNAMED\n#-Dx=y\n";

    fn layout() -> Layout {
        Layout {
            home: "/opt/cassandra".into(),
            conf: "/run/palladion/conf".into(),
            data_root: "/var/lib/cassandra".into(),
            tmp: "/tmp".into(),
            java_agents: vec![
                "/opt/cassandra/lib/jamm-0.4.0.jar".into(),
                "/mnt/shared/jolokia.jar=config=/run/palladion/jolokia.properties".into(),
            ],
            jmx_port: 7199,
            jmx_passwords: None,
        }
    }

    fn arguments_of(version: &str, image: &str, person: &[&str], entry: Entry) -> Vec<String> {
        arguments_with(version, image, person, &[], entry)
    }

    fn arguments_with(
        version: &str,
        image: &str,
        person: &[&str],
        auth: &[String],
        entry: Entry,
    ) -> Vec<String> {
        let image = parse_options(image);
        let person: Vec<String> = person.iter().map(|s| (*s).to_string()).collect();
        let options = Options {
            image: &image,
            auth,
            person: &person,
            rewind: &[],
            opens: None,
            heap: heap::size(2048, 2, None),
            memory_mib: 2048,
            cpus: 2,
        };
        let identity = Identity {
            clients: Clients::AsMembers,
            address: "10.96.0.11".into(),
            seeds: vec![],
            entry,
            door: Door::Open,
        };
        arguments(&options, &layout(), capabilities::of(version).unwrap(), &identity)
    }

    #[test]
    fn each_version_has_its_command_line() {
        let replace = || Entry::Replace { address: "10.96.0.12".into(), host_id: None };
        let cms = "-XX:+UseConcMarkSweepGC\n-XX:+CMSParallelRemarkEnabled\n";
        for (version, image) in [("4.0.18", cms), ("4.1.9", cms), ("5.0.5", G1)] {
            insta::assert_snapshot!(
                format!("jvm_{version}"),
                arguments_of(version, image, &[], replace()).join("\n")
            );
        }
    }

    #[test]
    fn only_joins_and_replacements_carry_flags_of_entry() {
        let plain = arguments_of("5.0.5", G1, &[], Entry::Plain).join(" ");
        assert!(!plain.contains("reset_bootstrap_progress") && !plain.contains("replace_address"));
        let join = arguments_of("5.0.5", G1, &[], Entry::Join).join(" ");
        assert!(join.contains("reset_bootstrap_progress") && !join.contains("replace_address"));
    }

    /// Also where it is open: what names its datacenter later is rebuilt as well.
    #[test]
    fn a_member_that_may_be_rebuilt_forgets_what_was_streamed_before() {
        let of = |version: &str, opens| {
            let options = Options {
                image: &[],
                auth: &[],
                person: &[],
                rewind: &[],
                opens,
                heap: heap::size(2048, 2, None),
                memory_mib: 2048,
                cpus: 2,
            };
            let entry = Entry::Plain;
            let identity = Identity {
                clients: Clients::AsMembers,
                address: "10.96.0.11".into(),
                seeds: vec![],
                entry,
                door: Door::Open,
            };
            let row = capabilities::of(version).unwrap();
            arguments(&options, &layout(), row, &identity).join(" ")
        };
        for version in ["4.1.9", "5.0.5"] {
            assert!(
                of(version, Some(Opens::WhenRebuilt)).contains("reset_bootstrap_progress=true")
            );
            assert!(!of(version, None).contains("reset_bootstrap_progress"));
        }
        assert!(!of("4.0.18", Some(Opens::WhenRebuilt)).contains("reset_bootstrap_progress"));
    }

    #[test]
    fn no_option_of_others_makes_a_member_join_without_its_data() {
        const NAME: &str = "-Dcassandra.auto_bootstrap=";
        let off = format!("{NAME}false");
        let last = |entry: Entry| {
            let all = arguments_of("5.0.5", &off, &[&off], entry);
            all.into_iter().rfind(|o| o.starts_with(NAME)).expect("the JVM takes the last one")
        };
        let replace = Entry::Replace { address: "10.96.0.12".into(), host_id: None };
        let restore = Entry::Restore { tokens: vec!["7".into()] };
        for entry in [Entry::Plain, Entry::Join, replace, restore] {
            assert_eq!(last(entry), format!("{NAME}true"));
        }
        assert_eq!(last(Entry::ResumeLeave), off, "it has its tokens and streams to others");
    }

    #[test]
    fn jmx_asks_for_a_password_whatever_others_say() {
        let asks = "-Dcom.sun.management.jmxremote.authenticate=";
        let image = parse_options(&format!("{asks}false"));
        let options = Options {
            image: &image,
            auth: &[],
            person: &[format!("{asks}false")],
            rewind: &[],
            opens: None,
            heap: heap::size(2048, 2, None),
            memory_mib: 2048,
            cpus: 2,
        };
        let identity = Identity {
            address: "10.96.0.11".into(),
            clients: Clients::AsMembers,
            seeds: vec![],
            entry: Entry::Plain,
            door: Door::Open,
        };
        let capabilities = capabilities::of("5.0.5").unwrap();
        let of = |layout: &Layout| arguments(&options, layout, capabilities, &identity);
        let last = |all: Vec<String>| all.into_iter().rfind(|o| o.starts_with(asks));
        let layout =
            Layout { jmx_passwords: Some("/run/palladion/jmx.password".into()), ..layout() };
        assert!(of(&layout).contains(
            &"-Dcom.sun.management.jmxremote.password.file=/run/palladion/jmx.password".to_string()
        ));
        assert_eq!(last(of(&layout)), Some(format!("{asks}true")));
        let without = Layout { jmx_passwords: None, ..layout };
        assert_eq!(last(of(&without)), Some(format!("{asks}false")), "as before");
    }

    #[test]
    fn a_chosen_collector_removes_the_images() {
        let all = arguments_of("5.0.5", G1, &["-XX:+UseSerialGC"], Entry::Plain);
        assert!(!all.iter().any(|o| o == "-XX:+UseG1GC"));
        assert!(all.iter().any(|o| o == "-XX:+UseSerialGC"));
        assert!(!all.iter().any(|o| o == "-Xmx4G"));
    }

    #[test]
    fn the_persons_options_come_last() {
        let all = arguments_of("5.0.5", G1, &["-Xmx300M"], Entry::Plain);
        let at = |o: &str| all.iter().position(|x| x == o).unwrap();
        assert!(at("-Xmx300M") > at("-Xmx1024M"));
    }

    #[test]
    fn nobody_brings_the_default_superuser_into_being_that_no_agent_can_close() {
        const DELAY: &str = "-Dcassandra.superuser_setup_delay_ms=";
        let password = ServerConfig { auth: Some(AuthMode::Password), ..a_config("5.0.5") };
        let none = auth::options(&password, DefaultRole::Never);
        let person = format!("{DELAY}0");
        let all = arguments_with("5.0.5", G1, &[&person], &none, Entry::Plain);
        let last = all.iter().rfind(|o| o.starts_with(DELAY)).unwrap();
        assert_eq!(*last, none[0], "the JVM takes the last one");
    }
}
