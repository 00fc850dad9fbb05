//! The facts for a decision as one person may read them: the kinds that a mind
//! watches are listed once and go through the same stores as in the operator.
//! Nothing is written, and nothing is watched.

use super::Door;
use super::rights::{Class, Refusal};
use crate::apply;
use crate::decide::references;
use crate::error::ApiError;
use crate::gather::{Constants, Owner, owner, snapshot};
use crate::ids::{FeedId, MindId};
use crate::memory::Memory;
use crate::queue::Key;
use crate::request::Selection;
use crate::watch::project::{Record, project};
use crate::watch::world::{Target, World};
use crate::words::{Unknown, Unseen};
use futures::future::join_all;
use palladion_plan::{FailureClass, Mind, ObjectKey, Snapshot, Step};
use serde_json::Value;
use std::sync::Arc;

/// What a person sees of one owner.
#[derive(Debug)]
pub struct Look {
    /// The facts; what may not be read is unknown in them.
    pub snapshot: Snapshot,
    /// The reads that the person has no right to.
    pub forbidden: Vec<Refusal>,
    world: World,
}

impl Look {
    /// Would the operator send anything for this step? What an object says
    /// already is not sent again.
    pub fn is_sent(&self, step: &Step) -> bool {
        let stored = |key: &ObjectKey| self.world.stored(key).map(|(r, keep)| (r.value(), keep));
        match step {
            Step::Apply { key, object, .. } => {
                let stored = stored(key).map(|(object, _)| object);
                apply::object::would_be_sent(stored.as_ref(), object)
            }
            Step::Patch { key, patch, .. } => {
                let stored = stored(key);
                apply::patch::would_be_sent(stored.as_ref().map(|(o, keep)| (o, *keep)), patch)
            }
            Step::Create { key, .. } => stored(key).is_none(),
            Step::CompareAndSet { .. } | Step::Issue { .. } | Step::Delete { .. } => true,
        }
    }
}

/// Why there is nothing to decide about.
#[derive(Debug, thiserror::Error)]
pub enum Blind {
    /// A read failed, and not for want of a right.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// The owner went away between two reads, or is not among what is listed.
    #[error("{}", Unseen::Gone)]
    NoOwner,
    /// The mind panicked: a bug of ours.
    #[error("{}", panicked(.0))]
    Panicked(String),
}

fn panicked(why: &str) -> Unseen {
    Unseen::Panicked { why: why.to_string() }
}

impl From<Refusal> for Blind {
    fn from(refusal: Refusal) -> Self {
        Blind::Refused(Box::new(refusal))
    }
}

impl Door {
    /// Look at one owner as its mind would see it.
    ///
    /// # Errors
    /// See [`Blind`].
    pub async fn look(
        &self,
        mind: Arc<dyn Mind>,
        namespace: &str,
        name: &str,
        constants: &Constants,
    ) -> Result<Look, Blind> {
        let minds = [mind];
        let [mind] = &minds;
        let mut world = World::new(&minds, &[namespace.to_string()]);
        let feeds = world.feeds();
        let mut forbidden = self.fill(&mut world, &feeds).await?;
        let key = Key::new(MindId(0), namespace, name);
        let object = match owner(&world, &key) {
            Owner::Present(object) => object,
            Owner::Gone | Owner::Unclear => {
                return Err(forbidden.pop().map_or(Blind::NoOwner, Blind::from));
            }
        };
        let references = references(mind.as_ref(), &object).map_err(Blind::Panicked)?;
        let memory = Memory { references, ..Memory::default() };
        let named = world.refer(&key, &memory.references).begin;
        forbidden.extend(self.fill(&mut world, &named).await?);
        let facts = snapshot(&world, &key, object, &memory, constants).ok_or(Blind::NoOwner)?;
        Ok(Look { snapshot: facts, forbidden, world })
    }

    /// List what these feeds select; the reads that there is no right to.
    async fn fill(
        &self,
        world: &mut World,
        feeds: &[(FeedId, Selection)],
    ) -> Result<Vec<Refusal>, Refusal> {
        let lists = join_all(feeds.iter().map(|(_, selection)| self.list_at(selection))).await;
        let mut forbidden = Vec::new();
        for ((feed, selection), list) in feeds.iter().zip(lists) {
            match list {
                Ok((items, version)) => {
                    drop(world.listed(*feed, records(world, *feed, &items), &version));
                }
                Err(refusal) if refusal.class() == Class::NoRight => {
                    unread(world, *feed, selection, &refusal.answer);
                    forbidden.push(refusal);
                }
                Err(refusal) => return Err(refusal),
            }
        }
        Ok(forbidden)
    }
}

fn unread(world: &mut World, feed: FeedId, selection: &Selection, error: &ApiError) {
    let why = Unknown::Watch { what: selection.to_string(), why: error.to_string() };
    world.failed(feed, FailureClass::Refused, why.to_string());
}

type Lists = Vec<(Target, Vec<Record>)>;

fn records(world: &World, feed: FeedId, items: &[Value]) -> Lists {
    let of_target = |p: &crate::watch::world::Projection| {
        let records = items.iter().map(|item| project(item, p.keep, &p.labels)).collect();
        (p.target.clone(), records)
    };
    world.projections(feed).iter().map(of_target).collect()
}
