//! A rotation of the authorities of one purpose that a task asked for: all trust the new one
//! besides the others; it signs, for one member after the other; the others go. How far it is
//! stands with the new authority, and what it waits for is what members report, so that it goes
//! on whoever leads, and without its task once certificates are signed.

use super::authorities::{self, Known};
use super::client_ca;
use crate::decide::draft::Draft;
use crate::decide::evidence::marks;
use crate::decide::turn::lock::seen;
use crate::facts::{self, Facts, MemberFact};
use crate::resources as kinds;
use crate::words::rotations::{Doing, Happened};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::cluster::{Rotation as Record, RotationStep};
use palladion_api::ids::MemberName;
use palladion_api::member::{CertificateStatus, MemberCertificate, Purpose};
use palladion_api::task::{DEFAULT_OVERLAP, RotateAuthorityTask};
use palladion_plan::issue::Order;
use palladion_plan::{Event, Object, Step};
use serde::Deserialize;
use serde_json::{Value, json};

/// Since which protocol agents report of certificates for clients what the server trusts and
/// presents.
pub const REPORTS_OF_CLIENTS: u32 = 11;

/// A rotation that is under way.
#[derive(Clone, Debug)]
pub struct Rotation<'a> {
    /// The new authority.
    pub to: Known<'a>,
    /// What is on record of the rotation.
    pub record: &'a Record,
    /// The authorities that go.
    pub former: Vec<Known<'a>>,
    /// The authorities of other datacenters, which stay.
    others: Vec<&'a str>,
    purpose: Purpose,
}

/// How far it is, by what members report, and who is behind.
#[derive(Clone, Debug)]
pub enum Stage<'a> {
    /// The new authority is trusted by all others that count, and by clients from then on.
    Trust {
        /// Who does not trust it for certain.
        behind: Vec<&'a MemberFact>,
        /// Until when clients have time; `None` while they cannot read it.
        until: Option<Timestamp>,
    },
    /// It signs. Who does not present its certificate for certain.
    Certificates(Vec<&'a MemberFact>),
    /// The others are gone. Who may trust them still.
    Removal(Vec<&'a MemberFact>),
}

/// The rotation of this purpose, if there is one.
pub fn under_way<'a>(facts: &'a Facts<'_>, purpose: Purpose) -> Option<Rotation<'a>> {
    let all = authorities::on_record(facts, purpose);
    let (to, record) =
        all.iter().rev().find_map(|known| Some((*known, known.record.rotation.as_ref()?)))?;
    let former = all.into_iter().filter(|known| known.name != to.name).collect();
    let others = facts.additional_trust.iter().filter(|_| purpose == Purpose::Internode);
    let others = others.map(|known| known.fingerprint.as_str()).collect();
    Some(Rotation { to, record, former, others, purpose })
}

/// Members that count: not those that are to be replaced, which would be waited for while they
/// wait themselves.
pub fn counted<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = &'a MemberFact> {
    facts.members.values().filter(|m| !m.is_gone() && marks::of(m).is_none())
}

