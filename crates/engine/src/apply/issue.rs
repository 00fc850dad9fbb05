//! Authorities: their keys are in one Secret of the operator's own namespace,
//! which is read by name when something is to be signed; no other Secret is read,
//! and nothing of it is kept in memory. An entry is bound to the namespace, the
//! name and the uid of its owner: what a status says of another's authority signs
//! nothing.

mod left_over;

use crate::apply::{Applier, StepError};
use crate::words::NotSigned;
use jiff::Timestamp;
use k8s_openapi::ByteString;
use palladion_api::names::AUTHORITIES_SECRET;
use palladion_api::rights::{Place, Right, Verb};
use palladion_authority::{Authority, Identity, Terms};
use palladion_plan::issue::Order;
use palladion_plan::kinds::SECRET;
use palladion_plan::{FailureClass, ObjectKey, Subresource, hash};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The one Secret that the operator reads.
pub const RIGHT: Right = Right::new(
    Place::Own,
    SECRET.group,
    SECRET.plural,
    &[Verb::Get, Verb::Patch],
    "The keys of the authorities that the operator signs certificates with; read when it signs, and no other Secret. A key is removed when its owner does not exist any more",
)
.only(&[AUTHORITIES_SECRET]);

/// An entry of the Secret. It holds a secret, so it cannot be shown.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    namespace: String,
    owner: String,
    uid: String,
    authority: String,
    made_at: Timestamp,
    certificate: String,
    key: String,
}

/// The Secret as it was read.
struct Kept {
    key: ObjectKey,
    object: Value,
}

