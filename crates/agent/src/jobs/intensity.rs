//! How fast a repair of what is due should go, by what it was given and by what is late.

use super::bench::Bench;
use super::segments::now;
use crate::admin::jobs::Segment;
use crate::repair::outlook::is_late;
use crate::repair::pace::{Intensity, Urgency};
use std::time::Duration;

/// How fast the job should be. Its time runs from when it was begun, whatever agent goes on
/// with it.
pub fn intensity(bench: &Bench) -> Intensity {
    let repair = bench.job.work.repair.as_ref();
    let percent = repair.and_then(|repair| repair.intensity_percent);
    let begun = bench.book.read(|notes| Some(notes.open()?.status.started_at.as_ref()?.0));
    let passed = begun.map_or(0, |begun| now().saturating_sub(begun.as_second()));
    let passed = Duration::from_secs(u64::try_from(passed).unwrap_or(0));
    let within = bench.job.pace_seconds.map(|seconds| Duration::from_secs(seconds.into()));
    let within = within.map(|within| within.saturating_sub(passed));
    match (percent, within) {
        (Some(percent), _) => Intensity::Percent(percent),
        (None, Some(within)) => Intensity::Within(within),
        (None, None) => Intensity::Full,
    }
}

/// Is this segment late?
pub fn urgency(bench: &Bench, segment: &Segment) -> Urgency {
    match bench.repairs.read(|memory| is_late(memory, segment, now())) {
        true => Urgency::Late,
        false => Urgency::InTime,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::place::Place;
    use jiff::Timestamp;
    use palladion_api::ids::PodUid;
    use palladion_api::task::{RepairScope, RepairTask, Work};

    #[test]
    fn the_time_of_a_job_runs_from_its_beginning_and_not_from_that_of_the_agent() {
        let place = Place::new();
        let repair = RepairTask { scope: RepairScope::Due, ..RepairTask::default() };
        let work = Work { repair: Some(repair), ..Work::default() };
        let mut bench = place.begun("a", "task", work);
        assert_eq!(intensity(&bench), Intensity::Full);
        bench.job.pace_seconds = Some(1000);
        assert_eq!(intensity(&bench), Intensity::Within(Duration::ZERO), "begun in 1970");
        let begun = Timestamp::from_second(now() - 400).unwrap();
        let pod: PodUid = "pod-1".into();
        place.book.change(|notes| notes.begin(&bench.job, &pod, "t1", begun)).unwrap();
        let Intensity::Within(left) = intensity(&bench) else {
            panic!("{:?}", intensity(&bench));
        };
        assert!((500..=600).contains(&left.as_secs()), "{left:?}");
        let begun = Timestamp::from_second(now() + 400).unwrap();
        place.book.change(|notes| notes.begin(&bench.job, &pod, "t1", begun)).unwrap();
        let whole = Intensity::Within(Duration::from_secs(1000));
        assert_eq!(intensity(&bench), whole, "by a clock that was ahead");
    }
}
