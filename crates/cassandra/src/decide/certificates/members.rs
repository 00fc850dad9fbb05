//! What each member is ordered, and what is signed for it. The names come from
//! what is on record, never from what its agent asks for.

use super::authorities::{self, Known};
use super::due::{self, Due};
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::certificates::Doing;
use jiff::SignedDuration;
use palladion_api::ids::StaticAddress;
use palladion_api::member::{CertificateStatus, MemberCertificate};
use palladion_api::names;
use palladion_plan::issue::{Order, Placed};
use palladion_plan::{Object, Step};
use serde_json::{Value, json};

/// How long a certificate is valid.
pub const LIFE: SignedDuration = SignedDuration::from_hours(24 * 365);

pub(super) fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let Some(signer) = authorities::signer(facts) else {
        return;
    };
    let trust = authorities::trust(facts);
    for member in facts.members.values().filter(|m| !m.is_gone()) {
        let (Some(object), Some(spec)) = (&member.object, &member.spec) else {
            continue;
        };
        let order = spec.tls.as_ref().and_then(|tls| tls.client.as_ref());
        draft.begin_part();
        match order.filter(|o| o.authority == signer.record.fingerprint && o.trust == trust) {
            None => draft.steps.push(give_order(member, object, order, signer, &trust)),
            Some(order) => match due::due(member, order, facts.now()) {
                Due::Now => draft.steps.extend(sign(valid, member, object, order, signer)),
                Due::At(time) => draft.wake_at(time),
                Due::NotAsked => {}
            },
        }
    }
}

/// The authority that the agent asks, and all that clients trust. What another
/// one signed goes from the record; the agent keeps it until it has the new one.
fn give_order(
    member: &MemberFact,
    object: &Object,
    known: Option<&MemberCertificate>,
    signer: Known<'_>,
    trust: &str,
) -> Step {
    let authority = &signer.record.fingerprint;
    let mut client = json!({ "authority": authority, "trust": trust });
    if known.is_some_and(|known| known.authority != *authority) {
        for field in ["request", "address", "certificate", "signedAt", "notAfter"] {
            client[field] = Value::Null;
        }
    }
    let patch = json!({ "spec": { "tls": { "client": client } } });
    let doing = Doing::Order { member: member.name.clone() };
    Step::patch_seen(kinds::MEMBER, &object.meta, patch, doing)
}

/// Have it signed, once the member has an address.
fn sign(
    valid: &Valid,
    member: &MemberFact,
    object: &Object,
    order: &MemberCertificate,
    signer: Known<'_>,
) -> Option<Step> {
    let asked = due::asked(member, order)?;
    let address = member.spec.as_ref()?.address.as_ref()?;
    let client = json!({ "request": due::id(asked), "address": address });
    let into = Placed {
        patch: json!({ "spec": { "tls": { "client": client } } }),
        at: "/spec/tls/client",
    };
    let order = certificate(valid, member, asked, address, signer);
    let doing = Doing::Sign { member: member.name.clone() };
    Some(Step::certify(kinds::MEMBER, &object.meta, signer.name, order, into, doing))
}

fn certificate(
    valid: &Valid,
    member: &MemberFact,
    asked: &CertificateStatus,
    address: &StaticAddress,
    signer: Known<'_>,
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
    all.extend(of_service(&names::client_service(&valid.name)));
    all.push("localhost".to_string());
    Order::Certificate {
        fingerprint: signer.record.fingerprint.clone(),
        request: asked.request.clone(),
        names: all,
        addresses: vec![address.to_string(), "127.0.0.1".to_string()],
        life: LIFE,
    }
}
