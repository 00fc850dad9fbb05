//! Memory of a server: what it needs at the least, and what its heap takes.

use crate::words::refusal::Refusal;
use palladion_api::reserved::HEAP_SHARE_PERCENT;
use palladion_api::zookeeper::{LEAST_MEMORY_MIB, ZookeeperClusterSpec};
use palladion_plan::differ;
use palladion_plan::words::Quoted;
use serde_json::Value;

/// A heap without a limit, in MiB: that of a small ensemble.
const HEAP_WITHOUT_LIMIT: u64 = 512;
/// A larger heap only makes longer pauses: the data is to be small.
const MOST_HEAP: u64 = 4096;
/// Thousandths of a byte in a MiB, as quantities are compared.
const MIB: i128 = 1000 << 20;

/// The heap in MiB.
pub fn heap(spec: &ZookeeperClusterSpec) -> Result<u64, Refusal> {
    let read = |field: &'static str, text: &str| {
        let mib = differ::quantity(&Value::from(text)).and_then(|q| u64::try_from(q / MIB).ok());
        mib.filter(|mib| *mib > 0)
            .ok_or_else(|| Refusal::NotMemory { field, text: Quoted(text.to_string()) })
    };
    let heap = spec.heap_size.as_ref().map(|q| read("heapSize", &q.0)).transpose()?;
    let limit = spec.resources.as_ref().and_then(|r| r.limits.as_ref()?.get("memory"));
    let limit = limit.map(|q| read("resources.limits.memory", &q.0)).transpose()?;
    if let Some(limit) = limit.filter(|limit| *limit < LEAST_MEMORY_MIB) {
        return Err(Refusal::TooLittleMemory { limit, least: LEAST_MEMORY_MIB });
    }
    match (heap, limit) {
        (Some(heap), Some(limit)) if heap * 100 > limit * HEAP_SHARE_PERCENT => {
            Err(Refusal::HeapTooLarge { heap, share: HEAP_SHARE_PERCENT, limit })
        }
        (Some(heap), _) => Ok(heap),
        (None, Some(limit)) => Ok((limit / 2).min(MOST_HEAP)),
        (None, None) => Ok(HEAP_WITHOUT_LIMIT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::ResourceRequirements;
    use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

    fn of(heap_size: Option<&str>, limit: Option<&str>) -> Result<u64, Refusal> {
        let quantity = |text: &str| Quantity(text.to_string());
        let limits = limit.map(|l| [("memory".to_string(), quantity(l))].into());
        heap(&ZookeeperClusterSpec {
            heap_size: heap_size.map(quantity),
            resources: Some(ResourceRequirements { limits, ..Default::default() }),
            ..Default::default()
        })
    }

    #[test]
    fn a_heap_takes_half_of_the_limit_unless_the_spec_says_otherwise() {
        assert_eq!(of(None, None), Ok(512));
        assert_eq!(of(None, Some("1Gi")), Ok(512));
        assert_eq!(of(None, Some("64Gi")), Ok(4096));
        assert_eq!(of(Some("800Mi"), Some("1Gi")), Ok(800));
        assert!(matches!(of(Some("900Mi"), Some("1Gi")), Err(Refusal::HeapTooLarge { .. })));
        assert!(matches!(of(None, Some("100Mi")), Err(Refusal::TooLittleMemory { .. })));
        assert!(matches!(of(Some("much"), None), Err(Refusal::NotMemory { .. })));
    }
}
