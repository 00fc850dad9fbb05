//! Runtime settings of a Cassandra server, over Jolokia.

use super::Error;
use super::jolokia::{Client, Item};
use crate::capabilities::{Capabilities, StreamThroughput};
use crate::management::beans::{
    COMPACTION_THROUGHPUT, LOGGING_LEVELS, SET_LOGGING_LEVEL, STORAGE_SERVICE, STREAM_MEBIBYTES,
    STREAM_MEGABITS, STREAM_WHOLE_TABLES,
};
use crate::runtime::RuntimeChange;
use crate::words::calls::{Answered, Doing};
use palladion_api::runtime::{LogLevel, RuntimeSettings};
use serde_json::{Value, json};

/// Megabits in a MiB.
const MEGABITS: f64 = 1.048_576 * 8.0;

pub(super) async fn read(
    client: &Client,
    capabilities: Capabilities,
) -> Result<RuntimeSettings, Error> {
    let stream = match capabilities.stream_throughput {
        StreamThroughput::Megabits => STREAM_MEGABITS,
        StreamThroughput::MebibytesAndWholeTables => STREAM_MEBIBYTES,
    };
    let attributes = [COMPACTION_THROUGHPUT, stream, LOGGING_LEVELS];
    let items = attributes.map(|attribute| Item::Read { mbean: STORAGE_SERVICE, attribute });
    let mut values = client.read(&items).await?.into_iter();
    let mut next = || values.next().flatten();
    let (compaction, stream, levels) = (next(), next(), next());
    let (Some(compaction), Some(stream), Some(levels)) =
        (number(compaction), number(stream), levels)
    else {
        return Err(Error::Failed {
            operation: Doing::ReadRuntimeSettings.to_string(),
            message: Answered::NotReported.to_string(),
        });
    };
    let stream = match capabilities.stream_throughput {
        StreamThroughput::Megabits => mebibytes(stream),
        StreamThroughput::MebibytesAndWholeTables => stream,
    };
    let level = |(logger, level): (&String, &Value)| {
        Some((logger.clone(), LogLevel::from_server(level.as_str()?)?))
    };
    Ok(RuntimeSettings {
        compaction_throughput: Some(compaction),
        stream_throughput: Some(stream),
        log_levels: levels.as_object().into_iter().flatten().filter_map(level).collect(),
    })
}

pub(super) async fn change(
    client: &Client,
    capabilities: Capabilities,
    change: &RuntimeChange,
) -> Result<(), Error> {
    let write = |attribute, value: u32| Item::Write {
        mbean: STORAGE_SERVICE,
        attribute,
        value: json!(value),
    };
    let compaction = change.compaction_throughput;
    let mut items: Vec<Item> =
        compaction.map(|limit| write(COMPACTION_THROUGHPUT, limit)).into_iter().collect();
    if let Some(limit) = change.stream_throughput {
        match capabilities.stream_throughput {
            StreamThroughput::Megabits => items.push(write(STREAM_MEGABITS, megabits(limit))),
            StreamThroughput::MebibytesAndWholeTables => {
                items.push(write(STREAM_MEBIBYTES, limit));
                items.push(write(STREAM_WHOLE_TABLES, limit));
            }
        }
    }
    for (logger, level) in &change.log_levels {
        // An empty level makes a logger follow the one above it.
        let level = level.map_or("", LogLevel::as_str);
        items.push(Item::Exec {
            mbean: STORAGE_SERVICE,
            operation: SET_LOGGING_LEVEL,
            arguments: vec![json!(logger), json!(level)],
        });
    }
    for item in &items {
        client.exec_soon(item).await?;
    }
    Ok(())
}

fn number(value: Option<Value>) -> Option<u32> {
    u32::try_from(value?.as_i64()?).ok()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounded, never negative, and far below the limit of either type"
)]
fn megabits(mebibytes: u32) -> u32 {
    (f64::from(mebibytes) * MEGABITS).round() as u32
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounded, never negative, and far below the limit of either type"
)]
fn mebibytes(megabits: u32) -> u32 {
    // A limit below one MiB/s must not become none.
    let least = f64::from(megabits.min(1));
    (f64::from(megabits) / MEGABITS).round().max(least) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn megabits_and_mebibytes_are_rounded_and_zero_stays_no_limit() {
        for (mebibytes_in, megabits_in) in [(0, 0), (24, 201), (100, 839), (2047, 17171)] {
            assert_eq!(megabits(mebibytes_in), megabits_in);
            assert_eq!(mebibytes(megabits_in), mebibytes_in);
        }
        assert_eq!(mebibytes(1), 1);
    }
}
