//! What is ordered, signed and told, as plans of one decision after the other.

use super::authorities::{LAST_PART, LIFE, OVERLAP};
use super::due::PAUSE;
use super::{decide, expiring, members, pending, report};
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::fixtures::a_cluster;
use crate::resources as kinds;
use crate::validate::{Valid, ValidClients};
use jiff::{SignedDuration, Timestamp};
use palladion_api::cluster::{CertificateSource, ClientTls, ClientTlsMode, SignedByOperator, Tls};
use palladion_api::ids::{MemberName, Uid};
use palladion_plan::issue::Order;
use palladion_plan::{Meta, Object, Observed, Reason, Resource, Snapshot, Step};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

const MEMBER: &str = "demo-dc1-a-0";
const NOW: Timestamp = Timestamp::constant(1_767_225_600, 0);
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// A ring of one member, as it is stored.
struct Ring {
    valid: Valid,
    now: Timestamp,
    authorities: Value,
    tls: Value,
    asked: Value,
    protocol: u32,
    address: &'static str,
    pod: &'static str,
    pod_address: &'static str,
    client_address: Option<&'static str>,
    announced: Option<&'static str>,
    policies: &'static str,
}

/// Its spec asks for certificates of the operator, and nothing is done yet.
fn a_ring() -> Ring {
    let operator = Some(SignedByOperator {});
    let certificates = Some(CertificateSource { operator, secret_name: None });
    let client = Some(ClientTls { mode: ClientTlsMode::Require, certificates });
    Ring {
        valid: a_cluster()
            .rack("a", 1)
            .spec(|s| s.tls = Some(Tls { client, ..Tls::default() }))
            .valid(),
        now: NOW,
        authorities: json!({}),
        tls: Value::Null,
        asked: Value::Null,
        protocol: palladion_api::member::PROTOCOL,
        address: "10.0.0.1",
        pod: "pod-1",
        pod_address: "10.1.0.5",
        client_address: None,
        announced: None,
        policies: "true",
    }
}

fn authority(name: &str, made: Timestamp) -> Value {
    json!({ "certificate": format!("CA {name}"), "fingerprint": format!("f-{name}"),
            "madeAt": made, "notAfter": made + LIFE })
}

impl Ring {
    /// It has an authority since so long.
    fn with_authority(mut self, name: &str, age: SignedDuration) -> Self {
        self.authorities[name] = authority(name, NOW - age);
        self
    }

    /// The member was ordered to ask this authority, and has asked.
    fn asked(mut self, name: &str) -> Self {
        let by = format!("f-{name}");
        let trust: String = self
            .authorities
            .as_object()
            .unwrap()
            .values()
            .map(|a| format!("{}\n", a["certificate"].as_str().unwrap()))
            .collect();
        self.tls = json!({ "authority": by, "trust": trust });
        self.asked = json!({ "authority": by, "request": "CSR 1", "podUID": self.pod });
        self
    }

    /// What it asked was signed at that time.
    fn signed(mut self, at: Timestamp) -> Self {
        let plan = self.plan();
        let (patch, _) = signed_in(&plan).expect("it should be signed");
        for (field, value) in patch.as_object().unwrap() {
            self.tls[field] = value.clone();
        }
        self.tls["certificate"] = json!("CERT");
        self.tls["signedAt"] = json!(at);
        self.tls["notAfter"] = json!(at + members::LIFE);
        self.asked["stored"] = json!("s");
        self.asked["notAfter"] = self.tls["notAfter"].clone();
        self
    }

