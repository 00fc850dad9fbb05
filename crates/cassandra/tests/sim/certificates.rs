//! The agent's half of certificates that the operator signs. As the real one it
//! makes a key where it has none for the ordered authority, keeps it on the volume,
//! takes what was signed for it, and removes it when the member has left.

use super::agent::{Agent, Reach};
use super::ring::Configuration;
use super::volume::Certificate;
use super::world::World;
use palladion_agent::decide::Process;
use palladion_agent::issued;
use palladion_agent::words::start::Waiting;
use palladion_api::member::{CertificateProblem, CertificateStatus, MemberCertificate};
use palladion_cassandra::decide::certificates::ADMISSION_POLICIES;
use palladion_plan::hash;
use serde_json::json;

/// Agents of before this protocol do not ask.
pub const ASKS: u32 = 6;

impl Agent {
    pub(super) fn follow_order(&mut self, reach: &mut Reach<'_>) {
        let Some(ledger) = self.ledger() else { return };
        let spec = self.saved.as_ref().map(|saved| &saved.spec);
        let is_over = issued::is_over(ledger, spec);
        let order = spec.and_then(|spec| spec.tls.as_ref());
        let order = order.and_then(|tls| tls.client.clone());
        let volume = ledger.volume_id.clone();
        let Some(disk) = reach.disks.get_mut(&self.pod.disk) else { return };
        let kept = &mut disk.content.certificate;
        if is_over {
            if self.process == Process::Absent {
                (*kept, self.certificate) = (None, None);
            }
            self.lacks_certificate = None;
            return;
        }
        if let Some(order) = order.as_ref().filter(|_| self.protocol >= ASKS) {
            follow(kept, order, &format!("{} on {volume}", self.pod.key.name));
            self.certificate = kept.as_ref().map(|kept| CertificateStatus {
                authority: kept.authority.clone(),
                request: kept.request.clone(),
                pod_uid: self.uid.clone(),
                stored: kept.held.as_ref().map(|(certificate, _)| hash::of(&json!(certificate))),
                not_after: kept.not_after.clone(),
                problem: self.certificate_problem.clone(),
            });
        }
        let is_needed = self.configuration == Configuration::Certified;
        let held = kept.as_ref().and_then(|kept| kept.held.as_ref());
        self.lacks_certificate = match (held, order) {
            _ if !is_needed || self.process != Process::Absent => None,
            (None, _) => Some(Waiting::NoCertificate),
            (Some((_, by)), Some(order)) if !trusts(&order, by) => Some(Waiting::OtherAuthority),
            (Some(_), _) => None,
        };
    }
}

/// Ask and take.
fn follow(kept: &mut Option<Certificate>, order: &MemberCertificate, key: &str) {
    let is_of_another = kept.as_ref().is_none_or(|kept| kept.authority != order.authority);
    if is_of_another {
        let (held, not_after) =
            kept.take().map(|kept| (kept.held, kept.not_after)).unwrap_or_default();
        let (authority, request) =
            (order.authority.clone(), format!("CSR {key} to {}", order.authority));
        *kept = Some(Certificate { authority, request, held, not_after });
    }
    let (Some(kept), Some(certificate)) = (kept, &order.certificate) else { return };
    // It names the key that it is of, as a real one does.
    if certificate.contains(&hash::of(&json!(kept.request))) {
        kept.held = Some((certificate.clone(), order.authority.clone()));
        kept.not_after.clone_from(&order.not_after);
    }
}

/// Is the authority with this fingerprint among those that clients trust?
fn trusts(order: &MemberCertificate, by: &str) -> bool {
    order.trust.split_inclusive('\n').any(|one| hash::of(&json!(one)) == by)
}

impl World {
    /// What is on the volume of a member.
    pub fn certificate_of(&self, member: &str) -> Option<Certificate> {
        let claim = format!("data-{member}");
        let disk = self.kube.disks.values().find(|disk| disk.claim == claim)?;
        disk.content.certificate.clone()
    }

    /// Why the agent of a member does not take what is signed for it, or that it does.
    pub fn set_certificate_problem(&mut self, member: &str, problem: Option<CertificateProblem>) {
        self.tell(&format!("{member} has trouble with its certificate: {}", problem.is_some()));
        let agents = self.agents.values_mut().map(|(agent, _)| agent);
        for agent in agents.filter(|agent| agent.pod.key.name == member) {
            agent.certificate_problem = problem.clone();
        }
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
        self.kube.disks.values().filter(|disk| disk.content.certificate.is_some()).count()
    }
}
