//! What each member is ordered, and what is signed for it. The names come from
//! what is on record, never from what its agent asks for.

use super::authorities::{self, Known};
use super::due::{self, Due};
use super::rotation;
use crate::clients::{self, Named};
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::certificates::Doing;
use jiff::SignedDuration;
use palladion_api::member::{CertificateStatus, MemberCertificate, Purpose};
use palladion_api::names;
use palladion_plan::issue::{Order, Placed};
use palladion_plan::{Object, Step};
use serde_json::{Value, json};

/// How long a certificate is valid.
pub const LIFE: SignedDuration = SignedDuration::from_hours(24 * 365);

pub(super) fn decide(facts: &Facts<'_>, valid: &Valid, purpose: Purpose, draft: &mut Draft) {
    let (rotation, trust) =
        (rotation::under_way(facts, purpose), authorities::trust(facts, purpose));
    if trust.is_empty() {
        return;
    }
    let (usual, next) = match &rotation {
        Some(rotation) => (rotation.former_signer(facts), rotation.next(facts)),
        None => (authorities::signer(facts, purpose), None),
    };
    for member in facts.members.values().filter(|m| !m.is_gone()) {
        let (Some(object), Some(spec)) = (&member.object, &member.spec) else {
            continue;
        };
        let order = spec.tls.as_ref().and_then(|tls| tls.of(purpose));
        let new = rotation.as_ref().filter(|rotation| rotation.signs_for(member, next));
        let signer = new.map(|rotation| rotation.to).or(usual);
        // While the newest may not sign yet, each asks whom it asked, and learns whom to trust.
        let by = signer.map(|s| &s.record.fingerprint).or(order.map(|order| &order.authority));
        let Some(by) = by else { continue };
        draft.begin_part();
        match order.filter(|o| o.authority == *by && o.trust == trust) {
            None => draft.steps.push(give_order(member, object, order, by, &trust, purpose)),
            Some(order) => {
                let Some(signer) = signer else { continue };
                let named = clients::named(valid, member, order, purpose);
                match due::due(member, order, purpose, &named, facts.now()) {
                    Due::Now => {
                        let to = Recipient { valid, member, object, order, named };
                        draft.steps.extend(to.sign(signer, purpose));
                    }
                    Due::At(time) => draft.wake_at(time),
                    Due::NotAsked => {}
                }
            }
        }
    }
}

/// The authority that the agent asks, and all that clients trust. What another
/// one signed goes from the record; the agent keeps it until it has the new one.
fn give_order(
    member: &MemberFact,
    object: &Object,
    known: Option<&MemberCertificate>,
    authority: &str,
    trust: &str,
    purpose: Purpose,
) -> Step {
    let mut order = json!({ "authority": authority, "trust": trust });
    if known.is_some_and(|known| known.authority != authority) {
        let void = ["request", "address", "clientAddresses", "certificate", "signedAt", "notAfter"];
        for field in void {
            order[field] = Value::Null;
        }
    }
    let patch = json!({ "spec": { "tls": { purpose.name(): order } } });
    let doing = match purpose {
        Purpose::Client => Doing::Order { member: member.name.clone() },
        Purpose::Internode => Doing::OrderInternode { member: member.name.clone() },
    };
    // As it was seen: what an earlier leader decided is not put over what its successor ordered.
    Step::patch_as_seen(kinds::MEMBER, &object.meta, patch, doing)
}

/// Whom a certificate is for.
struct Recipient<'a> {
    valid: &'a Valid,
    member: &'a MemberFact,
    object: &'a Object,
    order: &'a MemberCertificate,
    named: Named,
}

impl Recipient<'_> {
    /// Have it signed, once the member has its addresses. One that runs goes on with what it has.
    fn sign(&self, signer: Known<'_>, purpose: Purpose) -> Option<Step> {
        let Recipient { valid, member, object, order, named } = self;
        let asked = due::asked(member, order, purpose)?;
        let address = member.spec.as_ref()?.address.as_ref()?;
        let is_first = purpose == Purpose::Client && order.certificate.is_none();
        if is_first && clients::lacks_address(valid, member) {
            return None;
        }
        let mut answer = json!({ "request": due::id(asked), "address": address });
        if order.client_addresses != named.addresses {
            let named = Some(&named.addresses).filter(|named| !named.is_empty());
            answer["clientAddresses"] = json!(named);
        }
        let patch = json!({ "spec": { "tls": { purpose.name(): answer } } });
        let member_name = || member.name.clone();
        let (at, doing) = match purpose {
            Purpose::Client => ("/spec/tls/client", Doing::Sign { member: member_name() }),
            Purpose::Internode => {
                ("/spec/tls/internode", Doing::SignInternode { member: member_name() })
            }
        };
        let into = Placed { patch, at };
        let mut addresses = vec![address.to_string()];
        addresses.extend(named.addresses.iter().map(ToString::to_string));
        let order = certificate(valid, member, asked, addresses, signer, purpose);
        Some(Step::certify(kinds::MEMBER, &object.meta, signer.name, order, into, doing))
    }
}

fn certificate(
    valid: &Valid,
    member: &MemberFact,
    asked: &CertificateStatus,
    mut addresses: Vec<String>,
    signer: Known<'_>,
    purpose: Purpose,
) -> Order {
    let of_service = |name: &str| {
        let (name, namespace) = (name.to_string(), &valid.namespace);
        [
            format!("{name}.{namespace}"),
            format!("{name}.{namespace}.svc"),
            format!("{name}.{namespace}.svc.cluster.local"),
            name,
        ]
    };
    let mut all: Vec<String> = of_service(member.name.as_str()).into();
    if purpose == Purpose::Client {
        all.extend(of_service(&names::client_service(&valid.name)));
        all.push("localhost".to_string());
        addresses.push("127.0.0.1".to_string());
    }
    Order::Certificate {
        fingerprint: signer.record.fingerprint.clone(),
        request: asked.request.clone(),
        names: all,
        addresses,
        life: LIFE,
    }
}
