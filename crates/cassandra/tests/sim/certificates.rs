//! The agent's half of certificates that the operator signs. As the real one it
//! makes a key where it has none for the ordered authority, keeps it on the volume,
//! takes what was signed for it, and removes it when the member has left.

use super::agent::{Agent, Reach};
use super::ring::{Server, Shown};
use super::volume::Certificate;
use super::world::{World, cluster_key};
use jiff::{SignedDuration, Timestamp};
use palladion_agent::decide::Process;
use palladion_agent::issued::{self, Reads};
use palladion_agent::words::start::Waiting;
use palladion_api::cluster::InternodeTlsMode;
use palladion_api::member::{CertificateProblem, CertificateStatus, MemberCertificate, Purpose};
use palladion_cassandra::facts::ADMISSION_POLICIES;
use palladion_plan::sim::{Activity, authority};
use palladion_plan::{Subresource, hash};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// How often a server looks for what has changed.
const READS_EVERY: SignedDuration = SignedDuration::from_mins(10);

/// Since which protocol agents report of clients' certificates what the server does with them.
const REPORTS_OF_CLIENTS: u32 = 11;

/// Since which protocol agents ask.
pub const fn asks_since(purpose: Purpose) -> u32 {
    match purpose {
        Purpose::Client => 6,
        Purpose::Internode => 7,
    }
}

impl Agent {
    pub(super) fn follow_order(&mut self, reach: &mut Reach<'_>) -> Activity {
        let Some(ledger) = self.ledger() else { return Activity::default() };
        let spec = self.saved.as_ref().map(|saved| &saved.spec);
        let is_over = issued::is_over(ledger, spec);
        let orders = spec.and_then(|spec| spec.tls.clone()).unwrap_or_default();
        let key = format!("{} on {}", self.pod.key.name, ledger.volume_id);
        let Some(disk) = reach.disks.get_mut(&self.pod.disk) else {
            return Activity::default();
        };
        let kept = &mut disk.content.certificates;
        self.lacks_certificate = None;
        if is_over {
            if self.process == Process::Absent {
                kept.clear();
                self.tls = None;
            }
            return Activity::default();
        }
        for purpose in Purpose::ALL {
            let order = orders.of(purpose);
            if let Some(order) = order.filter(|_| self.protocol >= asks_since(purpose)) {
                let key = format!("{key} for {}", purpose.name());
                follow(kept, purpose, order, &key, reach.now);
                let server = reach.ring.servers.get(self.pod.uid.as_str());
                let server = server.filter(|_| self.needs(purpose));
                let status = kept.get(&purpose).map(|kept| self.status_of(purpose, kept, server));
                let tls = self.tls.get_or_insert_default();
                match purpose {
                    Purpose::Client => tls.client = status,
                    Purpose::Internode => tls.internode = status,
                }
            }
            let held = kept.get(&purpose).and_then(|kept| kept.held.as_ref());
            let lacks = match (held, order) {
                _ if !self.needs(purpose) || self.process != Process::Absent => None,
                (None, _) if purpose == Purpose::Internode => Some(Waiting::NoInternodeCertificate),
                (None, _) => Some(Waiting::NoCertificate),
                (Some((_, by)), Some(order)) if !trusted(&order.trust).contains(by) => {
                    Some(Waiting::OtherAuthority)
                }
                (Some(_), _) => None,
            };
            self.lacks_certificate = self.lacks_certificate.take().or(lacks);
        }
        self.place(reach, Reads::NowAndThen)
    }

    fn needs(&self, purpose: Purpose) -> bool {
        match purpose {
            Purpose::Client => self.configuration.is_certified(),
            Purpose::Internode => self.internode != InternodeTlsMode::Off,
        }
    }

    fn status_of(
        &self,
        purpose: Purpose,
        kept: &Certificate,
        server: Option<&Server>,
    ) -> CertificateStatus {
        // Agents of before say nothing of it for clients.
        let reports = purpose == Purpose::Internode || self.protocol >= REPORTS_OF_CLIENTS;
        let held = kept.held.as_ref().filter(|_| reports);
        let (issuer, trusts) = match (held, server) {
            (None, _) => (None, BTreeSet::new()),
            (Some((_, by)), None) => (Some(by.clone()), kept.trusts()),
            (Some(_), Some(server)) => {
                let shown = server.shown_for(purpose);
                (shown.shows.clone(), shown.takes.clone())
            }
        };
        CertificateStatus {
            authority: kept.authority.clone(),
            request: kept.request.clone(),
            pod_uid: self.uid.clone(),
            stored: kept.held.as_ref().map(|(certificate, _)| hash::of(&json!(certificate))),
            not_after: kept.not_after.clone(),
            trusts: trusts.into_iter().collect(),
            issuer,
            problem: self.certificate_problem.clone(),
        }
    }

    /// The server reads what is there: at its start, and ten minutes after a change.
    pub(super) fn place(&self, reach: &mut Reach<'_>, reads: Reads) -> Activity {
        let kept = reach.disks.get(&self.pod.disk).map(|disk| &disk.content.certificates);
        let server = reach.ring.servers.get_mut(self.pod.uid.as_str());
        let (Some(all), Some(server)) = (kept, server) else { return Activity::default() };
        let mut activity = Activity::default();
        for purpose in Purpose::ALL {
            let Some(kept) = all.get(&purpose) else { continue };
            let by = kept.held.as_ref().map(|(_, by)| by.clone());
            let there = Shown { shows: by, takes: kept.trusts() };
            let at_once = reads == Reads::AtStart || !self.needs(purpose);
            activity = activity.and(server.read(purpose, there, at_once, reach.now));
        }
        activity
    }
}

