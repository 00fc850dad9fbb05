//! The agent's half of certificates that the operator signs: with a real
//! authority, on a real directory.

use super::*;
use crate::render::encryption::{AUTHORITIES, PAIR};
use palladion_api::cluster::Mode;
use palladion_api::ids::VolumeId;
use palladion_api::member::{DataBeforeStart, PermitKind, StartPermit};
use palladion_authority::{Authority, Identity, Terms};
use std::os::unix::fs::PermissionsExt;
use tempfile::TempDir;

const YEAR: SignedDuration = SignedDuration::from_hours(24 * 365);

struct World {
    _directory: TempDir,
    volume: Volume,
    issued: Issued,
    authority: Authority,
    order: MemberCertificate,
    now: Timestamp,
}

fn an_authority(now: Timestamp) -> Authority {
    Authority::make("r client-1", now, YEAR * 10).unwrap()
}

/// An agent that has just been ordered to ask.
fn an_agent() -> World {
    let directory = tempfile::tempdir().unwrap();
    let volume = Volume::new(directory.path().to_path_buf(), Mode::Cassandra);
    std::fs::create_dir_all(volume.tls().parent().unwrap()).unwrap();
    let now = "2026-11-26T12:00:00Z".parse().unwrap();
    let authority = an_authority(now);
    let order = MemberCertificate {
        authority: authority.fingerprint.clone(),
        trust: authority.certificate.clone(),
        ..MemberCertificate::default()
    };
    World {
        _directory: directory,
        volume,
        issued: Issued::of(Purpose::Client),
        authority,
        order,
        now,
    }
}

impl World {
    fn turn(&mut self) -> CertificateStatus {
        let (member, pod_uid) = (MemberName::new("r-dc1-a-0"), PodUid::new("pod-1"));
        let own = Own { member: &member, pod_uid: &pod_uid };
        let untold =
            self.issued.follow(&self.volume, own, &self.order, Reader::IsNotThere, self.now);
        assert_eq!(untold, None);
        self.issued.status().unwrap().clone()
    }

    /// The operator signs what is asked, by a clock that differs by this.
    fn sign(&mut self, ahead: SignedDuration) {
        let asked = self.turn();
        let of = Identity { namespace: "n".into(), ring: "r".into(), member: "r-dc1-a-0".into() };
        let terms = Terms { names: vec!["r-dc1-a-0".into()], addresses: vec![], life: YEAR };
        let signed = self.authority.sign(&asked.request, &of, &terms, self.now + ahead).unwrap();
        self.order.certificate = Some(signed.certificate);
    }

    fn restart(&mut self) {
        self.restart_for(Purpose::Client);
    }

    fn restart_for(&mut self, purpose: Purpose) {
        self.issued = Issued::of(purpose);
    }

    fn waits(&mut self) -> Option<Waiting> {
        let order = self.order.clone();
        self.issued.start_waits(&self.volume, &MemberName::new("r-dc1-a-0"), Some(&order))
    }

    /// The ring is made anew: it has another authority.
    fn made_anew(&mut self) {
        self.authority = an_authority(self.now);
        self.order = MemberCertificate {
            authority: self.authority.fingerprint.clone(),
            trust: self.authority.certificate.clone(),
            ..MemberCertificate::default()
        };
    }
}

fn kind(status: &CertificateStatus) -> Option<Kind> {
    status.problem.as_ref().map(|problem| problem.kind)
}

#[test]
fn the_agent_asks_once_and_takes_what_was_signed_for_it() {
    let mut world = an_agent();
    let first = world.turn();
    assert_eq!((first.stored, first.problem), (None, None));
    assert_eq!(world.waits(), Some(Waiting::NoCertificate));
    world.restart();
    assert_eq!(world.turn().request, first.request, "a restart of the agent asks nothing new");
    world.sign(SignedDuration::ZERO);
    let status = world.turn();
    assert!(status.stored.is_some() && status.problem.is_none());
    assert_eq!(status.not_after, Some(Time(world.now + YEAR)));
    assert_eq!(world.waits(), None);
    let run = tempfile::tempdir().unwrap();
    world.issued.place(&world.volume, run.path(), Reads::AtStart).unwrap();
    let pair = fs::read_to_string(run.path().join(PAIR)).unwrap();
    assert!(pair.starts_with("-----BEGIN PRIVATE KEY-----"), "Cassandra reads no other form");
    assert!(pair.contains(world.order.certificate.as_ref().unwrap().trim_end()));
    let trust = fs::read_to_string(run.path().join(AUTHORITIES)).unwrap();
    assert_eq!(trust, world.authority.certificate);
}

