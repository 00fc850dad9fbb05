//! The operator: reads its flags, connects, and runs the engine with every mind
//! until it is told to stop. Decides nothing itself.

mod arguments;
mod log;
mod signals;
mod stores;

use anyhow::Context;
use arguments::Arguments;
use clap::Parser;
use palladion_engine::Engine;
use palladion_engine::decide::STACK;
use palladion_engine::serve::serve;
use palladion_operator::minds;
use std::process::ExitCode;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    log::start(arguments.log_format);
    match run_in(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A new process begins with a clean state; the kubelet starts it.
            tracing::error!(error = %format!("{error:#}"), "stopped");
            ExitCode::FAILURE
        }
    }
}

/// All I/O is on one thread; each decision has one of its own.
fn run_in(arguments: Arguments) -> anyhow::Result<()> {
    let mut threads = tokio::runtime::Builder::new_current_thread();
    let threads = threads.enable_all().thread_stack_size(STACK).build();
    let threads = threads.context("cannot start the runtime")?;
    let ended = threads.block_on(run(arguments));
    // A decision that still computes decides nothing any more, and is not waited for.
    threads.shutdown_background();
    ended
}

async fn run(arguments: Arguments) -> anyhow::Result<()> {
    // Only fails if a provider is installed already, and then that one serves.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let client = palladion_engine::client::connect()
        .await
        .context("cannot read how to reach the API server (in-cluster account or kubeconfig)")?;
    let mut engine = Engine::new(client, minds::minds(), arguments.options())
        .keep_lease_apart(Arc::new(|| Box::pin(palladion_engine::client::connect())));
    if let Some(directory) = &arguments.region_lock_directory {
        engine = engine.lock_in(stores::with_credentials(directory));
    }
    let doors = engine.doors();
    let stop = CancellationToken::new();
    signals::cancel_on_signal(&stop).context("cannot listen for signals")?;
    tokio::select! {
        ended = engine.run(stop) => ended.context("the engine ended"),
        ended = serve(arguments.metrics_address, doors.metrics_router()) => {
            ended.with_context(|| format!("cannot serve metrics on {}", arguments.metrics_address))
        }
        ended = serve(arguments.health_address, doors.health_router()) => {
            ended.with_context(|| format!("cannot serve probes on {}", arguments.health_address))
        }
    }
}
