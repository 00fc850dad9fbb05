//! Memory of a member: what a server needs at the least, and what its heap
//! may take of the container.

use super::{Refusal, refuse};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use palladion_api::cluster::{CassandraClusterSpec, Mode, Rack};
use palladion_api::reasons::Reason;
use palladion_api::reserved::{HEAP_SHARE_PERCENT, LEAST_MEMORY_MIB};

/// Check the rack's limit; returns the heap in MiB where one is set.
pub fn check(spec: &CassandraClusterSpec, rack: &Rack) -> Result<Option<u64>, Refusal> {
    let heap = spec
        .heap_size
        .as_ref()
        .map(|heap| read(heap, "`heapSize`"))
        .transpose()?;
    if heap.is_some() && spec.mode == Mode::Scylla {
        return refuse(
            Reason::InvalidSpec,
            "`heapSize` is for Cassandra; take it out, Scylla has no JVM".into(),
        );
    }
    let limit = rack
        .resources
        .as_ref()
        .and_then(|r| r.limits.as_ref()?.get("memory"));
    let Some(limit) = limit else {
        return Ok(heap);
    };
    let place = format!("`resources.limits.memory` of rack {}", rack.name);
    let limit_mib = read(limit, &place)?;
    if spec.mode == Mode::Cassandra && limit_mib < LEAST_MEMORY_MIB {
        return refuse(
            Reason::NotEnoughMemory,
            format!(
                "{place} is {} and Cassandra needs at least {LEAST_MEMORY_MIB}Mi; raise it",
                limit.0
            ),
        );
    }
    match heap {
        Some(mib) if mib * 100 > limit_mib * HEAP_SHARE_PERCENT => refuse(
            Reason::NotEnoughMemory,
            format!(
                "`heapSize` is {mib}Mi, more than {HEAP_SHARE_PERCENT} % of {place}, which is {}; raise the limit or lower the heap",
                limit.0
            ),
        ),
        Some(_) | None => Ok(heap),
    }
}

fn read(quantity: &Quantity, place: &str) -> Result<u64, Refusal> {
    match mib(&quantity.0) {
        Some(mib) if mib > 0 => Ok(mib),
        Some(_) | None => refuse(
            Reason::InvalidSpec,
            format!(
                "{place} is {:?}, which is no amount of memory; write it like `4Gi`",
                quantity.0
            ),
        ),
    }
}

/// A quantity in MiB, rounded down. Every spelling that Kubernetes accepts.
fn mib(text: &str) -> Option<u64> {
    let text = text.trim();
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, suffix) = text.split_at(split);
    let factor: f64 = match suffix {
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
    let mib = number.parse::<f64>().ok()? * factor / 2f64.powi(20);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the number has no sign, and `as` ends at the largest u64"
    )]
    Some((mib as u64).min(u64::MAX / 200))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_in_every_spelling() {
        for (text, expected) in [
            ("1Gi", 1024),
            ("1024Mi", 1024),
            ("1.5Gi", 1536),
            ("1073741824", 1024),
            ("1073741824000m", 1024),
            ("512M", 488),
            ("1e9", 953),
            ("1E9", 953),
            ("1E", 953_674_316_406),
            ("1Pi", 1 << 30),
        ] {
            assert_eq!(mib(text), Some(expected), "{text}");
        }
        for text in ["4 apples", "", "Gi", "-1Gi", "1e"] {
            assert_eq!(mib(text), None, "{text}");
        }
    }
}
