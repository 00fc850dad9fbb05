//! Certificates that the operator signs for this member: for clients, and for the other
//! members, each with a key and authorities of its own. The agent makes the key
//! on the volume, where it stays, and asks in the member's status; what the
//! operator answers in its spec is checked and kept beside the key, so that the
//! server comes back without operator and API server. A server reads changed files
//! by itself, within ten minutes; what cannot be used never replaces what can.

mod both;
mod kept;
#[cfg(test)]
mod tests;

use crate::render::encryption;
use crate::volume::Volume;
use crate::volume::durable::write_secret;
use crate::volume::ledger::{Ban, Ledger, Membership};
use crate::words::files::Doing;
use crate::words::job::Unsuited;
use crate::words::start::Waiting;
use anyhow::{Context, Result};
pub use both::Certificates;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kept::{Asked, Held};
use palladion_api::ids::{MemberName, PodUid};
use palladion_api::member::{
    CassandraMemberSpec, CertificateProblem, CertificateProblemKind as Kind, CertificateStatus,
    MOST_TRUSTED, MemberCertificate, Purpose,
};
use palladion_authority as authority;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// A certificate whose dates do not suit the clock of this node is taken after so long all the
/// same where there is no good one: the clock may be wrong, and clients have clocks of their own.
const PATIENCE: SignedDuration = SignedDuration::from_mins(5);

/// A server looks for changed files every ten minutes.
const RELOADED: Duration = Duration::from_secs(11 * 60);

/// When the server reads what is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// It is started now.
    AtStart,
    /// It runs, and looks for changes now and then.
    NowAndThen,
}

/// What a running server is known to have read.
#[derive(Clone, Debug, Default)]
struct Served {
    /// The authorities whose certificates it takes.
    trusts: Vec<String>,
    /// The authority of the certificate that it shows.
    issuer: Option<String>,
}

/// Does a server run that reads what is placed?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// It does.
    Runs,
    /// None does, or it has no use for it: the next one reads what is there.
    IsNotThere,
}

/// Who this agent is.
#[derive(Clone, Copy, Debug)]
pub struct Own<'a> {
    /// Its member.
    pub member: &'a MemberName,
    /// Its pod.
    pub pod_uid: &'a PodUid,
}

/// What is on the volume.
type Known = (Option<Asked>, Option<Held>);

/// Key, request and certificate of this member for one purpose, as far as they are known.
pub struct Issued {
    purpose: Purpose,
    read: Option<Known>,
    /// A certificate whose dates do not suit, and since when.
    unsuited: Option<(String, Timestamp)>,
    status: Option<CertificateStatus>,
    /// What the running server is known to have read.
    served: Served,
}

impl Issued {
    /// Nothing is known yet.
    pub fn of(purpose: Purpose) -> Self {
        Self { purpose, read: None, unsuited: None, status: None, served: Served::default() }
    }

    /// What the operator is told.
    pub fn status(&self) -> Option<&CertificateStatus> {
        self.status.as_ref()
    }

    /// Do what the order says, as far as it goes: ask, take, keep. What the operator
    /// cannot be told, because there is no request to tell it with, comes back.
    pub fn follow(
        &mut self,
        volume: &Volume,
        own: Own<'_>,
        order: &MemberCertificate,
        reader: Reader,
        now: Timestamp,
    ) -> Option<CertificateProblem> {
        let problem = self.step(volume, own, order, now);
        let known = self.read.as_ref().and_then(|(asked, held)| Some((asked.as_ref()?, held)));
        let Some((asked, held)) = known.filter(|(asked, _)| asked.authority == order.authority)
        else {
            return problem;
        };
        let known = self.known_to_others(held.as_ref(), reader);
        self.status = Some(CertificateStatus {
            authority: asked.authority.clone(),
            request: asked.request.clone(),
            pod_uid: own.pod_uid.clone(),
            stored: held.as_ref().map(|held| held.fingerprint.clone()),
            not_after: held.as_ref().map(|held| Time(held.not_after)),
            issuer: known.issuer,
            trusts: known.trusts,
            problem,
        });
        None
    }

