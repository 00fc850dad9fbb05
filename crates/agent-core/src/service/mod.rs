//! What the agents of all clustered services have in common: those whose member is a
//! `ServiceMember`. It knows what stands in that object, and no system.
//!
//! Read in this order: [`ledger`] and [`changes`] (what is noted on the volume), [`volume`]
//! (what a volume is before its data is looked at), [`spec`], [`permit`] and [`intent`] (what the
//! operator says, and whether it is for us), [`operation`] (each once), [`health`] (what looks
//! add up to), [`mounted`], [`report`] and [`member`].

pub mod changes;
pub mod evidence;
pub mod health;
pub mod intent;
pub mod ledger;
pub mod member;
pub mod mounted;
pub mod operation;
pub mod permit;
pub mod report;
pub mod spec;
#[cfg(test)]
mod testing;
pub mod volume;
