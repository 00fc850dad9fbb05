//! How much data something is, as people read it.

const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/// `812 KiB`, `1.4 GiB`, `40 GiB`: two figures are enough to compare members by.
#[allow(clippy::cast_precision_loss, reason = "two figures of it are shown")]
pub fn bytes(amount: u64) -> String {
    let (mut left, mut unit) = (amount as f64, 0);
    while left >= 1024.0 && unit + 1 < UNITS.len() {
        (left, unit) = (left / 1024.0, unit + 1);
    }
    match left < 9.95 && unit > 0 {
        true => format!("{left:.1} {}", UNITS[unit]),
        false => format!("{left:.0} {}", UNITS[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_two_figures_and_a_unit() {
        let shown = [0, 812, 1024, 1_500_000_000, 42_949_672_960, u64::MAX].map(bytes);
        assert_eq!(shown, ["0 B", "812 B", "1.0 KiB", "1.4 GiB", "40 GiB", "16384 PiB"]);
    }
}