impl Applier<'_> {
    /// Have made what a step orders; what is added to its patch.
    pub(super) async fn issue(
        &self,
        subject: &ObjectKey,
        authority: &str,
        order: &Order,
    ) -> Result<Value, StepError> {
        let kept = self.kept().await?;
        let place = self.place(authority);
        match order {
            Order::Authority { life, since } => {
                let known = self.entry(&kept, &place, authority)?;
                let is_new = |entry: &Entry| since.is_none_or(|since| entry.made_at >= since);
                let entry = match known.filter(is_new) {
                    Some(entry) => entry,
                    None => self.make(&kept, &place, authority, *life).await?,
                };
                let made = of_entry(&entry)?;
                Ok(json!({
                    "certificate": made.certificate,
                    "fingerprint": made.fingerprint,
                    "madeAt": entry.made_at,
                    "notAfter": made.not_after,
                }))
            }
            Order::Forget { fingerprint } => {
                self.forget(&kept, authority, fingerprint).await?;
                Ok(json!({}))
            }
            Order::Certificate { fingerprint, request, names, addresses, life } => {
                let entry = self.entry(&kept, &place, authority)?.ok_or_else(|| {
                    refused(NotSigned::NoKey { authority: authority.to_string() })
                })?;
                let signer = of_entry(&entry)?;
                if signer.fingerprint != *fingerprint {
                    return Err(refused(NotSigned::OtherKey { authority: authority.to_string() }));
                }
                let terms =
                    Terms { names: names.clone(), addresses: addresses.clone(), life: *life };
                let now = Timestamp::now();
                let signed = signer.sign(request, &self.identity(subject), &terms, now);
                let signed =
                    signed.map_err(|why| refused(NotSigned::Rule { why: why.to_string() }))?;
                Ok(json!({
                    "certificate": signed.certificate,
                    "signedAt": seconds(now),
                    "notAfter": signed.not_after,
                }))
            }
        }
    }

    /// Keep the key of an authority no longer. One that is not there was removed before; of
    /// another one of this name nothing is known, and it stays.
    async fn forget(
        &self,
        kept: &Kept,
        authority: &str,
        fingerprint: &str,
    ) -> Result<(), StepError> {
        let place = self.place(authority);
        let Some(entry) = self.entry(kept, &place, authority)? else {
            return Ok(());
        };
        if of_entry(&entry)?.fingerprint != fingerprint {
            return Err(refused(NotSigned::OtherKey { authority: authority.to_string() }));
        }
        let patch = json!({
            "metadata": { "resourceVersion": kept.object["metadata"]["resourceVersion"] },
            "data": { place: null },
        });
        self.may_write()?;
        let answer = self.api.merge(&kept.key, Subresource::None, &patch).await;
        self.faults.after_write();
        answer?;
        Ok(())
    }

    /// The Secret with the keys, live.
    async fn kept(&self) -> Result<Kept, StepError> {
        let namespace = self.own_namespace.ok_or_else(|| refused(NotSigned::Nowhere))?;
        let key = ObjectKey::new(SECRET, namespace, AUTHORITIES_SECRET);
        match self.api.get(&key).await? {
            Some(object) => Ok(Kept { key, object }),
            None => Err(refused(NotSigned::NoSecret {
                name: AUTHORITIES_SECRET.to_string(),
                namespace: namespace.to_string(),
            })),
        }
    }

    /// The name of the owner's entry: 16 digits tell owners apart, and the entry
    /// says whose it is.
    fn place(&self, authority: &str) -> String {
        let meta = &self.owner.meta;
        let of = json!([self.owner_key.resource.kind, meta.namespace, meta.name, meta.uid]);
        format!("{}.{authority}", hash::of(&of))
    }

    fn entry(&self, kept: &Kept, place: &str, authority: &str) -> Result<Option<Entry>, StepError> {
        let stored = &kept.object["data"][place];
        if stored.is_null() {
            return Ok(None);
        }
        let unreadable = || refused(NotSigned::Unreadable { entry: place.to_string() });
        let bytes: ByteString = serde_json::from_value(stored.clone()).map_err(|_| unreadable())?;
        let entry: Entry = serde_json::from_slice(&bytes.0).map_err(|_| unreadable())?;
        let meta = &self.owner.meta;
        let is_ours = entry.namespace == meta.namespace
            && entry.owner == meta.name
            && meta.uid.as_str() == entry.uid
            && entry.authority == authority;
        match is_ours {
            true => Ok(Some(entry)),
            false => Err(refused(NotSigned::OfAnother { entry: place.to_string() })),
        }
    }

    /// Two leaders make one: whose write comes second finds another version. What deleted
    /// owners have left goes by the same write.
    async fn make(
        &self,
        kept: &Kept,
        place: &str,
        authority: &str,
        life: jiff::SignedDuration,
    ) -> Result<Entry, StepError> {
        let (meta, now) = (&self.owner.meta, seconds(Timestamp::now()));
        let name = format!("{} {authority}", meta.name);
        let made = Authority::make(&name, now, life)
            .map_err(|why| refused(NotSigned::Rule { why: why.to_string() }))?;
        let entry = Entry {
            namespace: meta.namespace.clone(),
            owner: meta.name.clone(),
            uid: meta.uid.to_string(),
            authority: authority.to_string(),
            made_at: now,
            certificate: made.certificate.clone(),
            key: made.key(),
        };
        let bytes = serde_json::to_vec(&entry).map(ByteString).unwrap_or_default();
        let left_over = self.left_over(kept, now).await;
        let mut patch = json!({
            "metadata": { "resourceVersion": kept.object["metadata"]["resourceVersion"] },
            "data": { place: bytes },
        });
        for entry in &left_over {
            patch["data"][entry] = Value::Null;
        }
        self.may_write()?;
        let answer = self.api.merge(&kept.key, Subresource::None, &patch).await;
        self.faults.after_write();
        answer?;
        if !left_over.is_empty() {
            let (count, kind) = (left_over.len(), self.owner_key.resource.kind);
            tracing::info!(count, kind, "keys of authorities whose owners are gone were removed");
        }
        Ok(entry)
    }

    /// Whom a certificate is for: by the names of the objects, never by what they say.
    fn identity(&self, subject: &ObjectKey) -> Identity {
        Identity {
            namespace: self.owner.meta.namespace.clone(),
            ring: self.owner.meta.name.clone(),
            member: subject.name.clone(),
        }
    }
}

fn of_entry(entry: &Entry) -> Result<Authority, StepError> {
    Authority::kept(&entry.key, &entry.certificate)
        .map_err(|why| refused(NotSigned::Rule { why: why.to_string() }))
}

/// Times of objects are whole seconds.
fn seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

fn refused(why: NotSigned) -> StepError {
    StepError { class: FailureClass::Refused, message: why.to_string(), retry_after: None }
}
