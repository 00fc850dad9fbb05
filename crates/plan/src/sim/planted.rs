//! Steps that could hurt, planted to see that the hazards of a mind refuse them:
//! without a proof, and with one that is of another kind, about somebody else
//! or too old.

use crate::hazard::{Act, Hazard};
use crate::lint::{Violation, violations};
use crate::object::{Meta, Object, Resource};
use crate::plan::{Loss, Plan, Step};
use crate::proof::{Identity, MakesProofs, Proof, ProofKind};
use crate::snapshot::{Observed, Snapshot};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::sync::Arc;

/// The name of the object of every planted step.
pub const NAME: &str = "planted";

/// What planted proofs are made by.
struct Plants;

impl MakesProofs for Plants {}

/// A step that could hurt.
#[derive(Clone, Debug)]
pub struct Planted {
    resource: Resource,
    stored: Value,
    step: Step,
}

impl Planted {
    /// A patch of an object that is stored like this.
    pub fn patch(resource: Resource, stored: Value, patch: Value) -> Self {
        let step = Step::patch_as_seen(resource, &meta(), patch, "hurt");
        Self { resource, stored, step }
    }

    /// A deletion with all dependents.
    pub fn deletion(resource: Resource, loss: Loss) -> Self {
        let step = Step::delete_as_seen(resource, &meta(), loss, "hurt");
        Self { resource, stored: Value::Null, step }
    }

    /// Do the hazards refuse it, but with a proof about `about` of one of
    /// `kinds` and of no other?
    ///
    /// # Errors
    /// What they let pass, or refuse though it is proven.
    pub fn needs(
        &self,
        hazards: &[Hazard],
        about: &str,
        kinds: &[ProofKind],
    ) -> Result<(), String> {
        let expect = |what: &str, proof: Option<Proof>, is_it: fn(&Violation) -> bool| {
            let found = self.found(hazards, proof);
            let is_found = found.iter().any(is_it);
            is_found.then_some(()).ok_or_else(|| format!("{what}: {found:?} for {:?}", self.step))
        };
        expect("no proof", None, |v| matches!(v, Violation::ProofMissing { .. }))?;
        for kind in ProofKind::ALL {
            let of = |about: &str, as_of| Some(proof(kind, about, as_of));
            if !kinds.contains(&kind) {
                let is_it = |v: &Violation| matches!(v, Violation::ProofOfAnotherKind { .. });
                expect(&format!("{kind:?}"), of(about, now()), is_it)?;
                continue;
            }
            let found = self.found(hazards, of(about, now()));
            if !found.is_empty() {
                return Err(format!("{kind:?} should do: {found:?} for {:?}", self.step));
            }
            let is_it = |v: &Violation| matches!(v, Violation::ProofAboutAnother { .. });
            expect(&format!("{kind:?} about somebody else"), of("somebody else", now()), is_it)?;
            if kind.lifetime().is_some() {
                let then = now() - SignedDuration::from_hours(1);
                let is_it = |v: &Violation| matches!(v, Violation::ProofOutOfTime { .. });
                expect(&format!("{kind:?} of an hour ago"), of(about, then), is_it)?;
            }
        }
        Ok(())
    }

    /// Do the hazards let it pass without a proof?
    ///
    /// # Errors
    /// What they find in it.
    pub fn needs_none(&self, hazards: &[Hazard]) -> Result<(), String> {
        let found = self.found(hazards, None);
        found.is_empty().then_some(()).ok_or_else(|| format!("{found:?} for {:?}", self.step))
    }

    fn found(&self, hazards: &[Hazard], proof: Option<Proof>) -> Vec<Violation> {
        let plan = Plan { steps: vec![self.step.clone().proven(proof)], ..Plan::default() };
        violations(&plan, &self.snapshot(), hazards)
    }

    fn snapshot(&self) -> Snapshot {
        let object = Arc::new(Object { meta: meta(), body: self.stored.clone() });
        let known = Observed::Known { value: vec![object.clone()], as_of: now() };
        Snapshot {
            now: now(),
            epoch: 1,
            nonce: "n".into(),
            owner: object,
            objects: [(self.resource, known)].into(),
            references: Default::default(),
            probes: Default::default(),
            lock: crate::LockFact::Unasked,
            exchanges: Default::default(),
            failure: None,
            settings: Default::default(),
        }
    }
}

/// A planted step, whom its proof is about, and the kinds of proof that will do.
pub type Case = (Planted, &'static str, &'static [ProofKind]);

/// Is each of the hazards what refuses one of these steps? What none of them needs could be
/// lost from the table without a test that sees it.
///
/// # Errors
/// The first hazard that nothing needs.
pub fn each_is_needed(hazards: &[Hazard], cases: &[Case]) -> Result<(), String> {
    for lost in 0..hazards.len() {
        let rest = [&hazards[..lost], &hazards[lost + 1..]].concat();
        if !cases.iter().any(|(step, about, kinds)| step.needs(&rest, about, kinds).is_err()) {
            return Err(format!("nothing needs {:?}", hazards[lost]));
        }
    }
    Ok(())
}

/// The values that the hazards name. A rename of the API must not leave one behind that
/// nothing matches.
pub fn values(hazards: &[Hazard]) -> Vec<Value> {
    let value = |hazard: &Hazard| match hazard.act {
        Act::SetTo(_, value) => Some(Value::from(value)),
        Act::Deleted
        | Act::DeletedWithDependents
        | Act::Changed(_)
        | Act::Ordered(..)
        | Act::Lowered(_) => None,
    };
    hazards.iter().filter_map(value).collect()
}

fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_hours(24)
}

fn meta() -> Meta {
    Meta { name: NAME.into(), namespace: "n".into(), uid: "1".into(), ..Meta::default() }
}

fn proof(kind: ProofKind, about: &str, as_of: Timestamp) -> Proof {
    Proof::new(
        Plants,
        kind,
        vec![Identity::Object(about.to_string())],
        as_of,
        "it was planted".to_string(),
    )
}