    fn snapshot(&self) -> Snapshot {
        let object = |name: &str, uid: &str, body: Value| {
            let labels = [("palladion.dev/rack", "a"), (palladion_api::labels::POD_NAME, name)];
            let labels = labels.map(|(key, value)| (key.to_string(), value.to_string()));
            let meta = Meta {
                name: name.into(),
                namespace: "databases".into(),
                uid: Uid::new(uid),
                resource_version: "7".into(),
                labels: labels.into(),
                ..Meta::default()
            };
            Arc::new(Object { meta, body })
        };
        let known = |value| Observed::Known { value, as_of: self.now };
        let mut objects: BTreeMap<Resource, _> = crate::resources::watches()
            .into_iter()
            .map(|watch| (watch.resource, known(Vec::new())))
            .collect();
        let agent = json!({ "version": "1", "protocol": self.protocol, "podUID": self.pod,
                            "revision": "r", "node": "node-1" });
        let member = json!({
            "spec": { "cluster": "demo", "ring": "demo", "datacenter": "dc1", "rack": "a",
                      "address": self.address, "clientAddress": self.client_address,
                      "tls": { "client": self.tls } },
            "status": { "agent": agent, "tls": { "client": self.asked },
                        "server": { "state": "Running", "since": NOW, "clientAddress": self.announced } },
        });
        objects.insert(kinds::MEMBER, known(vec![object(MEMBER, "member-1", member)]));
        let pod = json!({ "node": "node-1", "address": self.pod_address });
        objects.insert(kinds::POD, known(vec![object(MEMBER, self.pod, pod)]));
        let tls = json!({ "client": { "mode": "Require", "certificates": { "operator": {} } } });
        let spec =
            json!({ "version": "5.0.5", "datacenter": { "name": "dc1", "racks": [] }, "tls": tls });
        // Of what its spec does not say nothing is settled.
        let security = json!({ "defaults": {} });
        let status = json!({ "authorities": self.authorities, "security": security });
        let body = json!({ "spec": spec, "status": status });
        Snapshot {
            now: self.now,
            epoch: 1,
            nonce: "n".into(),
            owner: object("demo", "cluster", body),
            objects,
            references: BTreeMap::new(),
            probes: BTreeMap::new(),
            exchanges: BTreeMap::new(),
            lock: palladion_plan::LockFact::Unasked,
            failure: None,
            settings: Arc::new(
                [("admissionPolicies".to_string(), self.policies.to_string())].into(),
            ),
        }
    }

    fn plan(&self) -> Draft {
        self.ask(|facts, valid| {
            let mut draft = Draft::default();
            decide(facts, valid, &mut draft);
            draft
        })
    }