impl<'a> Rotation<'a> {
    /// Whose certificates it is about.
    pub fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// How far it is.
    pub fn stage(&self, facts: &'a Facts<'_>) -> Stage<'a> {
        let behind = |is_there: fn(&Self, &CertificateStatus) -> bool| {
            let is_behind = |m: &&MemberFact| !self.holds(m, is_there);
            counted(facts).filter(is_behind).collect()
        };
        match self.record.step {
            RotationStep::Trust => {
                Stage::Trust { behind: behind(Self::is_trusted), until: self.until(facts) }
            }
            RotationStep::Certificates if self.former.is_empty() => {
                Stage::Removal(behind(Self::is_alone))
            }
            RotationStep::Certificates => Stage::Certificates(behind(Self::is_shown)),
        }
    }

    /// Does this hold of what the member reports? One that has no certificate yet gets its first
    /// one with all that is decided by then. Of one that has joined and reports nothing it is not
    /// known.
    fn holds(&self, member: &MemberFact, what: fn(&Self, &CertificateStatus) -> bool) -> bool {
        match self.status(member) {
            Some(status) if status.stored.is_some() => what(self, status),
            Some(_) => true,
            None => member.recorded_host_id().is_none(),
        }
    }

    fn is_trusted(&self, status: &CertificateStatus) -> bool {
        status.trusts.contains(&self.to.record.fingerprint)
    }

    fn is_shown(&self, status: &CertificateStatus) -> bool {
        status.issuer.as_ref() == Some(&self.to.record.fingerprint)
    }

    fn is_alone(&self, status: &CertificateStatus) -> bool {
        let is_other = |by: &&String| !self.others.contains(&by.as_str());
        let mut own = status.trusts.iter().filter(is_other);
        self.is_shown(status) && own.all(|by| *by == self.to.record.fingerprint)
    }

    /// Have people not said yet that other datacenters trust the new authority, which nobody here
    /// can see? Whoever showed its certificates before would be cut off from them.
    pub fn waits_for_others(&self, facts: &Facts<'_>) -> bool {
        let said = || self.task(facts).and_then(trusted_elsewhere);
        !self.others.is_empty() && said().as_ref() != Some(&self.to.record.fingerprint)
    }

    /// Until when clients have time, which begins when they can read it. Without its task nobody
    /// says how long that is.
    fn until(&self, facts: &Facts<'_>) -> Option<Timestamp> {
        match self.purpose {
            Purpose::Internode => Some(self.record.since.0),
            Purpose::Client => {
                let seconds = SignedDuration::from_secs(self.task(facts).map_or(0, overlap).into());
                let from = self.record.published_at.as_ref()?.0;
                Some(from.saturating_add(seconds).unwrap_or(Timestamp::MAX))
            }
        }
    }

    /// Can clients read it, and is that not on record yet?
    fn is_newly_published(&self, facts: &Facts<'_>) -> bool {
        let is_open = self.purpose == Purpose::Client && self.record.published_at.is_none();
        is_open && client_ca::has(facts, self.to.record.certificate.trim())
    }

    /// Its task, unless that has ended, or is gone.
    pub fn task(&self, facts: &'a Facts<'_>) -> Option<&'a Object> {
        let mut all = facts.objects(kinds::TASK).iter();
        let task = all.find(|task| task.meta.uid == self.record.task_uid)?;
        facts::is_open(task).then_some(task.as_ref())
    }

    /// Does nobody want it any more, while nothing was signed?
    pub fn is_taken_back(&self, facts: &Facts<'_>) -> bool {
        let task = self.task(facts);
        let is_aborted = |task: &Object| task.at("/spec/abort") == Some(&Value::Bool(true));
        self.can_be_taken_back() && task.is_none_or(is_aborted)
    }

    /// Can the ring go on with what it had?
    pub fn can_be_taken_back(&self) -> bool {
        self.record.step == RotationStep::Trust && !self.former.is_empty()
    }

    /// Who signs for those that are not to have one of the new authority yet.
    pub fn former_signer(&self, facts: &'a Facts<'_>) -> Option<Known<'a>> {
        authorities::signer_of(facts, self.purpose, &self.former)
    }

    /// Who comes next of those that have a certificate of another authority, one after the
    /// other: what one of them does not take, the others are not given. Who is silent is passed
    /// over until it speaks.
    pub fn next(&self, facts: &'a Facts<'_>) -> Option<&'a MemberName> {
        let has_one = |m: &MemberFact| self.status(m).is_some_and(|s| s.stored.is_some());
        let mut in_line = counted(facts).filter(|m| m.agent_speaks() && has_one(m));
        in_line.find(|m| !self.has_new(m)).map(|m| &m.name)
    }

    /// Does the new authority sign for this member?
    pub fn signs_for(&self, member: &MemberFact, next: Option<&MemberName>) -> bool {
        let has_none = self.status(member).is_none_or(|status| status.stored.is_none());
        let is_ordered = self.order(member).is_some_and(|order| self.is_of_new(order));
        match self.record.step {
            RotationStep::Trust => false,
            RotationStep::Certificates => {
                self.former.is_empty() || is_ordered || has_none || next == Some(&member.name)
            }
        }
    }

    /// Is a certificate of the new authority on its volume, and nothing wrong with it?
    fn has_new(&self, member: &MemberFact) -> bool {
        let (Some(order), Some(status)) = (self.order(member), self.status(member)) else {
            return false;
        };
        // Certificates are told apart by their end, to the second.
        let end = |time: &Option<Time>| time.as_ref().map(|time| time.0.as_second());
        let is_signed = self.is_of_new(order) && order.certificate.is_some();
        is_signed
            && status.authority == order.authority
            && end(&status.not_after) == end(&order.not_after)
            && status.problem.is_none()
    }

    fn is_of_new(&self, order: &MemberCertificate) -> bool {
        order.authority == self.to.record.fingerprint
    }

    fn order<'m>(&self, member: &'m MemberFact) -> Option<&'m MemberCertificate> {
        member.spec.as_ref()?.tls.as_ref()?.of(self.purpose)
    }

    fn status<'m>(&self, member: &'m MemberFact) -> Option<&'m CertificateStatus> {
        member.status.tls.as_ref()?.of(self.purpose)
    }
}

/// What a task asks for.
fn body(task: &Object) -> Option<RotateAuthorityTask> {
    RotateAuthorityTask::deserialize(task.at("/spec/rotateAuthority")?).ok()
}

/// The seconds that a task gives to clients.
fn overlap(task: &Object) -> u32 {
    body(task).and_then(|body| body.overlap_seconds).unwrap_or(DEFAULT_OVERLAP)
}

