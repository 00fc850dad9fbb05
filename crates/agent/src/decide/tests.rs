//! Tests of what safety rules 1.3 to 1.5, 2.2 to 2.11 and 4.1 ask of the agent.

mod draining;
mod health;
mod jobs;
mod leaving;
mod permits;
mod running;
mod stale;
mod starting;
