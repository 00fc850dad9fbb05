//! The command line of the image: `rabbitmqctl` and its sisters, each call a process that
//! ends in time or is killed. Exit code 0 proves nothing (R10 of the experiments in
//! `docs/sources.md`): whoever calls looks afterwards whether what was asked for is so.

use super::Error;
use palladion_api::rabbitmq::NodeName;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

/// Bytes of an answer at the most: those of some 70,000 queues, the largest, are below it.
pub const MOST_BYTES: u64 = 8 * 1024 * 1024;
/// Bytes of what a program says went wrong.
const MOST_ERROR_BYTES: u64 = 64 * 1024;
/// Characters of a line that is told.
const LONGEST_LINE: usize = 300;
/// A call takes a second of a processor, and a minute was seen where many nodes shared two:
/// to end it sooner and call again would only add to that.
pub const QUICK: Duration = Duration::from_secs(120);

/// The programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// `rabbitmqctl`.
    Ctl,
    /// `rabbitmq-queues`.
    Queues,
    /// `rabbitmq-streams`.
    Streams,
    /// `rabbitmq-upgrade`.
    Upgrade,
    /// `rabbitmq-plugins`.
    Plugins,
}

impl Program {
    fn name(self) -> &'static str {
        match self {
            Program::Ctl => "rabbitmqctl",
            Program::Queues => "rabbitmq-queues",
            Program::Streams => "rabbitmq-streams",
            Program::Upgrade => "rabbitmq-upgrade",
            Program::Plugins => "rabbitmq-plugins",
        }
    }
}

/// What a call gets by its input: passwords stand on no command line.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// Nothing.
    None,
    /// A line.
    Line(&'a str),
}

/// The command line for our own node.
#[derive(Clone, Debug)]
pub struct Ctl {
    bin: PathBuf,
    home: PathBuf,
    plugins: PathBuf,
    tmp: PathBuf,
    node: NodeName,
}

impl Ctl {
    /// `bin` has the programs, `home` the cookie; `plugins` is the file of those that are
    /// enabled.
    pub fn new(bin: &Path, home: &Path, plugins: &Path, tmp: &Path, node: NodeName) -> Self {
        let [bin, home, plugins, tmp] = [bin, home, plugins, tmp].map(Path::to_path_buf);
        Self { bin, home, plugins, tmp, node }
    }

    /// Whose it is.
    pub fn node(&self) -> &NodeName {
        &self.node
    }

    /// Call a program; what it printed.
    ///
    /// # Errors
    /// It could not be run, did not end in time, or ended with another code than 0.
    pub async fn call(
        &self,
        program: Program,
        arguments: &[&str],
        input: Input<'_>,
        limit: Duration,
    ) -> Result<String, Error> {
        let what = format!("{} {}", program.name(), arguments.first().copied().unwrap_or_default());
        let child = self.spawn(program, arguments)?;
        let exchange = exchange(child, input);
        match tokio::time::timeout(limit, exchange).await {
            // Dropped with its process, which is killed.
            Err(_) => Err(Error::Late { what }),
            Ok(Err(source)) => Err(Error::Run { program: program.name().into(), source }),
            Ok(Ok(Ended { output: None, .. })) => Err(Error::TooLong { what }),
            Ok(Ok(Ended { code: Some(0), output: Some(output), .. })) => Ok(output),
            Ok(Ok(Ended { code, output: Some(output), errors })) => {
                let said = telling(&errors).or_else(|| telling(&output)).unwrap_or_default();
                Err(Error::Refused { what, code, said })
            }
        }
    }

    /// Call one that answers in JSON.
    ///
    /// # Errors
    /// As for a call; also if it does not.
    pub async fn read<T: DeserializeOwned>(&self, arguments: &[&str]) -> Result<T, Error> {
        let all = [arguments, &["--formatter", "json"]].concat();
        let text = self.call(Program::Ctl, &all, Input::None, QUICK).await?;
        let what = || format!("rabbitmqctl {}", arguments.first().copied().unwrap_or_default());
        json(&text).map_err(|source| Error::Unclear { what: what(), source })
    }

    fn spawn(&self, program: Program, arguments: &[&str]) -> Result<Child, Error> {
        let path = self.bin.join(program.name());
        Command::new(&path)
            .args(["--quiet", "--longnames", "--node", self.node.as_str()])
            .args(arguments)
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .env("HOME", &self.home)
            .env("LANG", "C.UTF-8")
            .env("TMPDIR", &self.tmp)
            .env("RABBITMQ_NODENAME", self.node.as_str())
            .env("RABBITMQ_USE_LONGNAME", "true")
            .env("RABBITMQ_ENABLED_PLUGINS_FILE", &self.plugins)
            .env("RABBITMQ_CONF_ENV_FILE", self.tmp.join("no-rabbitmq-env.conf"))
            .current_dir(&self.tmp)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| Error::Run { program: program.name().into(), source })
    }
}