/// The authority that other datacenters trust, as a task has it.
fn trusted_elsewhere(task: &Object) -> Option<String> {
    body(task)?.trusted_elsewhere
}

/// Have the new authority made, for a task that nobody has seen to yet.
pub fn begin(facts: &Facts<'_>, purpose: Purpose, task: &Object) -> Step {
    let (owner, authority) = (&facts.snapshot.owner.meta, authorities::next_name(facts, purpose));
    let record = Record {
        task: task.meta.name.clone(),
        task_uid: task.meta.uid.clone(),
        step: RotationStep::Trust,
        since: Time(facts.now()),
        published_at: None,
    };
    // What an attempt of before may have left behind is no new key.
    let since = task.meta.creation_timestamp;
    let order = Order::Authority { life: authorities::LIFE, since };
    let record = (order, json!({ "rotation": record }));
    let doing = Doing::Make { authority: authority.clone() };
    let made = Happened::Made { authority: authority.clone(), task: task.meta.name.clone() };
    let made = Event::normal(made).also_about(kinds::TASK, &task.meta);
    let step = Step::make_next_authority(kinds::CLUSTER, owner, &authority, record, doing);
    step.announced(made)
}

/// Go on, as far as what members report allows it.
pub(super) fn decide(facts: &Facts<'_>, purpose: Purpose, draft: &mut Draft) {
    let Some(rotation) = under_way(facts, purpose) else { return };
    if rotation.is_taken_back(facts) {
        return draft.steps.push(forget(facts, rotation.to));
    }
    if rotation.is_newly_published(facts) {
        return draft.steps.push(rotation.published(facts));
    }
    match rotation.stage(facts) {
        Stage::Trust { behind, until: Some(until) } if behind.is_empty() => {
            match until <= facts.now() {
                true if rotation.waits_for_others(facts) => {}
                true => draft.steps.push(rotation.sign(facts)),
                false => draft.wake_at(until),
            }
        }
        Stage::Certificates(behind) if behind.is_empty() => {
            draft.steps.extend(rotation.former.iter().map(|known| forget(facts, *known)));
        }
        // Its task says first that it is done.
        Stage::Removal(behind) if behind.is_empty() && rotation.task(facts).is_none() => {
            draft.steps.push(rotation.end(facts));
        }
        Stage::Trust { .. } | Stage::Certificates(_) | Stage::Removal(_) => {}
    }
}

impl Rotation<'_> {
    fn published(&self, facts: &Facts<'_>) -> Step {
        let record = json!({ "publishedAt": Time(facts.now()) });
        self.write(facts, record, Doing::Publish { authority: self.to.name.to_string() })
    }

    fn sign(&self, facts: &Facts<'_>) -> Step {
        let authority = self.to.name.to_string();
        let record = json!({ "step": RotationStep::Certificates, "since": Time(facts.now()) });
        let signs = Event::normal(Happened::Signs { authority: authority.clone() });
        self.write(facts, record, Doing::Sign { authority }).announced(signs)
    }

    fn end(&self, facts: &Facts<'_>) -> Step {
        self.write(facts, Value::Null, Doing::End { authority: self.to.name.to_string() })
    }

    /// As it was seen: a leader that was frozen takes no step that was taken back, or taken
    /// already.
    fn write(&self, facts: &Facts<'_>, record: Value, doing: Doing) -> Step {
        let at = format!("/status/authorities/{}", self.to.name);
        let places =
            [format!("{at}/fingerprint"), format!("{at}/rotation"), "/status/epoch".into()];
        let all = places.map(|place| seen(facts, &place));
        let status = json!({ "authorities": { self.to.name: { "rotation": record } } });
        Step::compare_and_set(status, all.into(), doing)
    }
}

fn forget(facts: &Facts<'_>, known: Known<'_>) -> Step {
    let (owner, authority) = (&facts.snapshot.owner.meta, known.name.to_string());
    let doing = Doing::Forget { authority: authority.clone() };
    let fingerprint = &known.record.fingerprint;
    let step = Step::forget_authority(kinds::CLUSTER, owner, &authority, fingerprint, doing);
    step.announced(Event::normal(Happened::Forgotten { authority }))
}

/// A member whose agent reports too little of what its server does with certificates.
pub fn old_agent<'a>(purpose: Purpose, behind: &[&'a MemberFact]) -> Option<&'a MemberFact> {
    let needed = match purpose {
        Purpose::Client => REPORTS_OF_CLIENTS,
        Purpose::Internode => super::pending::protocol(purpose),
    };
    let is_old = |m: &&&MemberFact| {
        m.agent_speaks() && m.status.agent.as_ref().is_some_and(|a| a.protocol < needed)
    };
    behind.iter().find(is_old).copied()
}
