//! Memory of a member: what a server needs at the least, and what its heap
//! may take of the container.

use super::quantity::amount;
use super::{Refusal, refuse};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use palladion_api::cluster::{CassandraClusterSpec, Mode, Rack};
use palladion_api::reasons::Reason;
use palladion_api::reserved::{HEAP_SHARE_PERCENT, LEAST_MEMORY_MIB};

/// Bytes of a MiB.
const MIB: f64 = 1_048_576.0;
/// No machine has an EiB; arithmetic on less cannot overflow.
const MOST_MIB: u64 = 1 << 40;

/// Check the rack's limit; returns the heap in MiB where one is set.
pub fn check(spec: &CassandraClusterSpec, rack: &Rack) -> Result<Option<u64>, Refusal> {
    let heap = spec.heap_size.as_ref().map(|heap| read(heap, "`heapSize`")).transpose()?;
    if heap.is_some() && spec.mode == Mode::Scylla {
        return refuse(
            Reason::InvalidSpec,
            "`heapSize` is for Cassandra; take it out, Scylla has no JVM".into(),
        );
    }
    let limit = rack.resources.as_ref().and_then(|r| r.limits.as_ref()?.get("memory"));
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

/// The memory in whole MiB.
fn read(quantity: &Quantity, place: &str) -> Result<u64, Refusal> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "no amount is negative, and `as` ends at the largest u64"
    )]
    let mib = amount(&quantity.0).map(|bytes| (bytes / MIB) as u64);
    match mib.filter(|mib| (1..=MOST_MIB).contains(mib)) {
        Some(mib) => Ok(mib),
        None => refuse(
            Reason::InvalidSpec,
            format!(
                "{place} is {:?}, which is no amount of memory; write it like `4Gi`",
                quantity.0
            ),
        ),
    }
}
