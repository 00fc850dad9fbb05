//! Memory of a member: what a server needs at the least, and what its heap
//! may take of the container.

use super::{Refusal, refuse};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use palladion_api::cluster::{CassandraClusterSpec, Mode, Rack};
use palladion_api::reasons::Reason;

/// A Cassandra with a heap of 400 MB is about 800 MB resident; below this it is killed while it starts.
const LEAST_LIMIT_MIB: u64 = 768;
/// Off-heap memory, metaspace and threads need the rest.
const HEAP_SHARE_PERCENT: u64 = 80;

/// Check the rack's limit; returns the heap in MiB where one is set.
pub fn check(spec: &CassandraClusterSpec, rack: &Rack) -> Result<Option<u64>, Refusal> {
    let heap = match &spec.heap_size {
        None => None,
        Some(quantity) => match mib(quantity) {
            Some(heap) => Some(heap),
            None => {
                return refuse(
                    Reason::InvalidSpec,
                    format!(
                        "`heapSize` {} is not a quantity; write it like `4Gi`",
                        quantity.0
                    ),
                );
            }
        },
    };
    let limit = rack
        .resources
        .as_ref()
        .and_then(|r| r.limits.as_ref()?.get("memory"));
    let Some(limit) = limit.and_then(mib) else {
        return Ok(heap);
    };
    if spec.mode == Mode::Cassandra && limit < LEAST_LIMIT_MIB {
        return refuse(
            Reason::NotEnoughMemory,
            format!(
                "rack {} limits memory to {limit}Mi and Cassandra needs at least {LEAST_LIMIT_MIB}Mi; raise `resources.limits.memory`",
                rack.name
            ),
        );
    }
    match heap {
        Some(heap) if heap * 100 > limit * HEAP_SHARE_PERCENT => refuse(
            Reason::NotEnoughMemory,
            format!(
                "`heapSize` {heap}Mi is more than {HEAP_SHARE_PERCENT} % of the memory limit {limit}Mi of rack {}; raise the limit or lower the heap",
                rack.name
            ),
        ),
        Some(_) | None => Ok(heap),
    }
}

/// A quantity in MiB, rounded down.
fn mib(quantity: &Quantity) -> Option<u64> {
    let text = quantity.0.trim();
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let number: f64 = text[..split].parse().ok()?;
    let factor: f64 = match &text[split..] {
        "" => 1.0,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "Ki" => 1024.0,
        "Mi" => 1024.0 * 1024.0,
        "Gi" => 1024.0 * 1024.0 * 1024.0,
        "Ti" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "memory sizes are far below 2^52 MiB"
    )]
    Some((number * factor / (1024.0 * 1024.0)) as u64)
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
            ("512M", 488),
        ] {
            assert_eq!(mib(&Quantity(text.into())), Some(expected), "{text}");
        }
        assert_eq!(mib(&Quantity("4 apples".into())), None);
    }
}
