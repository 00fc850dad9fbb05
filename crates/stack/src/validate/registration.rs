//! A Registration that can be carried out.

use crate::registration::calls::Calls;
use crate::render::Problem;
use crate::words::refusal::Refusal;
use palladion_api::RegistrationSpec;

/// A spec that can be carried out.
#[derive(Clone, Debug)]
pub struct ValidRegistration {
    /// The spec.
    pub spec: RegistrationSpec,
    /// Its calls.
    pub calls: Calls,
}

/// Parse a spec, or say why it cannot be carried out.
///
/// # Errors
/// Which template, why, and where.
pub fn validate_registration(spec: &RegistrationSpec) -> Result<ValidRegistration, Refusal> {
    let calls = Calls::parse(spec).map_err(|Problem { file, line, fault }| match line {
        Some(line) => Refusal::CallLine { template: file, line, fault },
        None => Refusal::Call { template: file, fault },
    })?;
    Ok(ValidRegistration { spec: spec.clone(), calls })
}