    fn step(
        &mut self,
        volume: &Volume,
        own: Own<'_>,
        order: &MemberCertificate,
        now: Timestamp,
    ) -> Option<CertificateProblem> {
        let not_stored = |error: anyhow::Error| problem(Kind::NotStored, format!("{error:#}"));
        let (directory, purpose) = (volume.tls(), self.purpose);
        let (asked, held) = match known(&mut self.read, purpose, volume) {
            Ok(known) => known,
            Err(error) => return Some(not_stored(error)),
        };
        // Whom to trust counts with what it has, too: others may be the first to show another one.
        if purpose == Purpose::Internode
            && let Some(known) = held.as_mut()
            && let Some(next) = known.trusting(order, own.member, now)
        {
            match kept::hold(&directory, purpose, &next) {
                Ok(()) => *known = next,
                Err(error) => return Some(not_stored(error)),
            }
        }
        if asked.as_ref().is_none_or(|asked| asked.authority != order.authority) {
            match kept::ask(&directory, purpose, own.member, &order.authority) {
                Ok(made) => *asked = Some(made),
                Err(error) => return Some(not_stored(error)),
            }
        }
        let (asked, certificate) = (asked.as_ref()?, order.certificate.as_ref()?);
        let told = &mut self.unsuited;
        if let Some(held) = held.as_ref().filter(|held| held.answers(asked, order)) {
            let unsuited = held.unsuited(now, || since(told, &held.fingerprint, now));
            return unsuited.map(|(kind, why)| problem(kind, why.to_string()));
        }
        let next = match next(asked, certificate, order, own.member) {
            Ok(next) => next.after(held.as_ref(), now),
            Err(refused) => return Some(problem(Kind::Refused, refused.to_string())),
        };
        let mut unsuited = None;
        if let Some((kind, why)) = next.unsuited(now, || since(told, &next.fingerprint, now)) {
            let good = held.as_ref().filter(|held| held.is_good(order, own.member, now));
            if let Some(Held { not_after: end, .. }) = good {
                let kept = Unsuited::Kept { why: why.to_string(), end: *end };
                return Some(problem(kind, kept.to_string()));
            }
            unsuited = Some(problem(kind, why.to_string()));
            if now.duration_since(since(told, &next.fingerprint, now)) < PATIENCE {
                return unsuited;
            }
        }
        match kept::hold(&directory, purpose, &next) {
            Ok(()) => {
                let of = purpose.name();
                tracing::info!(of, not_after = %next.not_after, "the certificate is on the volume");
                *held = Some(next);
                unsuited
            }
            Err(error) => Some(not_stored(error)),
        }
    }

    /// What the operator has to know before it lets another authority sign, or drops one: whose certificates the server takes, and whose it shows. One that is started takes
    /// and shows what is on the volume.
    fn known_to_others(&self, held: Option<&Held>, reader: Reader) -> Served {
        match (reader, held) {
            (_, None) => Served::default(),
            (Reader::Runs, Some(_)) => self.served.clone(),
            (Reader::IsNotThere, Some(held)) => Served::of(held),
        }
    }

    /// What a start waits for, if there is no certificate that it could serve with.
    /// One of an authority that the ring does not trust any more is none: the ring
    /// was made anew. Without an order there is nobody to ask, and what there is does.
    pub fn start_waits(
        &mut self,
        volume: &Volume,
        member: &MemberName,
        order: Option<&MemberCertificate>,
    ) -> Option<Waiting> {
        let Ok((_, Some(held))) = known(&mut self.read, self.purpose, volume) else {
            return Some(self.lacking());
        };
        let order = order?;
        (!held.is_trusted(order, member)).then_some(Waiting::OtherAuthority)
    }

    fn lacking(&self) -> Waiting {
        match self.purpose {
            Purpose::Client => Waiting::NoCertificate,
            Purpose::Internode => Waiting::NoInternodeCertificate,
        }
    }

