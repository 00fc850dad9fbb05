//! Gather: init, volume, spec, Secrets, name, node. What cannot be had is said to be so.

use super::state::{Agent, Done, Looks};
use crate::decide::{Lookup, Process};
use crate::launch::{self, Record, name};
use crate::report::last_words;
use crate::volume::SavedMember;
use crate::volume::data::Data;
use crate::volume::ledger::{End, Membership};
use crate::words::agent::Trouble;
use crate::work::definitions;
use jiff::Timestamp;
use palladion_agent_core::init::protocol::{LogTail, Phase, Report};
use palladion_agent_core::launch_record::LaunchRecord as _;
use palladion_agent_core::service::changes::end_of;
use palladion_agent_core::service::member::News;
use palladion_api::rabbitmq::DEFINITIONS_KEY;
use std::time::{Duration, Instant};

/// A mounted Secret changes within a minute or two of the object.
const SECRETS_AGAIN: Duration = Duration::from_secs(10);
/// A name that does not lead here is looked up again.
const RESOLVE_AGAIN: Duration = Duration::from_secs(2);

impl Agent {
    pub(super) async fn gather(&mut self) {
        if self.mounted.is_err() {
            let directory = &self.settings.pod.config_dir;
            self.mounted = launch::mounted(directory).map_err(|e| format!("{e:#}"));
        }
        self.gather_process().await;
        // A node of which nothing is known may be writing.
        if self.process == Process::Absent || self.found.is_err() {
            self.look_over();
        }
        self.gather_spec();
        self.gather_secrets();
        self.close_start().await;
        self.resolve_if_due();
        self.look_if_due();
        self.read_signs().await;
    }

    /// Look at what is on the volume. What the application of a joiner that runs has yet to write
    /// is not gone: on that word the operator would replace it.
    pub(super) fn look_over(&mut self) {
        self.found = self.volume.look_over().map_err(|e| format!("{e:#}"));
        if self.process != Process::Absent
            && let Ok(found) = &mut self.found
            && let Some(Membership::Joining { .. }) = found.ledger.as_ref().map(|l| &l.membership)
            && matches!(found.data, Data::Partial(_) | Data::Unstarted)
        {
            found.data = Data::Whole;
        }
    }

    async fn gather_process(&mut self) {
        let answer = self.supervisor.query(LogTail::Nothing).await;
        self.health.turned(answer.as_ref().map(|_| ()).map_err(ToString::to_string));
        match answer {
            Err(error) => {
                self.process = Process::Unknown(format!("{:#}", anyhow::Error::from(error)));
            }
            Ok(report) => self.note_process(&report),
        }
    }

    fn note_process(&mut self, report: &Report) {
        if report.phase == Phase::Ending {
            self.container = Phase::Ending;
        }
        let Some(running) = &report.running else {
            self.process = Process::Absent;
            self.labour.end();
            (self.tag, self.launch, self.looks) = (None, None, Looks::default());
            return;
        };
        self.process = Process::Running;
        if self.tag.as_ref() != Some(&running.tag) {
            self.tag = Some(running.tag.clone());
            self.launch = Record::load(&self.settings.pod.launch_file(), &running.tag);
            self.looks = Looks::default();
        }
    }

    /// The live spec; or the saved one once the API has had its chance to answer.
    fn gather_spec(&mut self) {
        let News::Present(member) = self.news.borrow_and_update().clone() else {
            return self.gather_saved_spec();
        };
        if self.evidence.is_none() {
            // An answer that an earlier agent gave stands.
            self.evidence = member.status.as_ref().and_then(|s| s.evidence.clone());
        }
        let live =
            SavedMember { generation: member.metadata.generation, spec: member.spec.clone() };
        if self.saved.as_ref() == Some(&live) {
            return;
        }
        let is_ours = |cluster: &String| *cluster == live.spec.cluster;
        let is_usable =
            self.ledger().is_some_and(|ledger| ledger.cluster.as_ref().is_none_or(is_ours));
        if is_usable && let Err(error) = self.volume.save_member(&live) {
            let error = format!("{error:#}");
            tracing::warn!(error, "the spec cannot be kept beside the ledger");
        }
        self.saved = Some(live);
    }