impl Server {
    fn shown_for(&self, purpose: Purpose) -> &Shown {
        match purpose {
            Purpose::Client => &self.shown_to_clients,
            Purpose::Internode => &self.shown,
        }
    }

    fn read(&mut self, purpose: Purpose, there: Shown, at_once: bool, now: Timestamp) -> Activity {
        let (shown, reads) = match purpose {
            Purpose::Client => (&mut self.shown_to_clients, &mut self.reads_for_clients),
            Purpose::Internode => (&mut self.shown, &mut self.reads),
        };
        if *shown == there {
            *reads = None;
            return Activity::default();
        }
        let due = match &*reads {
            Some((at, known)) if *known == there => *at,
            Some(_) | None => now + READS_EVERY,
        };
        if at_once || due <= now {
            (*shown, *reads) = (there, None);
            return Activity::ACTED;
        }
        *reads = Some((due, there));
        Activity::default().at(due)
    }
}

/// Ask and take.
fn follow(
    all: &mut BTreeMap<Purpose, Certificate>,
    purpose: Purpose,
    order: &MemberCertificate,
    key: &str,
    now: Timestamp,
) {
    // Whom to trust counts with what it has, too.
    if let Some(kept) = all.get_mut(&purpose)
        && let Some((_, by)) = &kept.held
    {
        if kept.former.as_ref().is_some_and(|(_, until)| until.is_some_and(|at| at <= now)) {
            kept.former = None;
        }
        if kept.former.is_none() && !trusted(&order.trust).contains(by) {
            kept.former = Some((kept.trust.clone(), None));
        }
        kept.trust.clone_from(&order.trust);
    }
    let former = all.get(&purpose);
    if former.is_none_or(|kept| kept.authority != order.authority) {
        let request = format!("CSR {key} to {}", order.authority);
        let authority = order.authority.clone();
        let next = match former.cloned() {
            Some(kept) => Certificate { authority, request, ..kept },
            None => Certificate {
                authority,
                request,
                held: None,
                trust: String::new(),
                former: None,
                not_after: None,
            },
        };
        all.insert(purpose, next);
    }
    let (Some(kept), Some(certificate)) = (all.get_mut(&purpose), &order.certificate) else {
        return;
    };
    // It names the key that it is of, as a real one does.
    let is_new = kept.held.as_ref().is_none_or(|(held, _)| held != certificate);
    if is_new && certificate.contains(&hash::of(&json!(kept.request))) {
        kept.held = Some((certificate.clone(), order.authority.clone()));
        kept.not_after.clone_from(&order.not_after);
        kept.trust.clone_from(&order.trust);
        if let Some((_, until)) = &mut kept.former {
            until.get_or_insert(now + SignedDuration::from_hours(1));
        }
    }
}

impl Certificate {
    fn trusts(&self) -> BTreeSet<String> {
        let former = self.former.as_ref().map_or("", |(trust, _)| trust.as_str());
        trusted(&format!("{}{former}", self.trust))
    }
}

/// The fingerprints of the authorities in a text.
fn trusted(text: &str) -> BTreeSet<String> {
    // Those of other datacenters are real ones, as they are checked.
    let (own, others) = text.split_at(text.find("-----BEGIN").unwrap_or(text.len()));
    let own = own.split_inclusive('\n').map(|one| hash::of(&json!(one)));
    own.chain(palladion_authority::fingerprints(others)).collect()
}

impl World {
    /// What is on the volume of a member.
    pub fn certificate_of(&self, member: &str) -> Option<Certificate> {
        let claim = format!("data-{member}");
        let disk = self.kube.disks.values().find(|disk| disk.claim == claim)?;
        disk.content.certificates.get(&Purpose::Client).cloned()
    }

    /// What members have to speak to each other with.
    pub fn internode_certificates(&self) -> Vec<Certificate> {
        let disks = self.kube.disks.values();
        disks
            .filter_map(|disk| disk.content.certificates.get(&Purpose::Internode).cloned())
            .collect()
    }

    /// Why the agent of a member does not take what is signed for it, or that it does.
    pub fn set_certificate_problem(&mut self, member: &str, problem: Option<CertificateProblem>) {
        self.tell(&format!("{member} has trouble with its certificate: {}", problem.is_some()));
        let agents = self.agents.values_mut().map(|(agent, _)| agent);
        for agent in agents.filter(|agent| agent.pod.key.name == member) {
            agent.certificate_problem = problem.clone();
        }
    }

    /// The keys of the ring's authorities are lost, and what is on record of them is removed.
    pub fn new_authorities(&mut self) {
        self.annotate_cluster(authority::LOST, " anew");
        let none = json!({ "status": { "authorities": null } });
        let known = self.store.merge(&cluster_key(), &none, Subresource::Status);
        known.expect("the cluster should exist");
    }

    /// The chart is installed again, with its admission policies or without.
    pub fn set_policies(&mut self, are_on: bool) {
        self.tell(&format!("the admission policies are on: {are_on}"));
        self.settings.insert(ADMISSION_POLICIES.to_string(), are_on.to_string());
        self.operators.clear();
        self.start_operator();
    }

    /// Volumes with a key.
    pub fn certificates_on_disks(&self) -> usize {
        self.kube.disks.values().filter(|disk| !disk.content.certificates.is_empty()).count()
    }
}