    fn ask<T>(&self, question: impl FnOnce(&Facts<'_>, &Valid) -> T) -> T {
        let snapshot = self.snapshot();
        question(&Facts::read(&snapshot).unwrap(), &self.valid)
    }

    fn told(&self) -> Vec<Reason> {
        self.ask(|facts, valid| {
            let mut draft = Draft::default();
            report(facts, valid, &mut draft);
            draft.troubles.iter().map(|t| t.reason).collect()
        })
    }

    fn not_named(&self) -> Option<String> {
        self.ask(|facts, valid| {
            let member = &facts.members[&MemberName::new(MEMBER)];
            pending::not_named(facts, valid, member).map(ToString::to_string)
        })
    }

    fn is_pending(&self) -> bool {
        self.ask(|facts, valid| {
            pending::is_pending(facts, valid, &facts.members[&MemberName::new(MEMBER)])
        })
    }
}

fn made(plan: &Draft) -> Option<&str> {
    plan.steps.iter().find_map(|step| match step {
        Step::Issue { authority, order: Order::Authority { .. }, .. } => Some(authority.as_str()),
        _ => None,
    })
}

fn ordered(plan: &Draft) -> Option<&Value> {
    plan.steps.iter().find_map(|step| match step {
        Step::Patch { patch, .. } => patch.pointer("/spec/tls/client"),
        _ => None,
    })
}

fn signed_in(plan: &Draft) -> Option<(&Value, &Order)> {
    plan.steps.iter().find_map(|step| match step {
        Step::Issue { patch, order: order @ Order::Certificate { .. }, .. } => {
            Some((patch.pointer("/spec/tls/client")?, order))
        }
        _ => None,
    })
}

fn signer(plan: &Draft) -> Option<&str> {
    match signed_in(plan)?.1 {
        Order::Certificate { fingerprint, .. } => Some(fingerprint),
        Order::Authority { .. } | Order::Forget { .. } => None,
    }
}

#[test]
fn from_nothing_an_authority_is_made_then_ordered_then_signed() {
    let ring = a_ring();
    let plan = ring.plan();
    assert_eq!((made(&plan), plan.steps.len()), (Some("client-1"), 1));
    let ring = ring.with_authority("client-1", SignedDuration::ZERO);
    let plan = ring.plan();
    assert_eq!(
        ordered(&plan),
        Some(&json!({ "authority": "f-client-1", "trust": "CA client-1\n" }))
    );
    assert_eq!((made(&plan), signed_in(&plan)), (None, None));
    let published = plan.steps.iter().find_map(|step| match step {
        Step::Apply { object, .. } => Some(object),
        _ => None,
    });
    let published = published.expect("clients should find it");
    assert_eq!(published["metadata"]["name"], "demo-client-ca");
    assert_eq!(published["data"], json!({ "ca.crt": "CA client-1\n" }));
    let plan = ring.asked("client-1").plan();
    let (patch, order) = signed_in(&plan).expect("it should be signed");
    assert_eq!(patch["address"], "10.0.0.1");
    let Order::Certificate { names, addresses, request, life, .. } = order else { panic!() };
    assert_eq!((request.as_str(), *life), ("CSR 1", DAY * 365));
    assert_eq!(addresses, &["10.0.0.1", "127.0.0.1"]);
    for name in [MEMBER, "demo-client.databases.svc", "demo-dc1-a-0.databases.svc", "localhost"] {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
}

#[test]
fn at_rest_nothing_is_written_and_it_wakes_for_the_renewal() {
    let ring = a_ring().with_authority("client-1", DAY * 40).asked("client-1").signed(NOW);
    let plan = ring.plan();
    let writes = plan.steps.iter().filter(|step| !crate::decide::draft::is_upkeep(step));
    // Of the ConfigMap this decision does not know that it exists.
    assert_eq!(writes.filter(|step| !matches!(step, Step::Apply { .. })).count(), 0);
    assert_eq!(plan.wake, Some(NOW + members::LIFE / 3 * 2));
}

#[test]
fn a_certificate_is_renewed_after_two_thirds_of_its_life() {
    let mut ring = a_ring().with_authority("client-1", DAY * 40).asked("client-1").signed(NOW);
    ring.now = NOW + members::LIFE / 3 * 2 - SignedDuration::from_secs(1);
    assert_eq!(signed_in(&ring.plan()), None);
    ring.now += SignedDuration::from_secs(1);
    assert!(signed_in(&ring.plan()).is_some());
}

#[test]
fn what_a_clock_that_was_ahead_has_signed_is_signed_anew() {
    let signed = |at| a_ring().with_authority("client-1", DAY * 40).asked("client-1").signed(at);
    let almost_right = signed(NOW + SignedDuration::from_mins(59));
    assert_eq!(signed_in(&almost_right.plan()), None);
    assert!(signed_in(&signed(NOW + DAY * 100).plan()).is_some());
}

#[test]
fn another_key_or_address_is_signed_but_not_at_every_whim() {
    let ring = || a_ring().with_authority("client-1", DAY * 40).asked("client-1").signed(NOW);
    let mut other_key = ring();
    other_key.asked["request"] = json!("CSR 2");
    let mut other_address = ring();
    other_address.address = "10.0.0.2";
    for mut ring in [other_key, other_address] {
        let plan = ring.plan();
        assert_eq!((signed_in(&plan), plan.wake), (None, Some(NOW + PAUSE)));
        ring.now = NOW + PAUSE;
        assert!(signed_in(&ring.plan()).is_some());
    }
}

/// Its clients find it at the address of a load balancer, once it has one.
fn balanced(ring: &mut Ring, address: Option<&'static str>) {
    ring.valid.clients = ValidClients::LoadBalancer { source_ranges: Vec::new() };
    ring.client_address = address;
}

fn names_of(plan: &Draft) -> Option<Vec<String>> {
    match signed_in(plan)?.1 {
        Order::Certificate { addresses, .. } => Some(addresses.clone()),
        Order::Authority { .. } | Order::Forget { .. } => None,
    }
}

#[test]
fn the_first_certificate_waits_for_the_address_that_clients_verify() {
    let mut ring = a_ring().with_authority("client-1", DAY).asked("client-1");
    balanced(&mut ring, None);
    assert_eq!(signed_in(&ring.plan()), None);
    ring.client_address = Some("203.0.113.7");
    let plan = ring.plan();
    let named = ["10.0.0.1", "203.0.113.7", "127.0.0.1"].map(str::to_string);
    assert_eq!(names_of(&plan), Some(named.into()));
    let (patch, _) = signed_in(&plan).unwrap();
    assert_eq!(patch["clientAddresses"], json!(["203.0.113.7"]));
}

/// One that has a certificate is renewed in time, whatever its load balancer lacks.
#[test]
fn a_renewal_waits_for_no_address() {
    let mut ring = a_ring().with_authority("client-1", DAY * 40).asked("client-1").signed(NOW);
    balanced(&mut ring, None);
    assert_eq!(signed_in(&ring.plan()), None, "nothing has changed");
    ring.now = NOW + members::LIFE / 3 * 2;
    assert!(signed_in(&ring.plan()).is_some());
}

#[test]
fn another_address_is_named_beside_the_one_that_is_announced() {
    let mut ring = a_ring().with_authority("client-1", DAY * 40).asked("client-1");
    balanced(&mut ring, Some("203.0.113.7"));
    let mut ring = ring.signed(NOW);
    ring.announced = Some("203.0.113.7");
    assert_eq!((signed_in(&ring.plan()), ring.not_named()), (None, None));
    ring.client_address = Some("203.0.113.8");
    assert_eq!(ring.not_named().as_deref(), Some("203.0.113.8"));
    assert_eq!(signed_in(&ring.plan()), None, "not at every whim");
    ring.now = NOW + PAUSE;
    let both = ["10.0.0.1", "203.0.113.8", "203.0.113.7", "127.0.0.1"].map(str::to_string);
    assert_eq!(names_of(&ring.plan()), Some(both.into()));
    let mut ring = ring.signed(NOW + PAUSE);
    assert_eq!(ring.not_named(), None, "it is on the volume");
    ring.asked["notAfter"] = json!(NOW);
    assert_eq!(ring.not_named().as_deref(), Some("203.0.113.8"), "the one before is");
}

/// Whoever has the token of a pod says what it likes, and is signed no more than is on record.
#[test]
fn what_an_agent_reports_is_named_in_no_certificate() {
    let mut ring = a_ring().with_authority("client-1", DAY).asked("client-1");
    ring.announced = Some("198.51.100.66");
    for address in [None, Some("203.0.113.7")] {
        ring.client_address = address;
        ring.valid.clients = ValidClients::ServiceClusterIp;
        let names = names_of(&ring.plan()).unwrap();
        assert_eq!(names, ["10.0.0.1", "127.0.0.1"]);
    }
    balanced(&mut ring, Some("203.0.113.7"));
    assert!(!names_of(&ring.plan()).unwrap().contains(&"198.51.100.66".to_string()));
}

#[test]
fn the_address_of_a_new_pod_is_signed_at_once_and_only_then() {
    let mut ring = a_ring().with_authority("client-1", DAY * 40).asked("client-1");
    ring.valid.clients = ValidClients::PodIp;
    let mut ring = ring.signed(NOW);
    assert_eq!(signed_in(&ring.plan()), None);
    ring.pod_address = "10.1.0.9";
    let named = ["10.0.0.1", "10.1.0.9", "127.0.0.1"].map(str::to_string);
    assert_eq!(names_of(&ring.plan()), Some(named.into()));
    assert_eq!(signed_in(&ring.signed(NOW).plan()), None);
}

#[test]
fn only_what_the_pod_that_exists_asks_the_ordered_authority_is_signed() {
    let mut of_former_pod = a_ring().with_authority("client-1", DAY).asked("client-1");
    of_former_pod.asked["podUID"] = json!("pod-0");
    assert_eq!(signed_in(&of_former_pod.plan()), None);
    let mut of_another = a_ring().with_authority("client-1", DAY).asked("client-1");
    of_another.asked["authority"] = json!("f-another");
    assert_eq!(signed_in(&of_another.plan()), None);
}

#[test]
fn an_order_to_another_authority_takes_the_former_certificate_from_the_record() {
    let ring = a_ring().with_authority("client-1", DAY * 40).asked("client-1").signed(NOW);
    let mut ring = ring;
    ring.authorities = json!({ "client-1": authority("anew", NOW) });
    let plan = ring.plan();
    let order = ordered(&plan).expect("the agent should ask anew");
    assert_eq!(order["authority"], "f-anew");
    let gone = order.as_object().unwrap();
    assert!(gone.contains_key("certificate") && gone["certificate"].is_null());
    assert_eq!(signed_in(&plan), None, "what it asked another one is not signed");
}

#[test]
fn an_authority_gets_a_successor_in_time_which_signs_when_clients_know_it() {
    let aged = LIFE - LAST_PART;
    let mut ring = a_ring().with_authority("client-1", aged).asked("client-1").signed(NOW);
    assert_eq!(made(&ring.plan()), Some("client-2"));
    ring.authorities["client-2"] = authority("client-2", NOW);
    let plan = ring.plan();
    assert_eq!(made(&plan), None);
    let order = ordered(&plan).expect("clients and members should trust both");
    assert_eq!(order["trust"], "CA client-1\nCA client-2\n");
    assert_eq!(order["authority"], "f-client-1");
    assert!(!order.as_object().unwrap().contains_key("certificate"), "it goes on serving with it");
    ring.now = NOW + OVERLAP;
    assert_eq!(ordered(&ring.plan()).map(|o| &o["authority"]), Some(&json!("f-client-2")));
    let ring = ring.asked("client-2");
    assert_eq!(signer(&ring.plan()), Some("f-client-2"));
}

#[test]
fn an_authority_that_has_expired_is_dropped_and_trusted_no_more() {
    let mut ring = a_ring().with_authority("client-1", LIFE).with_authority("client-2", DAY * 400);
    ring = ring.asked("client-2");
    ring.tls["trust"] = json!("CA client-2\n");
    let plan = ring.plan();
    let dropped = plan.steps.iter().find_map(|step| match step {
        Step::Patch { patch, .. } => patch.pointer("/status/authorities"),
        _ => None,
    });
    assert_eq!(dropped, Some(&json!({ "client-1": null })));
    assert_eq!((made(&plan), ordered(&plan)), (None, None));
    let alone = a_ring().with_authority("client-1", LIFE);
    assert_eq!(made(&alone.plan()), Some("client-2"), "it is never the last that goes");
}

#[test]
fn with_policies_off_nothing_is_signed_and_it_is_told() {
    for policies in ["false", ""] {
        let mut ring = a_ring().with_authority("client-1", DAY).asked("client-1");
        ring.policies = policies;
        assert!(ring.plan().steps.is_empty());
        assert_eq!(ring.told(), [Reason::SigningOff]);
        ring.protocol = 5;
        assert!(ring.is_pending(), "nobody is restarted into a wait without end");
    }
}

#[test]
fn a_certificate_that_is_not_renewed_is_told_sixty_days_before_it_expires() {
    let mut ring = a_ring().with_authority("client-1", DAY * 40).asked("client-1").signed(NOW);
    ring.asked["notAfter"] = json!(NOW + expiring::EXPIRING + DAY);
    assert!(ring.told().is_empty());
    ring.now += DAY;
    assert_eq!(ring.told(), [Reason::CertificateExpiring]);
    ring.policies = "false";
    assert_eq!(ring.told(), [Reason::SigningOff, Reason::CertificateExpiring]);
    ring.valid = a_cluster().rack("a", 1).valid();
    assert!(ring.told().is_empty(), "nobody asks for them any more");
}

#[test]
fn a_ring_that_does_not_ask_for_it_is_not_touched() {
    let mut ring = a_ring().with_authority("client-1", DAY).asked("client-1");
    ring.valid = a_cluster().rack("a", 1).valid();
    assert!(ring.plan().steps.is_empty() && ring.told().is_empty() && !ring.is_pending());
}

#[test]
fn a_member_restarts_into_tls_when_its_certificate_is_on_its_volume() {
    let ring = a_ring().with_authority("client-1", DAY * 40).asked("client-1");
    assert!(ring.is_pending());
    let mut old = a_ring();
    old.protocol = 5;
    assert!(!old.is_pending(), "only the next agent can ask");
    assert_eq!(old.told(), [Reason::AgentTooOld]);
    assert!(!ring.signed(NOW).is_pending());
}

#[test]
fn what_a_member_does_not_take_is_told() {
    for kind in ["NotYetValid", "Expired", "Refused", "NotStored"] {
        let mut ring = a_ring().with_authority("client-1", DAY * 40).asked("client-1").signed(NOW);
        assert!(ring.told().is_empty());
        ring.asked["problem"] = json!({ "kind": kind, "message": "why" });
        assert_eq!(ring.told(), [Reason::CertificateUnusable], "{kind}");
    }
}