    fn gather_saved_spec(&mut self) {
        let may_be_saved = self.news.borrow().leaves_to_saved(self.started.elapsed());
        if self.saved.is_none() && may_be_saved && self.ledger().is_some() {
            self.saved = self.volume.saved_member().unwrap_or_else(|error| {
                let error = format!("{error:#}");
                tracing::warn!(error, "the spec beside the ledger cannot be read");
                None
            });
        }
    }

    /// The mounted Secrets: before each start, and now and then.
    fn gather_secrets(&mut self) {
        let is_old = self.secrets_read.is_none_or(|at| at.elapsed() >= SECRETS_AGAIN);
        if !is_old && self.process == Process::Running {
            return;
        }
        self.secrets_read = Some(Instant::now());
        self.present = logged(self.credentials.present(&self.volume.cookie()), "credentials");
        let path = self.settings.definitions_dir.join(DEFINITIONS_KEY);
        self.definitions_hash = logged(definitions::hash(&path), "definitions").flatten();
    }

    /// Look the name of the node up before it starts, and until it leads here.
    fn resolve_if_due(&mut self) {
        let (Process::Absent, Some(node)) = (&self.process, self.node_to_start()) else {
            return;
        };
        let leads_here = self.named.as_ref().is_some_and(|(of, led)| *of == node && led.is_ok());
        let last = self.resolved.as_ref().filter(|(of, _)| *of == node);
        if leads_here || last.is_some_and(|(_, at)| at.elapsed() < RESOLVE_AGAIN) {
            return;
        }
        self.resolved = Some((node.clone(), Instant::now()));
        let done = self.done.clone();
        tokio::spawn(async move {
            let named = name::resolve(&node).await;
            let _ = done.send(Done::Resolved((node, named))).await;
        });
    }

    /// Note what the name leads to.
    pub(super) fn note_name(&mut self, named: Lookup) {
        self.named = Some(named);
    }

    /// Note in the ledger how the node ended.
    async fn close_start(&mut self) {
        if self.process != Process::Absent {
            return;
        }
        let last = self.ledger().and_then(|ledger| ledger.last_start());
        let Some(open) = last.filter(|start| start.end == End::Open).cloned() else {
            self.stopping = None;
            return;
        };
        let Ok(report) = self.supervisor.query(LogTail::Kept).await else {
            return;
        };
        let ended = report.ended.filter(|ended| ended.tag == open.tag);
        let code = ended.as_ref().map(|ended| ended.code);
        let at = ended
            .as_ref()
            .and_then(|ended| Timestamp::from_millisecond(ended.at_ms).ok())
            .unwrap_or_else(Timestamp::now);
        let stop = self.stopping.as_ref().map(|stopping| stopping.why);
        let end = end_of(stop, self.container, ended.as_ref());
        let words = (end == End::Died).then(|| last_words::of(&report.log, code));
        let message = words.as_ref().map(|words| words.text.clone());
        if let Err(error) = self.change_ledger(|ledger| ledger.end_start(end, at, code, message)) {
            self.trouble = Some(Trouble::Step { why: format!("{error:#}") }.into());
            return;
        }
        self.stopping = None;
        self.last_words = words;
        // Its address may be another one by now.
        (self.named, self.resolved) = (None, None);
        tracing::info!(code, end = ?end, "the node has ended");
    }
}

fn logged<T>(read: anyhow::Result<T>, secret: &str) -> Option<T> {
    read.inspect_err(|error| {
        let error = format!("{error:#}");
        tracing::warn!(error, secret, "a mounted Secret cannot be read");
    })
    .ok()
}
