//! What a zone's set should be made from.

use crate::build::set::{self, Config};
use crate::validate::{Valid, Zone};

/// What a zone's set should be made from.
#[derive(Debug, Clone)]
pub struct Goal<'a> {
    /// The zone.
    pub zone: &'a Zone,
    /// Configuration.
    pub config: &'a Config,
    /// Version for a template that is written now.
    pub version: i64,
    /// Hash of what pods are made from.
    pub hash: String,
}

impl<'a> Goal<'a> {
    /// The goal of every zone, in order.
    pub fn all(valid: &'a Valid, config: &'a Config, version: i64) -> Vec<Self> {
        let zones = valid.zones.iter();
        zones
            .map(|zone| Goal { zone, config, version, hash: set::hash(valid, zone, config) })
            .collect()
    }
}