    /// Put the files where the server reads them.
    ///
    /// # Errors
    /// There is no certificate, or the files cannot be written.
    pub fn place(&mut self, volume: &Volume, directory: &Path, reads: Reads) -> Result<()> {
        let lacking = self.lacking();
        let (_, held) = known(&mut self.read, self.purpose, volume)?;
        let held = held.as_ref().context(lacking)?;
        let pair = format!("{}\n{}\n", held.key.trim_end(), held.certificate.trim_end());
        fs::create_dir_all(directory)
            .with_context(|| Doing::CreateDirectory { path: directory.display().to_string() })?;
        let (of_pair, of_authorities) = encryption::files(self.purpose);
        // Trust first: what others sign is taken before this member shows what is signed anew.
        let trusted = held.trusted();
        for (name, text) in [(of_authorities, trusted.as_str()), (of_pair, pair.as_str())] {
            let path = directory.join(name);
            if fs::read_to_string(&path).is_ok_and(|known| known == text) {
                continue;
            }
            write_secret(&path, text.as_bytes())?;
        }
        let all = Served::of(held);
        let is_read = |name| reads == Reads::AtStart || is_reloaded(&directory.join(name));
        if is_read(of_authorities) {
            self.served.trusts = all.trusts;
        }
        if is_read(of_pair) {
            self.served.issuer = all.issuer;
        }
        Ok(())
    }

    /// Who has left keeps no key.
    ///
    /// # Errors
    /// The files cannot be removed.
    pub fn wipe(&mut self, volume: &Volume) -> Result<()> {
        (self.read, self.status) = (None, None);
        self.served = Served::default();
        kept::wipe(&volume.tls(), self.purpose)
    }
}

impl Served {
    fn of(held: &Held) -> Self {
        let issuer = Some(held.authority.clone());
        let mut trusts = authority::fingerprints(&held.trusted());
        trusts.truncate(MOST_TRUSTED);
        Self { trusts, issuer }
    }
}

/// Has this file been there for so long that a running server has read it?
fn is_reloaded(path: &Path) -> bool {
    let changed = fs::metadata(path).and_then(|meta| meta.modified()).ok();
    changed.and_then(|at| at.elapsed().ok()).is_some_and(|age| age >= RELOADED)
}

/// What is on the volume, which is read once.
fn known<'a>(
    read: &'a mut Option<Known>,
    purpose: Purpose,
    volume: &Volume,
) -> Result<&'a mut Known> {
    let known = match read.take() {
        Some(known) => known,
        None => kept::read(&volume.tls(), purpose)?,
    };
    Ok(read.insert(known))
}

/// Is there nobody any more whom a certificate would be for? Who has left, or was
/// terminated, may be permitted to join again on the same volume, and then needs one
/// before it starts.
pub fn is_over(ledger: &Ledger, spec: Option<&CassandraMemberSpec>) -> bool {
    let permit = spec.and_then(|spec| spec.start.as_ref());
    let may_join =
        permit.is_some_and(|p| p.volume_id == ledger.volume_id && !ledger.has_used(&p.nonce));
    match ledger.ban {
        Ban::GivenUp => true,
        Ban::Terminated => !may_join,
        Ban::None => ledger.membership == Membership::Left && !may_join,
    }
}

/// What the order answers, checked.
fn next(
    asked: &Asked,
    certificate: &str,
    order: &MemberCertificate,
    member: &MemberName,
) -> Result<Held, authority::words::Refused> {
    let (trust, by) = (&order.trust, &order.authority);
    let checked = authority::check(&asked.key, certificate, trust, by, member.as_str())?;
    Ok(Held {
        authority: by.clone(),
        key: asked.key.clone(),
        certificate: certificate.to_string(),
        trust: trust.clone(),
        fingerprint: checked.fingerprint,
        not_before: checked.not_before,
        not_after: checked.not_after,
        former: None,
    })
}

/// Since when the dates of this certificate do not suit.
fn since(told: &mut Option<(String, Timestamp)>, which: &str, now: Timestamp) -> Timestamp {
    match told {
        // A clock that was set back begins anew.
        Some((known, since)) if known == which && *since <= now => *since,
        Some(_) | None => told.insert((which.to_string(), now)).1,
    }
}

fn problem(kind: Kind, message: String) -> CertificateProblem {
    CertificateProblem { kind, message: Some(message) }
}
