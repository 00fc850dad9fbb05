//! Log levels for some time: what each logger had is noted before the server is
//! told, so that an agent of later gives it back.

use super::answer::answered;
use super::bench::{Bench, Step};
use super::book::Book;
use crate::admin::{RuntimeChange, ServerAdmin};
use crate::volume::jobs::Levels;
use crate::words::calls::Doing;
use crate::words::work::Done;
use anyhow::Result;
use jiff::Timestamp;
use palladion_api::runtime::{LogLevel, RuntimeSettings};
use palladion_api::task::SetLogLevelTask;
use palladion_api::words::Names;
use std::collections::BTreeMap;

/// Set them.
pub async fn set(bench: &Bench, what: &SetLogLevelTask) -> Step<Done> {
    bench.jobs()?;
    bench.may_stop()?;
    let now = match bench.admin.runtime().await {
        Ok(now) => now,
        Err(error) => return Err(bench.failed(Doing::ReadRuntimeSettings, error).await),
    };
    let tag = bench.book.read(|notes| notes.open().and_then(|note| note.tag.clone()));
    let levels = Levels {
        tag: tag.unwrap_or_default(),
        until: Timestamp::now().as_second().saturating_add(i64::from(what.seconds)),
        before: bench.book.read(|notes| before(&now, what, notes.levels.as_ref())),
    };
    bench.note(|notes| notes.levels = Some(levels))?;
    let log_levels = what.levels.iter().map(|(logger, level)| (logger.clone(), Some(*level)));
    let change = RuntimeChange { log_levels: log_levels.collect(), ..Default::default() };
    let doing = Doing::ChangeRuntimeSettings;
    answered(bench, bench.admin.change_runtime(&change), doing).await?;
    Ok(Done::Levels { loggers: Names::of(what.levels.keys()), seconds: what.seconds })
}

/// What each logger gets back. One that is set for some time already gets back
/// what it had before that; loggers of an earlier job keep their level as long as
/// those of this one.
fn before(
    now: &RuntimeSettings,
    what: &SetLogLevelTask,
    known: Option<&Levels>,
) -> BTreeMap<String, Option<LogLevel>> {
    let had = |logger: &String| now.log_levels.get(logger).copied();
    let mut before: BTreeMap<_, _> =
        what.levels.keys().map(|logger| (logger.clone(), had(logger))).collect();
    before.extend(known.into_iter().flat_map(|k| k.before.clone()));
    before
}

/// Give back what is due: of a server that was started since, nothing is. `told`
/// are the runtime settings of the spec, which stand above what was before.
pub async fn give_back(
    book: &Book,
    admin: &dyn ServerAdmin,
    tag: &str,
    told: &RuntimeSettings,
) -> Result<()> {
    let Some(levels) = book.read(|notes| notes.levels.clone()) else {
        return Ok(());
    };
    if levels.tag == tag {
        if Timestamp::now().as_second() < levels.until {
            return Ok(());
        }
        let level = |(logger, had): (&String, &Option<LogLevel>)| {
            (logger.clone(), told.log_levels.get(logger).copied().or(*had))
        };
        let log_levels = levels.before.iter().map(level).collect();
        admin.change_runtime(&RuntimeChange { log_levels, ..Default::default() }).await?;
        tracing::info!(loggers = levels.before.len(), "log levels given back");
    }
    book.change(|notes| notes.levels = None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_job_gives_back_what_was_before_the_first() {
        let levels = |all: &[(&str, LogLevel)]| {
            all.iter().map(|(logger, level)| ((*logger).to_string(), *level)).collect()
        };
        let now = RuntimeSettings {
            log_levels: levels(&[("ROOT", LogLevel::Debug)]),
            ..Default::default()
        };
        let what = SetLogLevelTask {
            levels: levels(&[("ROOT", LogLevel::Trace), ("a", LogLevel::Warn)]),
            seconds: 60,
        };
        let none = before(&now, &what, None);
        assert_eq!(none, [("ROOT".into(), Some(LogLevel::Debug)), ("a".into(), None)].into());
        let known = Levels {
            tag: "t".into(),
            until: 0,
            before: [("ROOT".into(), Some(LogLevel::Info)), ("b".into(), None)].into(),
        };
        let both = before(&now, &what, Some(&known));
        assert_eq!(both["ROOT"], Some(LogLevel::Info));
        assert_eq!(both.len(), 3);
    }
}
