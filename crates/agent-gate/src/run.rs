//! The two loops: of the gate, which ends, and of the container that signals,
//! which does not. Each looks once a second at what the kubelet has mounted.

use crate::files;
use crate::gate::{Gate, Verdict};
use crate::labels::Labels;
use crate::processes::{self, Process};
use crate::reload::{Due, Reload, Taken};
use crate::words::gate::{Ended, Why};
use crate::words::reload::Reloaded;
use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// From one look to the next.
const PAUSE: Duration = Duration::from_secs(1);
/// Hash of the files that the process of this pod has read.
const NOTED: &str = "noted";
/// There while a change was not taken in time.
const LATE: &str = "late";
/// There once the process that is to be signalled was seen.
const FOUND: &str = "found";

/// What the kubelet has mounted, and where the agent keeps what it notes.
#[derive(Clone, Debug)]
pub struct Place {
    /// The file of the pod's labels.
    pub labels: PathBuf,
    /// The directory of all pods' files, and the key of this pod's; `None` = it has none.
    pub config: Option<(PathBuf, String)>,
    /// The directory that the containers of this pod share.
    pub shared: PathBuf,
}

impl Place {
    fn look(&self) -> Result<(Labels, String)> {
        let config = self.config.as_ref().map(|(path, key)| (path.as_path(), key.as_str()));
        Ok((files::labels(&self.labels)?, files::hash(config)?))
    }

    fn note(&self, hash: &str) -> Result<()> {
        // By another name first: the container that signals may run as another user.
        let (part, whole) = (self.shared.join("noted.part"), self.shared.join(NOTED));
        let _ = fs::remove_file(&part);
        fs::write(&part, hash).with_context(|| format!("writing {}", part.display()))?;
        fs::rename(&part, &whole).with_context(|| format!("writing {}", whole.display()))
    }
}

impl Ended {
    /// What the kubelet reports of the end: of a gate that has opened the hash of the files
    /// that it has let through, alone, as the operator compares it. The labels of the pod may
    /// have changed since.
    pub fn to_message(&self) -> String {
        match self {
            Ended::Opened { mounted } => mounted.clone(),
            Ended::TimedOut { .. } => self.to_string(),
        }
    }
}

/// Wait until the gate opens, or there is no use in waiting. What it waits for is
/// printed whenever it changes.
///
/// # Errors
/// What is mounted cannot be read when it starts, or what it notes not written.
pub fn gate(place: &Place) -> Result<Ended> {
    let (found, _) = place.look()?;
    let mut gate = Gate::new(seconds(), &found);
    let mut said = None;
    loop {
        let why = match place.look() {
            // The kubelet exchanges files: the next look finds them whole.
            Err(error) => Why::Unreadable { why: format!("{error:#}") },
            Ok((labels, mounted)) => match gate.look(&labels, &mounted, seconds()) {
                Verdict::Open => {
                    place.note(&mounted)?;
                    return Ok(Ended::Opened { mounted });
                }
                Verdict::End(why) => return Ok(Ended::TimedOut { why }),
                Verdict::Wait(why) => why,
            },
        };
        if said.as_ref() != Some(&why) {
            println!("{why}");
            said = Some(why);
        }
        sleep(PAUSE);
    }
}

/// Signal the process whenever its files have changed, until the pod ends.
///
/// # Errors
/// What it notes cannot be written.
pub fn reload(place: &Place, process: &str, signal: Signal) -> Result<()> {
    let noted = fs::read_to_string(place.shared.join(NOTED)).unwrap_or_default();
    let mut reload = Reload::new(&noted);
    let mut said = None;
    // What an earlier run of this container has seen may be gone.
    let _ = fs::remove_file(place.shared.join(FOUND));
    loop {
        let missing = find(&place.shared, running, process)?;
        let became = match place.look() {
            Err(error) => Some(Reloaded::Unreadable { why: format!("{error:#}") }),
            Ok((labels, mounted)) => match reload.look(&labels, &mounted, seconds()) {
                Due::Nothing => missing,
                Due::Signal => Some(match send(process, signal) {
                    Ok(sent) => {
                        reload.signalled(&mounted);
                        place.note(&mounted)?;
                        sent
                    }
                    Err(failed) => failed,
                }),
            },
        };
        match reload.taken(seconds()) {
            Taken::Late => fs::write(place.shared.join(LATE), "")
                .with_context(|| format!("writing to {}", place.shared.display()))?,
            Taken::InTime => {
                let _ = fs::remove_file(place.shared.join(LATE));
            }
        }
        if became.is_some() && said != became {
            became.iter().for_each(|became| println!("{became}"));
            said = became;
        }
        sleep(PAUSE);
    }
}

