//! The mind of `Registration`.

use crate::decide::draft::undecided;
use crate::decide::registration::{self, Called, Calling};
use crate::facts::RegistrationFacts;
use crate::validate::{ValidRegistration, validate_registration};
use crate::words::refusal::{Refusal, Unknown};
use crate::{resources, rights, status};
use palladion_api::rights::Right;
use palladion_plan::{
    Draft, Exchange, Hazard, Mind, Object, ObjectKey, Plan, Resource, Snapshot, Watch,
};

/// Decides for every `Registration`.
#[derive(Debug, Default, Clone, Copy)]
pub struct RegistrationMind;

impl Mind for RegistrationMind {
    fn name(&self) -> &'static str {
        "registration"
    }

    fn owner(&self) -> Resource {
        resources::REGISTRATION
    }

    fn watches(&self) -> Vec<Watch> {
        resources::watches_of_registrations()
    }

    fn rights(&self) -> &'static [Right] {
        rights::OF_REGISTRATIONS
    }

    /// None: it writes nothing but its own status.
    fn hazards(&self) -> &'static [Hazard] {
        &[]
    }

    fn references(&self, _owner: &Object) -> Vec<ObjectKey> {
        Vec::new()
    }

    fn exchanges(&self, snapshot: &Snapshot) -> Option<Vec<Exchange>> {
        if snapshot.owner.meta.is_terminating() {
            return Some(Vec::new());
        }
        let facts = RegistrationFacts::read(snapshot).ok()?;
        let Ok((valid, called)) = understood(&facts) else {
            return Some(Vec::new());
        };
        Some(registration::exchanges(&facts, &valid, &called))
    }

    fn decide(&self, snapshot: &Snapshot) -> Plan {
        if snapshot.owner.meta.is_terminating() {
            return Plan::default(); // Nobody is taken out for it.
        }
        match RegistrationFacts::read(snapshot) {
            Err(why) => undecided(Unknown::Fact { why }),
            Ok(facts) => decide_known(&facts),
        }
    }
}

fn understood(facts: &RegistrationFacts<'_>) -> Result<(ValidRegistration, Called), Refusal> {
    let spec = facts.spec.as_ref().map_err(|why| Refusal::Unreadable { why: why.clone() })?;
    let valid = validate_registration(spec)?;
    let calling = match status::registration::pause(facts, spec) {
        Some(_) => Calling::Paused,
        None => Calling::Allowed,
    };
    let called = registration::called(facts, &valid, calling);
    Ok((valid, called))
}

fn decide_known(facts: &RegistrationFacts<'_>) -> Plan {
    let mut draft = Draft::<()>::default();
    let (valid, called) = match understood(facts) {
        Ok(understood) => understood,
        Err(refusal) => return draft.plan(status::registration::refused(facts, refusal)),
    };
    let wanted = match registration::wanted(facts, &valid) {
        Ok(wanted) => wanted,
        Err(why) => return undecided(Unknown::Fact { why }),
    };
    let next = registration::decide(facts, &valid, &called, &wanted);
    draft.wake = next.wake;
    let status = status::registration::of(facts, &valid, &called, (&wanted, &next), &draft);
    draft.plan(status)
}
