//! The command line of the server. What the start scripts of ZooKeeper do with
//! variables of the environment is done here in the open: the scripts would take
//! options from variables and files that nobody has checked.

use super::Password;
use anyhow::Result;
use palladion_agent_core::volume::durable::write_secret;
use std::path::{Path, PathBuf};

const MAIN: &str = "org.apache.zookeeper.server.quorum.QuorumPeerMain";

/// What a command line is made of.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// The class path.
    pub class_path: &'a str,
    /// Heap in MiB.
    pub heap_mib: u64,
    /// Further options of a person, in order.
    pub person: &'a [String],
    /// Scratch space.
    pub tmp: &'a Path,
    /// The static file.
    pub zoo_cfg: &'a Path,
}

/// The arguments of the JVM. The file of secrets is one of them, in the place of what
/// is in it: a command line is shown to everybody on the node.
pub fn arguments(options: &Options<'_>, secrets: &Path) -> Vec<String> {
    let mut all = vec![
        "-cp".to_string(),
        options.class_path.to_string(),
        format!("-Xms{}m", options.heap_mib),
        format!("-Xmx{}m", options.heap_mib),
        format!("-Djava.io.tmpdir={}", options.tmp.display()),
        // A server that goes on after that answers nobody and keeps its vote.
        "-XX:+ExitOnOutOfMemoryError".to_string(),
    ];
    all.extend(options.person.iter().cloned());
    // Last: of two values of a property the later one counts.
    all.extend([
        "-Dzookeeper.db.autocreate=false".to_string(),
        "-Dzookeeper.snapshot.trust.empty=false".to_string(),
        "-Dzookeeper.skipACL=no".to_string(),
        "-Dzookeeper.forceSync=yes".to_string(),
        "-Dzookeeper.admin.enableServer=false".to_string(),
        "-Dzookeeper.jmx.log4j.disable=true".to_string(),
        format!("@{}", secrets.display()),
        MAIN.to_string(),
        options.zoo_cfg.display().to_string(),
    ]);
    all
}

/// Write the file of secrets, which the JVM reads as further arguments. It is kept in
/// memory and read by us alone.
///
/// # Errors
/// It cannot be written.
pub fn write_secrets(run: &Path, password: &Password) -> Result<PathBuf> {
    let path = run.join("zookeeper.args");
    let line =
        format!("\"-Dzookeeper.DigestAuthenticationProvider.superDigest={}\"\n", password.digest());
    write_secret(&path, line.as_bytes())?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_command_line_of_a_server() {
        let person = ["-XX:+UseG1GC".to_string()];
        let options = Options {
            class_path: "/conf:/apache-zookeeper-3.9.3-bin/lib/zookeeper-3.9.3.jar",
            heap_mib: 512,
            person: &person,
            tmp: Path::new("/tmp"),
            zoo_cfg: Path::new("/var/lib/zookeeper/conf/zoo.cfg"),
        };
        let secrets = Path::new("/run/palladion/zookeeper.args");
        insta::assert_snapshot!(arguments(&options, secrets).join("\n"));
    }

    #[test]
    fn the_password_is_in_no_argument_and_its_hash_is_read_by_us_alone() {
        let run = tempfile::tempdir().unwrap();
        let password = Password::random();
        let path = write_secrets(run.path(), &password).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(&password.digest()) && !text.contains(password.reveal()));
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
