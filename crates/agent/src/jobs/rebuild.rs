//! A rebuild: the data of keyspaces that name the datacenter of this member since it joined is
//! streamed from another datacenter, keyspace by keyspace. Each is noted on the volume when it is
//! done, so that the next try goes on after it.

use super::run::{Progress, Tools, tell};
use crate::words::calls::Doing;
use crate::words::job::{Done, Failed};
use anyhow::{Context, Result, bail};
use palladion_api::member::Operation;
use palladion_api::words::Names;
use std::time::Duration;

/// How often the server is asked how far it is.
const LOOK: Duration = Duration::from_secs(10);

/// Rebuild what is not noted as rebuilt yet.
pub async fn rebuild(operation: &Operation, tools: &Tools, progress: &Progress) -> Result<Done> {
    let Some(source) = operation.source_datacenter.as_deref() else {
        bail!(Failed::NoSource);
    };
    if operation.keyspaces.is_empty() {
        bail!(Failed::NoSource);
    }
    let all = operation.keyspaces.len();
    let mut rebuilt = Vec::new();
    for (index, keyspace) in operation.keyspaces.iter().enumerate() {
        let doing = || Doing::Rebuild { keyspace: keyspace.clone() };
        // None here any more: nothing of it is lacked.
        let Some(here) = copies(tools, keyspace).await.with_context(doing)? else {
            tell(progress, index + 1, all);
            continue;
        };
        let noted = tools.volume.rebuilt().keyspaces.get(keyspace).copied();
        if noted.is_none_or(|had| had.copies < here) {
            let call = tools.admin.rebuild(source, keyspace);
            beside(call, tools, progress, (index, all)).await.with_context(doing)?;
            let noted = tools.volume.change_rebuilt(|rebuilt| rebuilt.note(keyspace, here));
            noted.with_context(doing)?;
        }
        rebuilt.push(keyspace);
        tell(progress, index + 1, all);
    }
    Ok(match rebuilt.is_empty() {
        true => Done::NoKeyspaces,
        false => Done::Rebuilt { keyspaces: Names::of(rebuilt), source: source.into() },
    })
}

/// Copies of a keyspace in this datacenter, right before it is rebuilt: what it gets more of
/// meanwhile is not in it. None where it has none, or does not count them by datacenter.
async fn copies(tools: &Tools, keyspace: &str) -> Result<Option<u32>> {
    let reading = tools.admin.read().await?;
    let known = reading.datacenters();
    let counted = tools.admin.copies_by_datacenter(&known, Some(keyspace)).await?;
    let of = counted.copies.get(keyspace);
    let here = of.and_then(|of| of.get(&tools.datacenter)).copied().unwrap_or(0);
    let is_uneven = counted.uneven.iter().any(|name| name == keyspace);
    Ok(Some(here).filter(|here| *here > 0 && !is_uneven))
}

/// Wait for the call, which may take days, and tell how far it is meanwhile.
async fn beside<T, E>(
    call: impl Future<Output = Result<T, E>>,
    tools: &Tools,
    progress: &Progress,
    (done, all): (usize, usize),
) -> Result<T, E> {
    tokio::pin!(call);
    loop {
        tokio::select! {
            answer = &mut call => return answer,
            () = tokio::time::sleep(LOOK) => {
                if let Ok(Some(percent)) = tools.admin.rebuilding().await {
                    tell(progress, done * 100 + usize::from(percent), all * 100);
                }
            }
        }
    }
}
