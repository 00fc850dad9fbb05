//! Memory of a member: what a server needs at the least, and what its heap
//! may take of the container.

use super::Refusal;
use super::quantity::amount;
use crate::words::refusal::MemoryField;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use palladion_api::cluster::{CassandraClusterSpec, Mode, Rack};
use palladion_api::reserved::{HEAP_SHARE_PERCENT, LEAST_MEMORY_MIB};
use palladion_plan::words::Quoted;

/// Bytes of a MiB.
const MIB: f64 = 1_048_576.0;
/// No machine has an EiB; arithmetic on less cannot overflow.
const MOST_MIB: u64 = 1 << 40;

/// Check the rack's limit; returns the heap in MiB where one is set.
pub fn check(spec: &CassandraClusterSpec, rack: &Rack) -> Result<Option<u64>, Refusal> {
    let heap = spec.heap_size.as_ref().map(|heap| read(heap, MemoryField::Heap)).transpose()?;
    if heap.is_some() && spec.mode == Mode::Scylla {
        return Err(Refusal::HeapOfScylla);
    }
    let limit = rack.resources.as_ref().and_then(|r| r.limits.as_ref()?.get("memory"));
    let Some(limit) = limit else {
        return Ok(heap);
    };
    let field = MemoryField::Limit { rack: rack.name.clone() };
    let limit_mib = read(limit, field.clone())?;
    let limit = limit.0.clone();
    if spec.mode == Mode::Cassandra && limit_mib < LEAST_MEMORY_MIB {
        return Err(Refusal::TooLittleMemory { field, limit, least: LEAST_MEMORY_MIB });
    }
    match heap {
        Some(heap) if heap * 100 > limit_mib * HEAP_SHARE_PERCENT => {
            Err(Refusal::HeapTooLarge { heap, share: HEAP_SHARE_PERCENT, field, limit })
        }
        Some(_) | None => Ok(heap),
    }
}

/// The memory in whole MiB.
fn read(quantity: &Quantity, field: MemoryField) -> Result<u64, Refusal> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "no amount is negative, and `as` ends at the largest u64"
    )]
    let mib = amount(&quantity.0).map(|bytes| (bytes / MIB) as u64);
    match mib.filter(|mib| (1..=MOST_MIB).contains(mib)) {
        Some(mib) => Ok(mib),
        None => Err(Refusal::NotMemory { field, text: Quoted(quantity.0.clone()) }),
    }
}