/// How a program has ended; without an output it printed too much.
struct Ended {
    code: Option<i32>,
    output: Option<String>,
    errors: String,
}

async fn exchange(mut child: Child, input: Input<'_>) -> std::io::Result<Ended> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let give = async {
        if let (Some(mut stdin), Input::Line(line)) = (stdin, input) {
            // One that has ended meanwhile tells by its exit code why.
            let _ = stdin.write_all(format!("{line}\n").as_bytes()).await;
        }
    };
    let ((), output, errors) =
        tokio::join!(give, bounded(stdout, MOST_BYTES), bounded(stderr, MOST_ERROR_BYTES));
    let (output, errors) = (output?, errors?);
    if output.is_none() {
        // It would wait for a reader for ever.
        let _ = child.start_kill();
    }
    let code = child.wait().await?.code();
    Ok(Ended { code, output, errors: errors.unwrap_or_default() })
}

/// All that comes, or `None` where it is too much.
async fn bounded(
    from: Option<impl AsyncRead + Unpin>,
    most: u64,
) -> std::io::Result<Option<String>> {
    let Some(from) = from else {
        return Ok(Some(String::new()));
    };
    let mut bytes = Vec::new();
    from.take(most + 1).read_to_end(&mut bytes).await?;
    let fits = u64::try_from(bytes.len()).is_ok_and(|length| length <= most);
    Ok(fits.then(|| String::from_utf8_lossy(&bytes).into_owned()))
}

/// The line of what a program said that tells most: the first that names an error, or the
/// first at all. What follows is how to use it.
fn telling(text: &str) -> Option<String> {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let names_error = |line: &&str| line.starts_with("Error") || line.contains("{error");
    let index = lines().position(|line| names_error(&line));
    let mut told = lines().skip(index.unwrap_or_default());
    let first = told.next()?;
    // `Error:` often stands alone, and the next line says which.
    let whole = match (first, told.next()) {
        ("Error:", Some(next)) => format!("{first} {next}"),
        (first, _) => first.to_string(),
    };
    Some(whole.chars().take(LONGEST_LINE).collect())
}

/// JSON in the output of a program, which may print a notice before it.
pub fn json<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    let from = text.find(['[', '{']).unwrap_or_default();
    let mut values = serde_json::Deserializer::from_str(&text[from..]).into_iter::<T>();
    match values.next() {
        Some(value) => value,
        None => serde_json::from_str(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    /// Programs that are shell scripts.
    fn ctl(script: &str) -> (tempfile::TempDir, Ctl) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rabbitmqctl");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let own = directory.path();
        let ctl = Ctl::new(own, own, &own.join("plugins"), own, NodeName::new("rabbit@a"));
        (directory, ctl)
    }

    async fn call(script: &str, input: Input<'_>) -> Result<String, Error> {
        let (_directory, ctl) = ctl(script);
        ctl.call(Program::Ctl, &["status"], input, Duration::from_secs(20)).await
    }

    #[tokio::test]
    async fn a_call_is_for_our_node_and_has_the_password_in_no_argument() {
        let said = call("echo \"$@ $HOME\"; read p; echo \"p=$p\"", Input::Line("s3cret")).await;
        let said = said.unwrap();
        assert!(said.contains("--longnames --node rabbit@a status"), "{said}");
        assert!(!said.lines().next().unwrap().contains("s3cret"), "{said}");
        assert!(said.contains("p=s3cret"), "{said}");
    }

    #[tokio::test]
    async fn a_no_is_told_by_its_most_telling_line_and_its_code() {
        let refused =
            call("echo x >&2; echo Error: >&2; echo 'no such node' >&2; exit 69", Input::None)
                .await;
        let error = refused.unwrap_err();
        assert!(error.is_a_no());
        let told = error.to_string();
        assert!(told.contains("Error: no such node") && told.contains("69"), "{told}");
    }

    #[tokio::test]
    async fn what_does_not_end_is_ended_and_is_no_no() {
        let (_directory, ctl) = ctl("exec sleep 60");
        let begun = std::time::Instant::now();
        let limit = Duration::from_millis(200);
        let late = ctl.call(Program::Ctl, &["status"], Input::None, limit).await.unwrap_err();
        assert!(!late.is_a_no() && begun.elapsed() < Duration::from_secs(30), "{late}");
    }

    #[test]
    fn json_is_found_behind_a_notice() {
        let read: Value = json("Listing users ...\n[{\"user\":\"a\"}]\n").unwrap();
        assert_eq!(read[0]["user"], "a");
        assert!(json::<Value>("nothing").is_err());
    }
}
