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
    for (index, keyspace) in operation.keyspaces.iter().enumerate() {
        let doing = || Doing::Rebuild { keyspace: keyspace.clone() };
        if !tools.volume.rebuilt().keyspaces.contains(keyspace) {
            let call = tools.admin.rebuild(source, keyspace);
            beside(call, tools, progress, (index, all)).await.with_context(doing)?;
            tools.volume.change_rebuilt(|rebuilt| rebuilt.note(keyspace)).with_context(doing)?;
        }
        tell(progress, index + 1, all);
    }
    let keyspaces = Names::of(&operation.keyspaces);
    Ok(Done::Rebuilt { keyspaces, source: source.into() })
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
