//! temp
#![allow(dead_code)]
#[path = "../tests/support/toy.rs"]
mod toy;
use palladion_engine::*;
use std::sync::Arc;
#[tokio::main(flavor = "current_thread")]
async fn main() {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(
            "info,palladion_engine=debug",
        ))
        .with_writer(std::io::stderr)
        .init();
    let client = client::connect().await.unwrap();
    let engine = Engine::new(
        client,
        vec![Arc::new(toy::ToyMind)],
        Options {
            leadership: Leadership::Elected {
                namespace: "engine-test".into(),
                name: "toy".into(),
                pod: "toy".into(),
                pod_uid: None,
            },
            namespaces: vec![],
            settings: Default::default(),
        },
    );
    let doors = engine.doors();
    tokio::spawn(serve::serve(
        "127.0.0.1:18080".parse().unwrap(),
        doors.metrics_router().merge(doors.health_router()),
    ));
    let stop = tokio_util::sync::CancellationToken::new();
    let s = stop.clone();
    tokio::spawn(async move {
        let mut t =
            tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).unwrap();
        t.recv().await;
        s.cancel();
    });
    println!("{:?}", engine.run(stop).await);
}