/// Was the process found, and has the pod taken what was announced? For a readiness probe:
/// a name that no process has would be noticed at the first change otherwise, and by nobody
/// who has just written it.
pub fn check(shared: &Path) -> Taken {
    match shared.join(LATE).exists() || !shared.join(FOUND).exists() {
        true => Taken::Late,
        false => Taken::InTime,
    }
}

/// Look for the process until it was seen once; afterwards it may restart.
fn find(
    shared: &Path,
    all: impl FnOnce() -> Vec<Process>,
    process: &str,
) -> Result<Option<Reloaded>> {
    let found = shared.join(FOUND);
    if found.exists() {
        return Ok(None);
    }
    match processes::named(&all(), process) {
        Err(missing) => Ok(Some(missing)),
        Ok(_) => {
            fs::write(&found, "").with_context(|| format!("writing {}", found.display()))?;
            Ok(None)
        }
    }
}

fn running() -> Vec<Process> {
    processes::all(Path::new("/proc"))
}

fn send(process: &str, signal: Signal) -> Result<Reloaded, Reloaded> {
    let pid = processes::named(&running(), process)?;
    let refused = |why: String| Reloaded::Refused { pid, why };
    let target = Pid::from_raw(pid).ok_or_else(|| refused(String::new()))?;
    kill_process(target, signal).map_err(|error| refused(error.to_string()))?;
    let signal = format!("{signal:?}");
    Ok(Reloaded::Signalled { process: process.to_string(), pid, signal })
}

/// Seconds since 1970, by the clock of the node.
fn seconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_api::gate::{CONFIG, READY, STATUS, TICKET, Ticket, hash_of_files};

    fn place(directory: &Path) -> Place {
        let config = directory.join("config");
        fs::create_dir(&config).expect("a directory");
        fs::write(config.join("web-0"), "text").expect("a file");
        Place {
            labels: directory.join("pod_labels"),
            config: Some((config, "web-0".to_string())),
            shared: directory.to_path_buf(),
        }
    }

    fn label(place: &Place, status: &str, ticket: &str, config: &str) {
        let lines =
            format!("{STATUS}=\"{status}\"\n{TICKET}=\"{ticket}\"\n{CONFIG}=\"{config}\"\n");
        fs::write(&place.labels, lines).expect("a file of labels");
    }

    #[test]
    fn a_gate_of_files_opens_and_notes_what_it_has_let_through() {
        let directory = tempfile::tempdir().expect("a directory");
        let place = place(directory.path());
        label(&place, "", "", "");
        let hash = hash_of_files([("", "text")]);
        let ticket = Ticket { number: 1, start: seconds() }.to_string();
        let waiting = std::thread::spawn({
            let place = place.clone();
            move || gate(&place)
        });
        sleep(Duration::from_millis(200));
        label(&place, READY, &ticket, &hash);
        let ended = waiting.join().expect("the gate should end").expect("the gate should open");
        assert_eq!(ended.to_message(), hash, "the operator reads what it has let through");
        assert_eq!(ended, Ended::Opened { mounted: hash.clone() });
        assert_eq!(fs::read_to_string(directory.path().join(NOTED)).ok(), Some(hash));
    }

    #[test]
    fn a_pod_is_not_ready_before_the_process_that_is_to_be_signalled_was_seen() {
        let directory = tempfile::tempdir().expect("a directory");
        let shared = directory.path();
        let missing = find(shared, Vec::new, "api").expect("it can be looked for");
        assert!(matches!(missing, Some(Reloaded::NoProcess { .. })), "{missing:?}");
        assert_eq!(check(shared), Taken::Late);
        let api = || vec![Process { pid: 7, name: "api".into(), parent: 1 }];
        assert_eq!(find(shared, api, "api").expect("it can be looked for"), None);
        assert_eq!(check(shared), Taken::InTime);
        // Once it was seen it may restart.
        assert_eq!(find(shared, Vec::new, "api").expect("it can be looked for"), None);
        assert_eq!(check(shared), Taken::InTime);
        fs::write(shared.join(LATE), "").expect("a file");
        assert_eq!(check(shared), Taken::Late);
    }

    #[test]
    fn a_gate_that_finds_nothing_mounted_says_so() {
        let directory = tempfile::tempdir().expect("a directory");
        let error = gate(&place(directory.path())).expect_err("there are no labels");
        assert!(error.to_string().contains("pod_labels"), "{error}");
    }
}
