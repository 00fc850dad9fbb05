//! Quantities as Kubernetes spells them, and a rack's resources made of them.

use super::Refusal;
use k8s_openapi::api::core::v1::ResourceRequirements;
use palladion_api::cluster::Rack;
use palladion_plan::words::Quoted;

/// Refuse what is no quantity, and requests above their limits: the API server
/// would refuse the StatefulSet for it.
pub fn check(rack: &Rack) -> Result<(), Refusal> {
    let Some(resources) = &rack.resources else {
        return Ok(());
    };
    let name = || rack.name.clone();
    if let Some((field, text)) = wrong(resources) {
        return Err(Refusal::NotAQuantity { field, rack: name(), text: Quoted(text) });
    }
    match above(resources) {
        Some(Above { resource, request, limit }) => {
            Err(Refusal::RequestAboveLimit { rack: name(), request, resource, limit })
        }
        None => Ok(()),
    }
}

/// The field of what is no quantity, and what it says.
pub fn wrong(resources: &ResourceRequirements) -> Option<(String, String)> {
    let parts = [("requests", &resources.requests), ("limits", &resources.limits)];
    let mut all = parts.into_iter().flat_map(|(part, of)| {
        of.iter()
            .flatten()
            .map(move |(name, quantity)| (format!("resources.{part}.{name}"), quantity))
    });
    let (field, quantity) = all.find(|(_, quantity)| amount(&quantity.0).is_none())?;
    Some((field, quantity.0.clone()))
}

/// A request above its limit.
pub struct Above {
    /// Of what.
    pub resource: String,
    /// The request.
    pub request: String,
    /// The limit.
    pub limit: String,
}

/// The first one.
pub fn above(resources: &ResourceRequirements) -> Option<Above> {
    resources.limits.iter().flatten().find_map(|(name, limit)| {
        let request = resources.requests.as_ref()?.get(name)?;
        let is_above = amount(&request.0) > amount(&limit.0);
        is_above.then(|| Above {
            resource: name.clone(),
            request: request.0.clone(),
            limit: limit.0.clone(),
        })
    })
}

/// The number that a quantity stands for. Every spelling that Kubernetes
/// accepts, but for negative ones, which nobody can have.
pub fn amount(text: &str) -> Option<f64> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(split);
    let factor = match suffix {
        "n" => 1e-9,
        "u" => 1e-6,
        "m" => 1e-3,
        "" => 1.0,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        "E" => 1e18,
        "Ki" => 2f64.powi(10),
        "Mi" => 2f64.powi(20),
        "Gi" => 2f64.powi(30),
        "Ti" => 2f64.powi(40),
        "Pi" => 2f64.powi(50),
        "Ei" => 2f64.powi(60),
        exponent => 10f64.powi(exponent.strip_prefix(['e', 'E'])?.parse().ok()?),
    };
    Some(number.parse::<f64>().ok()? * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_in_every_spelling() {
        for (text, expected) in [
            ("1Gi", 1_073_741_824.0),
            ("1024Mi", 1_073_741_824.0),
            ("1.5Gi", 1_610_612_736.0),
            ("1073741824", 1_073_741_824.0),
            ("500m", 0.5),
            ("512M", 512e6),
            ("1e9", 1e9),
            ("1E3", 1e3),
            ("1E", 1e18),
            ("1Pi", 1_125_899_906_842_624.0),
        ] {
            assert_eq!(amount(text), Some(expected), "{text}");
        }
        for text in ["4 apples", "", "Gi", "-1Gi", "1e", "1GB"] {
            assert_eq!(amount(text), None, "{text}");
        }
    }
}