#[test]
fn the_key_is_for_the_agent_alone_and_is_not_told() {
    let mut world = an_agent();
    world.sign(SignedDuration::ZERO);
    let told = serde_json::to_string(&world.turn()).unwrap();
    assert!(!told.contains("PRIVATE"));
    for file in fs::read_dir(world.volume.tls()).unwrap() {
        let mode = file.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_server_comes_back_with_what_is_on_the_volume_when_nobody_can_be_asked() {
    let mut world = an_agent();
    world.sign(SignedDuration::ZERO);
    world.turn();
    world.restart();
    let member = MemberName::new("r-dc1-a-0");
    assert_eq!(world.issued.start_waits(&world.volume, &member, None), None);
    let run = tempfile::tempdir().unwrap();
    world.issued.place(&world.volume, run.path(), Reads::AtStart).unwrap();
    assert!(run.path().join(PAIR).is_file());
}

#[test]
fn a_renewed_certificate_replaces_the_former_one() {
    let mut world = an_agent();
    world.sign(SignedDuration::ZERO);
    let before = world.turn();
    world.now += YEAR / 3 * 2;
    world.sign(SignedDuration::ZERO);
    let after = world.turn();
    assert_ne!(after.stored, before.stored);
    assert_eq!(after.request, before.request, "the key stays");
    assert!(after.not_after > before.not_after);
}

#[test]
fn another_authority_is_asked_with_another_key_and_the_former_certificate_starts_no_server() {
    let mut world = an_agent();
    world.sign(SignedDuration::ZERO);
    let before = world.turn();
    world.made_anew();
    let asked = world.turn();
    assert_ne!(asked.request, before.request);
    assert_eq!(asked.stored, before.stored, "what there is stays until there is another");
    assert_eq!(world.waits(), Some(Waiting::OtherAuthority));
    world.sign(SignedDuration::ZERO);
    assert_ne!(world.turn().stored, before.stored);
    assert_eq!(world.waits(), None);
}

#[test]
fn while_a_successor_is_trusted_besides_the_former_certificate_starts_a_server() {
    let mut world = an_agent();
    world.sign(SignedDuration::ZERO);
    world.turn();
    let former = world.authority.certificate.clone();
    world.made_anew();
    world.order.trust.push_str(&former);
    world.turn();
    assert_eq!(world.waits(), None);
}

#[test]
fn what_was_signed_for_another_key_is_refused_and_told_and_replaces_nothing() {
    let mut world = an_agent();
    world.sign(SignedDuration::ZERO);
    let good = world.turn();
    let mut other = an_agent();
    (other.authority, other.order) = (
        Authority::kept(&world.authority.key(), &world.authority.certificate).unwrap(),
        world.order.clone(),
    );
    other.order.certificate = None;
    other.sign(SignedDuration::ZERO);
    world.order.certificate = other.order.certificate;
    let status = world.turn();
    assert_eq!((kind(&status), status.stored), (Some(Kind::Refused), good.stored));
}

#[test]
fn a_certificate_of_tomorrow_waits_for_five_minutes_and_is_told() {
    let mut world = an_agent();
    world.sign(SignedDuration::from_hours(2));
    assert_eq!(kind(&world.turn()), Some(Kind::NotYetValid));
    world.now += PATIENCE - SignedDuration::from_secs(1);
    assert_eq!(world.turn().stored, None);
    world.now += SignedDuration::from_secs(1);
    let status = world.turn();
    assert!(status.stored.is_some(), "a clock that is wrong holds no member up for long");
    assert_eq!(kind(&status), Some(Kind::NotYetValid));
    world.now += SignedDuration::from_hours(1);
    assert_eq!(kind(&world.turn()), None);
}

#[test]
fn a_certificate_of_tomorrow_does_not_replace_one_that_is_valid() {
    let mut world = an_agent();
    world.sign(SignedDuration::ZERO);
    let good = world.turn();
    let mut later = SignedDuration::from_hours(3);
    world.sign(later);
    let status = world.turn();
    assert_eq!((kind(&status), &status.stored), (Some(Kind::NotYetValid), &good.stored));
    world.now += PATIENCE * 2;
    later -= PATIENCE * 2;
    let status = world.turn();
    assert_eq!((kind(&status), &status.stored), (Some(Kind::NotYetValid), &good.stored));
    let told = status.problem.unwrap().message.unwrap();
    assert!(told.contains("the server presents the one before, which is valid until"), "{told}");
    world.restart();
    assert_eq!(world.turn().stored, good.stored);
    assert_eq!(world.waits(), None);
    // It is valid from an hour before it was signed.
    world.now += later - SignedDuration::from_hours(1);
    let status = world.turn();
    assert!(status.stored != good.stored && status.problem.is_none(), "{status:?}");
}

#[test]
fn a_certificate_that_has_expired_does_not_replace_one_that_is_valid() {
    let mut world = an_agent();
    world.sign(SignedDuration::ZERO);
    let good = world.turn();
    world.sign(-YEAR * 2);
    world.turn();
    world.now += PATIENCE;
    let status = world.turn();
    assert_eq!((kind(&status), status.stored), (Some(Kind::Expired), good.stored));
}

#[test]
fn one_of_tomorrow_replaces_what_no_server_could_start_with() {
    let early = |world: &mut World| {
        world.sign(SignedDuration::from_hours(3));
        let before = world.turn().stored;
        world.now += PATIENCE;
        assert_ne!(world.turn().stored, before);
        assert_eq!(world.waits(), None);
    };
    let mut has_expired = an_agent();
    has_expired.sign(SignedDuration::ZERO);
    has_expired.turn();
    has_expired.now += YEAR;
    early(&mut has_expired);
    let mut made_anew = an_agent();
    made_anew.sign(SignedDuration::ZERO);
    made_anew.turn();
    made_anew.made_anew();
    assert_eq!(made_anew.waits(), Some(Waiting::OtherAuthority));
    early(&mut made_anew);
}

#[test]
fn what_is_told_of_dates_is_the_same_a_second_later() {
    let mut world = an_agent();
    world.sign(SignedDuration::from_hours(2));
    let waiting = world.turn();
    world.now += SignedDuration::from_secs(1);
    assert_eq!(world.turn(), waiting, "else the status would be written each second");
    world.now += PATIENCE;
    let taken = world.turn();
    world.now += SignedDuration::from_secs(1);
    assert!(taken.stored.is_some());
    assert_eq!(world.turn(), taken);
}

#[test]
fn a_clock_that_is_far_ahead_is_told_and_asks_for_nothing_new() {
    let mut world = an_agent();
    let asked = world.turn();
    world.sign(-YEAR * 2);
    let status = world.turn();
    assert_eq!((kind(&status), &status.request), (Some(Kind::Expired), &asked.request));
    world.now += PATIENCE;
    let status = world.turn();
    assert!(status.stored.is_some());
    assert_eq!(status.request, asked.request);
}

#[test]
fn damaged_files_are_made_anew() {
    let mut world = an_agent();
    world.sign(SignedDuration::ZERO);
    let before = world.turn();
    for file in fs::read_dir(world.volume.tls()).unwrap() {
        fs::write(file.unwrap().path(), "{").unwrap();
    }
    world.restart();
    let status = world.turn();
    assert_ne!(status.request, before.request);
    assert_eq!(kind(&status), Some(Kind::Refused), "it was signed for the former key");
    world.sign(SignedDuration::ZERO);
    assert_eq!(kind(&world.turn()), None);
}

#[test]
fn who_has_left_keeps_no_key() {
    let mut world = an_agent();
    world.sign(SignedDuration::ZERO);
    world.turn();
    let of_a_secret = world.volume.tls().join(PAIR);
    fs::write(&of_a_secret, "what a Secret held").unwrap();
    let files = || fs::read_dir(world.volume.tls()).unwrap().count();
    assert_eq!(files(), 3);
    world.issued.wipe(&world.volume).unwrap();
    assert!(files() == 1 && of_a_secret.exists() && world.issued.status().is_none());
    world.issued.wipe(&world.volume).unwrap();
}

#[test]
fn who_has_left_asks_again_when_it_is_permitted_to_join_again() {
    let world = an_agent();
    let mut ledger = world.volume.take(&"m-0".into(), None).unwrap();
    let permit = |volume: VolumeId| CassandraMemberSpec {
        start: Some(StartPermit {
            kind: PermitKind::Join,
            nonce: "n1".into(),
            pod_uid: PodUid::new("pod-1"),
            volume_id: volume,
            reason: String::new(),
            attempt: 1,
            replace_address: None,
            host_id: None,
            data: DataBeforeStart::Retire,
            rebuilt: None,
            restore: None,
            lock_token: None,
        }),
        ..CassandraMemberSpec::default()
    };
    let (own, other) = (permit(ledger.volume_id.clone()), permit(VolumeId::new("another")));
    assert!(!is_over(&ledger, None), "a new member");
    ledger.membership = Membership::Left;
    assert!(is_over(&ledger, None) && is_over(&ledger, Some(&other)));
    assert!(!is_over(&ledger, Some(&own)));
    ledger.ban = Ban::Terminated;
    assert!(is_over(&ledger, None) && !is_over(&ledger, Some(&own)));
    ledger.ban = Ban::GivenUp;
    assert!(is_over(&ledger, Some(&own)), "no permit lifts that");
    ledger.ban = Ban::None;
    ledger.use_permit(&"n1".into());
    assert!(is_over(&ledger, Some(&own)), "it was used for the former membership");
}

#[test]
fn a_volume_that_takes_nothing_is_a_problem_that_comes_back() {
    let mut world = an_agent();
    fs::write(world.volume.tls(), "a file is in the way").unwrap();
    let (member, pod_uid) = (MemberName::new("r-dc1-a-0"), PodUid::new("pod-1"));
    let own = Own { member: &member, pod_uid: &pod_uid };
    let untold =
        world.issued.follow(&world.volume, own, &world.order, Reader::IsNotThere, world.now);
    assert_eq!(untold.map(|problem| problem.kind), Some(Kind::NotStored));
}

#[test]
fn it_is_told_who_signed_and_whose_certificates_the_server_takes_for_certain() {
    reports_what_the_server_has_read(Purpose::Internode, Waiting::NoInternodeCertificate);
    reports_what_the_server_has_read(Purpose::Client, Waiting::NoCertificate);
}

fn reports_what_the_server_has_read(purpose: Purpose, lacking: Waiting) {
    let (of_pair, of_authorities) = encryption::files(purpose);
    let mut world = an_agent();
    world.issued = Issued::of(purpose);
    assert_eq!(world.waits(), Some(lacking));
    world.sign(SignedDuration::ZERO);
    let first = world.authority.fingerprint.clone();
    let status = world.turn();
    assert_eq!((status.issuer.as_ref(), &status.trusts), (Some(&first), &vec![first.clone()]));
    let run = tempfile::tempdir().unwrap();
    world.issued.place(&world.volume, run.path(), Reads::AtStart).unwrap();
    let placed = fs::read_dir(run.path()).unwrap().count();
    assert!(run.path().join(of_pair).is_file() && placed == 2, "{placed} files, of one purpose");
    // Another authority is trusted besides; the running server has not read that yet.
    let second = an_authority(world.now);
    world.order.trust = format!("{}{}", world.order.trust, second.certificate);
    let running = |world: &mut World| {
        let (member, pod_uid) = (MemberName::new("r-dc1-a-0"), PodUid::new("pod-1"));
        let own = Own { member: &member, pod_uid: &pod_uid };
        world.issued.follow(&world.volume, own, &world.order, Reader::Runs, world.now);
        world.issued.place(&world.volume, run.path(), Reads::NowAndThen).unwrap();
        world.issued.follow(&world.volume, own, &world.order, Reader::Runs, world.now);
        world.issued.status().unwrap().trusts.clone()
    };
    assert_eq!(running(&mut world), std::slice::from_ref(&first));
    let authorities = run.path().join(of_authorities);
    let both = vec![first.clone(), second.fingerprint];
    assert!(fs::read_to_string(&authorities).unwrap().contains(&second.certificate));
    let file = fs::File::options().write(true).open(&authorities).unwrap();
    file.set_modified(std::time::SystemTime::now() - RELOADED).unwrap();
    assert_eq!(running(&mut world), both);
    // An agent that has just begun knows no more than the file says.
    world.restart_for(purpose);
    assert_eq!(running(&mut world), both);
    file.set_modified(std::time::SystemTime::now()).unwrap();
    world.restart_for(purpose);
    assert!(running(&mut world).is_empty());
    // What it shows has not changed since long, or nobody knows.
    let pair = fs::File::options().write(true).open(run.path().join(of_pair)).unwrap();
    assert_eq!(world.issued.status().unwrap().issuer, None);
    pair.set_modified(std::time::SystemTime::now() - RELOADED).unwrap();
    running(&mut world);
    assert_eq!(world.issued.status().unwrap().issuer, Some(first));
}

#[test]
fn keys_for_clients_and_for_members_are_kept_and_removed_side_by_side() {
    let world = an_agent();
    let mut both = Certificates::default();
    let order = |by: &Authority| MemberCertificate {
        authority: by.fingerprint.clone(),
        trust: by.certificate.clone(),
        ..MemberCertificate::default()
    };
    let (for_clients, for_members) = (an_authority(world.now), an_authority(world.now));
    let orders = palladion_api::member::MemberTls {
        client: Some(order(&for_clients)),
        internode: Some(order(&for_members)),
    };
    let (member, pod_uid) = (MemberName::new("r-dc1-a-0"), PodUid::new("pod-1"));
    let own = Own { member: &member, pod_uid: &pod_uid };
    assert_eq!(both.follow(&world.volume, own, &orders, None, world.now), None);
    let told = both.status().unwrap();
    let request = |status: Option<CertificateStatus>| status.unwrap().request;
    assert_ne!(request(told.client), request(told.internode), "each has a key of its own");
    assert_eq!(fs::read_dir(world.volume.tls()).unwrap().count(), 2);
    both.wipe(&world.volume).unwrap();
    assert_eq!(fs::read_dir(world.volume.tls()).unwrap().count(), 0);
    assert_eq!(both.status(), None);
}

#[test]
fn what_it_shows_is_trusted_until_others_have_had_time_to_show_another() {
    let mut world = an_agent();
    world.restart_for(Purpose::Internode);
    world.sign(SignedDuration::ZERO);
    let former = world.authority.fingerprint.clone();
    assert_eq!(world.turn().trusts, std::slice::from_ref(&former));
    // The ring is made anew: nobody is told to trust the former authority.
    world.made_anew();
    let both = vec![world.authority.fingerprint.clone(), former.clone()];
    let status = world.turn();
    assert_eq!((status.issuer, status.trusts), (Some(former), both.clone()));
    assert_eq!(world.waits(), Some(Waiting::OtherAuthority), "no server starts with it");
    world.restart_for(Purpose::Internode);
    assert_eq!(world.turn().trusts, both, "it is on the volume");
    world.sign(SignedDuration::ZERO);
    let status = world.turn();
    assert_eq!(status.issuer, Some(world.authority.fingerprint.clone()));
    assert_eq!((status.trusts, world.waits()), (both.clone(), None));
    world.now += SignedDuration::from_mins(59);
    assert_eq!(world.turn().trusts, both);
    world.now += SignedDuration::from_mins(1);
    assert_eq!(world.turn().trusts, std::slice::from_ref(&world.authority.fingerprint));
}
