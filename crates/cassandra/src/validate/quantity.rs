//! Quantities as Kubernetes spells them, and a rack's resources made of them.

use super::Refusal;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use palladion_api::cluster::Rack;
use palladion_plan::words::Quoted;
use std::collections::BTreeMap;

/// Refuse what is no quantity, and requests above their limits: the API server
/// would refuse the StatefulSet for it.
pub fn check(rack: &Rack) -> Result<(), Refusal> {
    let Some(resources) = &rack.resources else {
        return Ok(());
    };
    let all = |part: &'static str, of: &Option<BTreeMap<String, Quantity>>| {
        let items = of.clone().unwrap_or_default().into_iter();
        items.map(move |(name, quantity)| (format!("resources.{part}.{name}"), quantity))
    };
    let mut quantities =
        all("requests", &resources.requests).chain(all("limits", &resources.limits));
    if let Some((field, quantity)) = quantities.find(|(_, q)| amount(&q.0).is_none()) {
        return Err(not_a_quantity(rack, &field, &quantity));
    }
    let limits = resources.limits.iter().flatten();
    for (name, limit) in limits {
        let request = resources.requests.as_ref().and_then(|all| all.get(name));
        let Some(request) = request else { continue };
        if amount(&request.0) > amount(&limit.0) {
            return Err(Refusal::RequestAboveLimit {
                rack: rack.name.clone(),
                request: request.0.clone(),
                resource: name.clone(),
                limit: limit.0.clone(),
            });
        }
    }
    Ok(())
}

/// The refusal of a text that is not a quantity.
fn not_a_quantity(rack: &Rack, field: &str, quantity: &Quantity) -> Refusal {
    let (field, rack, text) = (field.to_string(), rack.name.clone(), Quoted(quantity.0.clone()));
    Refusal::NotAQuantity { field, rack, text }
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
