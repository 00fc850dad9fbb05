//! How much data a server holds, as people are told of it: a figure that follows each
//! flush and each compaction would be written all day long.

use crate::admin::Reading;

/// A difference of less is not told: that much an empty ring writes for itself.
const LEAST: f64 = 64.0 * 1024.0 * 1024.0;
/// Nor one of less than this part of what was told.
const PART: f64 = 0.1;

/// What is told now, after what was told last. A server that does not answer holds what it
/// held.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "bytes on a disk, and no more exactly than to a tenth"
)]
pub fn told(last: Option<u64>, reading: Option<&Reading>) -> Option<u64> {
    let Some(now) = reading.and_then(|r| r.figures.load).filter(|now| *now >= 0.0) else {
        return last;
    };
    let is_near = |last: f64| {
        let differs = (now - last).abs();
        differs < LEAST || differs < last * PART
    };
    last.filter(|last| is_near(*last as f64)).or(Some(now as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::Figures;

    const MIB: u64 = 1024 * 1024;

    fn told_of(last: Option<u64>, mib: u64) -> Option<u64> {
        let load = Some(f64::from(u32::try_from(mib).unwrap()) * 1024.0 * 1024.0);
        let figures = Figures { load, ..Figures::default() };
        told(last, Some(&Reading { figures, ..Reading::default() }))
    }

    #[test]
    fn what_a_compaction_changes_is_not_told_and_what_people_would_see_is() {
        assert_eq!(told_of(None, 1), Some(MIB), "the first is told");
        assert_eq!(told_of(Some(MIB), 60), Some(MIB), "an empty ring at work");
        assert_eq!(told_of(Some(MIB), 70), Some(70 * MIB));
        assert_eq!(told_of(Some(40_960 * MIB), 41_960), Some(40_960 * MIB), "less than a tenth");
        assert_eq!(
            told_of(Some(40_960 * MIB), 30_000),
            Some(30_000 * MIB),
            "also where it shrinks"
        );
    }

    #[test]
    fn a_server_that_does_not_answer_holds_what_it_held() {
        assert_eq!(told(Some(7), None), Some(7));
        assert_eq!(told(Some(7), Some(&Reading::default())), Some(7));
        assert_eq!(told(None, None), None);
    }
}
