//! Gather: init, volume, spec, server. What cannot be had is said to be so.

use super::state::Agent;
use crate::admin::ServerAdmin;
use crate::admin::cassandra::Cassandra;
use crate::admin::jolokia::Client;
use crate::admin::scylla::Scylla;
use crate::capabilities;
use crate::decide::{Process, Source, end_of};
use crate::init::protocol::{LogTail, Phase, Report};
use crate::kubernetes::News;
use crate::launch;
use crate::launch_record::LaunchRecord;
use crate::report::last_words;
use crate::volume::heartbeat::Known;
use crate::volume::ledger::End;
use crate::volume::{SavedMember, Volume, record};
use crate::words::job::Trouble;
use crate::words::volume::Wrong;
use jiff::Timestamp;
use palladion_agent_core::launch_record::LaunchRecord as _;
use palladion_api::cluster::Mode;
use palladion_api::member::CassandraMemberStatus;
use std::sync::Arc;

impl Agent {
    pub(super) async fn gather(&mut self) {
        self.gather_mounted();
        self.gather_process().await;
        if self.process != Process::Running || self.found.is_err() {
            self.gather_volume();
        }
        self.gather_users();
        self.gather_spec();
        self.notice_question();
        self.close_start().await;
        if self.process == Process::Running
            && self.looked.is_none_or(|at| at.elapsed() >= self.look_pause())
        {
            self.look().await;
        }
    }

    fn gather_mounted(&mut self) {
        if self.mounted.is_err() {
            self.mounted = launch::mounted(&self.settings).map_err(|e| format!("{e:#}"));
        }
        if let (None, Ok(mounted)) = (&self.volume, &self.mounted) {
            let mode = mounted.config.mode;
            self.volume = Some(Volume::new(self.settings.data_root(mode), mode));
        }
    }

    fn gather_volume(&mut self) {
        self.found = match (&self.volume, &self.mounted) {
            (Some(volume), _) => volume.inspect().map_err(|e| format!("{e:#}")),
            (None, Err(why)) => Err(why.clone()),
            (None, Ok(_)) => Err(Wrong::NotLooked.to_string()),
        };
    }

    async fn gather_process(&mut self) {
        let answer = self.supervisor.query(LogTail::Nothing).await;
        self.health.turned(answer.as_ref().map(|_| ()).map_err(ToString::to_string));
        match answer {
            Err(error) => {
                self.process = Process::Unknown(format!("{:#}", anyhow::Error::from(error)))
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
            (self.launch, self.admin, self.look, self.looked) = (None, None, None, None);
            self.progress = None;
            return;
        };
        self.process = Process::Running;
        if self.launch.as_ref().is_none_or(|l| l.tag != running.tag) {
            self.launch = LaunchRecord::load(&self.settings.pod.launch_file(), &running.tag);
            self.admin = None;
            self.look = None;
            self.progress = None;
        }
        if self.admin.is_none() {
            self.admin = self.make_admin();
        }
    }

    fn make_admin(&self) -> Option<Arc<dyn ServerAdmin>> {
        let mounted = self.mounted.as_ref().ok()?;
        match mounted.config.mode {
            Mode::Scylla => Some(Arc::new(Scylla::new(self.settings.scylla_api_address))),
            Mode::Cassandra => {
                let credentials = self.launch.as_ref()?.credentials.clone()?;
                let row = capabilities::of(&mounted.config.version)?;
                Some(Arc::new(Cassandra::new(
                    Client::new(self.settings.jolokia_address, credentials),
                    row,
                )))
            }
        }
    }

    /// The live spec; or the saved one once the API has had its chance to answer.
    fn gather_spec(&mut self) {
        let news = self.api.news.borrow_and_update().clone();
        // With the spec of this turn: news that come while it goes on are of the next one.
        self.spec_source = news.source();
        let News::Present(member) = news else {
            let may_be_saved = self.api.news.borrow().leaves_to_saved(self.started.elapsed());
            if self.saved.is_none()
                && may_be_saved
                && self.ledger().is_some()
                && let Some(volume) = &self.volume
            {
                self.saved = volume.saved_member().unwrap_or_else(|error| {
                    tracing::warn!(
                        error = format!("{error:#}"),
                        "the spec beside the ledger cannot be read"
                    );
                    None
                });
            }
            return;
        };
        if let Some(status) = &member.status {
            self.note_set_back(status);
        }
        if self.evidence.is_none() {
            // An answer that an earlier agent gave stands.
            self.evidence = member.status.as_ref().and_then(|s| s.evidence.clone());
        }
        let live =
            SavedMember { generation: member.metadata.generation, spec: member.spec.clone() };
        if self.saved.as_ref() != Some(&live) {
            let usable =
                self.ledger().is_some_and(|l| l.ring.as_ref().is_none_or(|r| *r == live.spec.ring));
            if let (Some(volume), true) = (&self.volume, usable)
                && let Err(error) = volume.save_member(&live)
            {
                tracing::warn!(
                    error = format!("{error:#}"),
                    "the spec cannot be kept beside the ledger"
                );
            }
            self.saved = Some(live);
        }
    }

    /// Note on the volume that the status shows more than it: with our own first report the
    /// status shows no more than that.
    fn note_set_back(&mut self, status: &CassandraMemberStatus) {
        let (Ok(found), Some(volume)) = (&mut self.found, &self.volume) else {
            return;
        };
        let ran_until = found.ledger.as_ref().and_then(|l| record::ran_until(l, status));
        let Some(heartbeat) = ran_until.and_then(|at| found.heartbeat.set_back(at)) else {
            return;
        };
        tracing::warn!(?ran_until, "the volume is older than the status of the member");
        match volume.save_heartbeat(&heartbeat) {
            Ok(()) => found.heartbeat = Known::At(heartbeat),
            Err(error) => {
                let error = format!("{error:#}");
                tracing::warn!(error, "when the server ran last cannot be noted");
            }
        }
    }

    /// Was the spec read from the API since this agent was started?
    pub(super) fn source(&self) -> Source {
        self.spec_source
    }

    /// Note in the ledger how the server ended.
    async fn close_start(&mut self) {
        if self.process != Process::Absent {
            return;
        }
        let open =
            self.ledger().and_then(|l| l.last_start()).filter(|s| s.end == End::Open).cloned();
        let Some(open) = open else {
            self.stopping = None;
            return;
        };
        let Ok(report) = self.supervisor.query(LogTail::Kept).await else {
            return;
        };
        let ended = report.ended.filter(|e| e.tag == open.tag);
        let code = ended.as_ref().map(|e| e.code);
        let at = ended
            .as_ref()
            .and_then(|e| Timestamp::from_millisecond(e.at_ms).ok())
            .unwrap_or_else(Timestamp::now);
        let stop = self.stopping.as_ref().map(|s| s.why);
        let end = end_of(stop, self.container, ended.as_ref());
        let words = (end == End::Died).then(|| last_words::of(&report.log, code));
        let noted = self.change_ledger(|ledger| {
            ledger.end_start(end, at, code, words.as_ref().map(|w| w.text.clone()));
        });
        if let Err(error) = noted {
            self.trouble = Some(Trouble::Step { why: format!("{error:#}") }.into());
            return;
        }
        self.stopping = None;
        self.last_words = words;
        tracing::info!(code, end = ?end, "the server has ended");
    }
}
