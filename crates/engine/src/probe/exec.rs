//! A command in a container, through the API server and the kubelet.

use super::answer::{Answer, late};
use crate::request::Api;
use crate::words::{Probed, Unaskable};
use ::http::StatusCode;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{AttachParams, AttachedProcess};
use kube::client::UpgradeConnectionError;
use palladion_plan::ObjectKey;
use std::time::Duration;
use tokio::io::AsyncReadExt;

/// Most of what a command writes that is read and quoted.
const QUOTED: u64 = 200;
/// How long the API server may take to say that it is there.
const ALIVE: Duration = Duration::from_secs(1);

/// Run the command; exit code 0 passes.
pub async fn ask(
    api: &Api,
    pod: &ObjectKey,
    container: &str,
    command: &[String],
    timeout: Duration,
) -> Answer {
    match tokio::time::timeout(timeout, run(api, pod, container, command)).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => refused(api, error).await,
        Err(_) => silent(api, late(timeout)).await,
    }
}

async fn run(
    api: &Api,
    pod: &ObjectKey,
    container: &str,
    command: &[String],
) -> Result<Answer, kube::Error> {
    let pods: kube::Api<Pod> = kube::Api::namespaced(api.client().clone(), &pod.namespace);
    let parameters =
        AttachParams::default().container(container).stdin(false).stdout(true).stderr(true);
    let process = pods.exec(&pod.name, command, &parameters).await?;
    Ok(answer(process).await)
}

async fn answer(mut process: AttachedProcess) -> Answer {
    let status = process.take_status();
    let (stdout, stderr) = (process.stdout(), process.stderr());
    // Both are read to their end: a command that cannot write would not end.
    let (_, words) = tokio::join!(quote(stdout), quote(stderr));
    let status = match status {
        Some(status) => status.await,
        None => None,
    };
    match status {
        Some(status) if status.status.as_deref() == Some("Success") => Answer::Good,
        Some(status) => {
            let unnamed = || Probed::CommandFailedUnnamed.to_string();
            Answer::Bad(command_failed(status.message.unwrap_or_else(unnamed), words))
        }
        None => Answer::Bad(Probed::CommandBroken),
    }
}

fn command_failed(message: String, output: String) -> Probed {
    match output.is_empty() {
        true => Probed::CommandFailedSilently { message },
        false => Probed::CommandFailed { message, output },
    }
}

async fn quote(stream: Option<impl tokio::io::AsyncRead + Unpin>) -> String {
    let Some(mut stream) = stream else {
        return String::new();
    };
    let mut text = Vec::new();
    // What cannot be read is not quoted; the exit code decides.
    let _ = (&mut stream).take(QUOTED).read_to_end(&mut text).await;
    let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    String::from_utf8_lossy(&text).trim().to_string()
}

/// The API server's answer to the wish to run a command.
async fn refused(api: &Api, error: kube::Error) -> Answer {
    let status = match &error {
        kube::Error::UpgradeConnection(UpgradeConnectionError::ProtocolSwitch(status)) => {
            Some(*status)
        }
        kube::Error::Api(status) => StatusCode::from_u16(status.code).ok(),
        _ => None,
    };
    match status {
        Some(StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED) => {
            Answer::Unaskable(Unaskable::NoRight)
        }
        Some(StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) => {
            Answer::Unaskable(Unaskable::Busy { why: error.to_string() })
        }
        // The server says so when it cannot reach the pod's node, too.
        Some(status) => Answer::Bad(Probed::CommandNotRun { status: status.to_string() }),
        None => silent(api, Probed::HttpFailed { why: error.to_string() }).await,
    }
}

/// Nobody answered: the pod's node, or the API server itself?
async fn silent(api: &Api, why: Probed) -> Answer {
    match tokio::time::timeout(ALIVE, api.client().apiserver_version()).await {
        Ok(Ok(_)) => Answer::Bad(why),
        Ok(Err(_)) | Err(_) => Answer::Unaskable(Unaskable::Silent { why: why.to_string() }),
    }
}
