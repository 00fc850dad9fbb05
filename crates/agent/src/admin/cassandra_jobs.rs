//! Jobs of tasks on Apache Cassandra 4.0 to 5.0, over Jolokia.

use super::cassandra::Cassandra;
use super::cassandra_owners::lacking;
use super::jobs::{Compaction, Jobs, Rewrite, Rewritten, Tables};
use super::jolokia::Item;
use super::{Answer, Error, RepairTicket};
use crate::admin::jobs::{Holders, Owners, Segment};
use crate::capabilities::{SnapshotLife, UpgradeSstables};
use crate::management::beans::*;
use crate::words::calls::{Answered, Doing};
use palladion_api::task::{
    BeforeScrub, BeforeSnapshot, CompactOutput, Corrupted, Granularity, OverflowedTtl, ScrubTask,
    ScrubValues, SnapshotTask, UpgradeSstablesTask, WhichSstables,
};
use serde_json::{Value, json};
use std::path::Path;

/// What a call that was stopped ends with; its code is never 1 (seen of 4.1 and 5.0).
const INTERRUPTED: &str = "CompactionInterruptedException";

impl Cassandra {
    async fn attribute(
        &self,
        mbean: &'static str,
        attribute: &'static str,
    ) -> Result<Value, Error> {
        let values = self.client.read(&[Item::Read { mbean, attribute }]).await?;
        values.into_iter().next().flatten().ok_or_else(|| Error::Failed {
            operation: Doing::ReadAttributes.to_string(),
            message: Answered::NoAttribute { attribute: attribute.into() }.to_string(),
        })
    }

    fn upgrade(
        &self,
        what: &UpgradeSstablesTask,
        keyspace: &str,
        table: &str,
    ) -> (&'static str, Vec<Value>) {
        let skips_current = match what.which {
            // One that is not known was refused before.
            WhichSstables::Older | WhichSstables::Unknown(_) => json!(true),
            WhichSstables::All => json!(false),
        };
        let (keyspace, jobs, tables) = (json!(keyspace), json!(what.jobs), json!([table]));
        match self.capabilities.upgrade_sstables {
            UpgradeSstables::ByVersion => (UPGRADE, vec![keyspace, skips_current, jobs, tables]),
            UpgradeSstables::ByVersionAndAge => {
                (UPGRADE_BY_AGE, vec![keyspace, skips_current, json!(i64::MAX), jobs, tables])
            }
        }
    }

    fn rewriting(
        &self,
        what: Rewrite<'_>,
        keyspace: &str,
        table: &str,
    ) -> (&'static str, Vec<Value>) {
        let (ks, tables) = (json!(keyspace), json!([table]));
        match what {
            Rewrite::Cleanup(body) => (CLEANUP, vec![json!(body.jobs), ks, tables]),
            Rewrite::Compact(body) => {
                let splits = match body.output {
                    CompactOutput::One | CompactOutput::Unknown(_) => json!(false),
                    CompactOutput::Split => json!(true),
                };
                (COMPACT, vec![splits, ks, tables])
            }
            Rewrite::GarbageCollect(body) => {
                let granularity = match body.granularity {
                    Granularity::Row | Granularity::Unknown(_) => json!("ROW"),
                    Granularity::Cell => json!("CELL"),
                };
                (GARBAGE_COLLECT, vec![granularity, json!(body.jobs), ks, tables])
            }
            Rewrite::Scrub(body) => (SCRUB, scrub(body, ks, tables)),
            Rewrite::UpgradeSstables(body) => self.upgrade(body, keyspace, table),
        }
    }
}

/// `disableSnapshot, skipCorrupted, checkData, reinsertOverflowedTTL, jobs, keyspace, tables`.
fn scrub(body: &ScrubTask, keyspace: Value, tables: Value) -> Vec<Value> {
    let without_snapshot = match body.snapshot {
        BeforeScrub::First | BeforeScrub::Unknown(_) => json!(false),
        BeforeScrub::Skip => json!(true),
    };
    let skips = match body.corrupted {
        Corrupted::Fail | Corrupted::Unknown(_) => json!(false),
        Corrupted::Skip => json!(true),
    };
    let checks = match body.values {
        ScrubValues::Check | ScrubValues::Unknown(_) => json!(true),
        ScrubValues::Trust => json!(false),
    };
    let reinserts = match body.overflowed_ttl {
        OverflowedTtl::Leave | OverflowedTtl::Unknown(_) => json!(false),
        OverflowedTtl::Reinsert => json!(true),
    };
    vec![without_snapshot, skips, checks, reinserts, json!(body.jobs), keyspace, tables]
}

