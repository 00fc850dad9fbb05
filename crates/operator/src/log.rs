//! Logging: constant sentences with fields, as JSON for machines or text for
//! people. `RUST_LOG` overrides the level.

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// One JSON object a line.
    Json,
    /// For reading.
    Text,
}

/// Start logging to standard error.
pub fn start(format: LogFormat) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match format {
        LogFormat::Json => {
            builder.json().flatten_event(true).with_current_span(false).with_span_list(true).init()
        }
        LogFormat::Text => builder.with_ansi(false).init(),
    }
}
