//! Tests of what safety rules 1.3 to 1.5, 2.2 to 2.11, 4.1 and 7.15 ask of the agent.

mod begin;
mod clients;
mod draining;
mod health;
mod jobs;
mod leaving;
mod permits;
mod rebuild;
mod restored;
mod running;
mod sealed;
mod stale;
mod starting;
