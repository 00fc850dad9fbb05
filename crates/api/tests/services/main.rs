//! The kinds of clustered services: their schemas are structural, and their rules say how
//! to comply. The rules run offline, over objects that break one of them each.

mod judge;
mod member;
#[path = "../offline/mod.rs"]
mod offline;
mod rabbitmq;
mod shape;
#[path = "../structural/mod.rs"]
mod structural;
mod zookeeper;
