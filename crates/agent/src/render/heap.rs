//! Heap sizes from the container's memory, as `cassandra-env.sh` computes them.

/// Heap of a JVM, in MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heap {
    /// `-Xms` and `-Xmx`.
    pub total_mib: u64,
    /// `-Xmn`, which only the CMS collector wants.
    pub young_mib: u64,
}

/// Half of the memory up to 1 GiB, or a quarter up to 8 GiB, whichever is
/// more; a size that a person set wins.
pub fn size(memory_mib: u64, cpus: u32, wanted_mib: Option<u64>) -> Heap {
    let total_mib =
        wanted_mib.unwrap_or_else(|| (memory_mib / 2).min(1024).max((memory_mib / 4).min(8192)));
    let young_mib = (total_mib / 4).min(100 * u64::from(cpus.max(1)));
    Heap { total_mib, young_mib }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_the_formula() {
        for (memory, total) in
            [(1024, 512), (2048, 1024), (4096, 1024), (8192, 2048), (16384, 4096), (65536, 8192)]
        {
            assert_eq!(size(memory, 4, None).total_mib, total, "{memory} MiB");
        }
        assert_eq!(size(8192, 2, None).young_mib, 200);
        assert_eq!(size(1024, 8, None).young_mib, 128);
        assert_eq!(size(1024, 1, Some(400)), Heap { total_mib: 400, young_mib: 100 });
    }
}