impl Jobs for Cassandra {
    fn tables(&self) -> Answer<'_, Tables> {
        Box::pin(async {
            let found = self.attribute(TABLES, "Count").await?;
            let mut tables = Tables::new();
            for (mbean, value) in found.as_object().into_iter().flatten() {
                if let (Some(keyspace), Some(table)) = (key(mbean, "keyspace"), key(mbean, "scope"))
                {
                    let bytes = value["Count"].as_u64().unwrap_or(0);
                    tables.entry(keyspace.into()).or_default().insert(table.into(), bytes);
                }
            }
            Ok(tables)
        })
    }

    fn compactions(&self) -> Answer<'_, Vec<Compaction>> {
        Box::pin(async {
            let found = self.attribute(COMPACTION_MANAGER, COMPACTIONS).await?;
            Ok(found.as_array().into_iter().flatten().map(compaction).collect())
        })
    }

    fn stop_compaction<'a>(&'a self, id: &'a str) -> Answer<'a, ()> {
        Box::pin(async move {
            let item = Item::Exec {
                mbean: COMPACTION_MANAGER,
                operation: STOP_COMPACTION,
                arguments: vec![json!(id)],
            };
            self.client.exec_soon(&item).await.map(drop)
        })
    }

    fn rewrite<'a>(
        &'a self,
        what: Rewrite<'a>,
        keyspace: &'a str,
        table: &'a str,
    ) -> Answer<'a, Rewritten> {
        let (operation, arguments) = self.rewriting(what, keyspace, table);
        Box::pin(async move {
            let message = match self.call(STORAGE_SERVICE, operation, arguments).await {
                // A compaction has no code.
                Ok(Value::Null) => return Ok(Rewritten::Done),
                Ok(answer) => match answer.as_i64() {
                    Some(0) => return Ok(Rewritten::Done),
                    Some(1) => return Ok(Rewritten::Stopped),
                    Some(2) => return Ok(Rewritten::Busy),
                    Some(_) | None => Answered::Unexpected { answer: answer.to_string() },
                },
                Err(Error::Failed { message, .. }) if message.contains(INTERRUPTED) => {
                    return Ok(Rewritten::Stopped);
                }
                Err(error) => return Err(error),
            };
            let operation = operation.split('(').next().unwrap_or(operation).into();
            Err(Error::Failed { operation, message: message.to_string() })
        })
    }

    fn flush_tables<'a>(&'a self, keyspace: &'a str, tables: &'a [String]) -> Answer<'a, ()> {
        Box::pin(async move {
            let arguments = vec![json!(keyspace), json!(tables)];
            self.call(STORAGE_SERVICE, FLUSH, arguments).await.map(drop)
        })
    }

    fn take_snapshot<'a>(&'a self, what: &'a SnapshotTask, of: &'a [String]) -> Answer<'a, ()> {
        Box::pin(async move {
            let mut options = serde_json::Map::new();
            if what.flush == BeforeSnapshot::Skip {
                options.insert("skipFlush".into(), json!("true"));
            }
            if let Some(seconds) = what.ttl_seconds {
                if self.capabilities.snapshot_life == SnapshotLife::Unlimited {
                    return Err(Error::Unsupported(Doing::LimitSnapshot));
                }
                options.insert("ttl".into(), json!(format!("{seconds}s")));
            }
            let arguments = vec![json!(what.name), Value::Object(options), json!(of)];
            self.call(STORAGE_SERVICE, TAKE_SNAPSHOT, arguments).await.map(drop)
        })
    }

    fn clear_snapshot<'a>(&'a self, name: &'a str, keyspaces: &'a [String]) -> Answer<'a, ()> {
        Box::pin(async move {
            let arguments = vec![json!(name), json!(keyspaces)];
            self.call(STORAGE_SERVICE, CLEAR_SNAPSHOT, arguments).await.map(drop)
        })
    }

    fn repair_tables<'a>(
        &'a self,
        keyspace: &'a str,
        tables: &'a [String],
    ) -> Answer<'a, Option<RepairTicket>> {
        Box::pin(async move {
            let mut options =
                json!({"primaryRange": "true", "incremental": "false", "parallelism": "parallel"});
            if !tables.is_empty() {
                options["columnFamilies"] = json!(tables.join(","));
            }
            self.begin(keyspace, options).await
        })
    }

    fn ranges<'a>(&'a self, keyspace: &'a str) -> Answer<'a, Vec<Holders>> {
        Box::pin(self.all_ranges(keyspace))
    }

    fn repair_segment<'a>(&'a self, what: &'a Segment) -> Answer<'a, Option<RepairTicket>> {
        Box::pin(async move {
            // From tokens that were parsed: a range that is none repairs everything (seen of 4.1 and 5.0).
            let ranges: Vec<String> =
                what.ranges.iter().map(|r| format!("{}:{}", r.start, r.end)).collect();
            let options = json!({
                "ranges": ranges.join(","),
                "columnFamilies": what.tables.join(","),
                "primaryRange": "false",
                "incremental": "false",
                "parallelism": "parallel",
            });
            self.begin(&what.keyspace, options).await
        })
    }

    fn owners(&self) -> Answer<'_, Owners> {
        Box::pin(self.owners_of_tokens())
    }

    fn end_repairs(&self) -> Answer<'_, ()> {
        Box::pin(async { self.call(STORAGE_SERVICE, END_REPAIRS, vec![]).await.map(drop) })
    }

    fn load<'a>(&'a self, folder: &'a Path) -> Answer<'a, ()> {
        Box::pin(async move {
            let arguments = vec![json!(folder.display().to_string())];
            self.call(STORAGE_SERVICE, BULK_LOAD, arguments).await.map(drop)
        })
    }

    fn take_new<'a>(&'a self, keyspace: &'a str, table: &'a str) -> Answer<'a, ()> {
        Box::pin(async move {
            let arguments = vec![json!(keyspace), json!(table)];
            self.call(STORAGE_SERVICE, LOAD_NEW, arguments).await.map(drop)
        })
    }

    fn recover<'a>(&'a self, segment: &'a Path) -> Answer<'a, ()> {
        Box::pin(async move {
            let arguments = vec![json!(segment.display().to_string())];
            self.call(COMMIT_LOG, RECOVER, arguments).await.map(drop)
        })
    }

    fn point_in_time(&self) -> Answer<'_, i64> {
        Box::pin(async {
            let told = self.attribute(COMMIT_LOG, POINT_IN_TIME).await?;
            told.as_i64().ok_or_else(|| lacking(POINT_IN_TIME))
        })
    }

    fn streamed(&self) -> Answer<'_, u64> {
        Box::pin(async {
            let item = Item::Read { mbean: STREAMED_OUT, attribute: "Count" };
            let counted = self.client.read_or_absent(&item).await?;
            // Not there before the first stream; what is no number is not known.
            counted.map_or(Ok(0), |count| count.as_u64().ok_or_else(|| lacking("Count")))
        })
    }
}

/// One part of an MBean's name. Names of keyspaces and tables have no comma.
fn key<'a>(mbean: &'a str, name: &str) -> Option<&'a str> {
    let keys = mbean.split_once(':')?.1.split(',');
    keys.filter_map(|part| part.split_once('=')).find(|(key, _)| *key == name).map(|(_, is)| is)
}

fn compaction(entry: &Value) -> Compaction {
    let text = |name: &str| entry[name].as_str().unwrap_or_default().to_string();
    let number = |name: &str| text(name).parse().unwrap_or(0);
    Compaction {
        id: text("compactionId"),
        keyspace: text("keyspace"),
        table: text("columnfamily"),
        name: text("taskType"),
        done: number("completed"),
        total: number("total"),
        unit: text("unit"),
    }
}
