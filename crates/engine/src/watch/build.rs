//! Makes the shelves and feeds for all that the minds want to see.

use crate::ids::{FeedId, MindId, ShelfId};
use crate::request::Selection;
use crate::watch::shelf::Shelf;
use crate::watch::touch::Touch;
use crate::watch::world::{Feed, Subscriber, Target, World};
use palladion_plan::{Keep, Mind, Resource, Route, Scope};
use std::sync::Arc;

impl World {
    /// Shelves and feeds for all that the minds want to see, in these
    /// namespaces (all, if none is named). Watches that are alike are shared.
    pub fn new(minds: &[Arc<dyn Mind>], namespaces: &[String]) -> Self {
        let mut world = Self::default();
        for (number, mind) in minds.iter().enumerate() {
            let mut subscriber =
                Subscriber { owner_shelf: None, watches: Vec::new(), open_work: mind.open_work() };
            for watch in mind.watches() {
                let shelf = world.shelf(watch.resource, watch.selector, watch.keep);
                world.shelves[shelf].subscribe(MindId(number), watch.route);
                subscriber.watches.push((shelf, watch.resource, watch.route));
                if watch.route == Route::Owner && watch.resource == mind.owner() {
                    subscriber.owner_shelf = Some(shelf);
                }
            }
            world.subscribers.push(subscriber);
        }
        world.make_feeds(namespaces);
        world
    }

    fn shelf(&mut self, resource: Resource, selector: &'static str, keep: Keep) -> ShelfId {
        let alike =
            |s: &Shelf| s.resource == resource && s.selector == selector && same_keep(s.keep, keep);
        match self.shelves.iter().position(alike) {
            Some(shelf) => shelf,
            None => {
                self.shelves.push(Shelf::new(resource, selector, keep));
                self.shelves.len() - 1
            }
        }
    }

    /// One feed for each kind, selector and namespace; shelves that differ
    /// only in what they keep share it.
    fn make_feeds(&mut self, namespaces: &[String]) {
        let mut selections: Vec<(Selection, Vec<Target>)> = Vec::new();
        for (number, shelf) in self.shelves.iter().enumerate() {
            let scopes: Vec<Option<String>> = match shelf.resource.scope {
                Scope::Namespaced if !namespaces.is_empty() => {
                    namespaces.iter().cloned().map(Some).collect()
                }
                Scope::Namespaced | Scope::Cluster => vec![None],
            };
            for namespace in scopes {
                let selection = Selection {
                    resource: shelf.resource,
                    namespace,
                    labels: shelf.selector.to_string(),
                    fields: String::new(),
                };
                match selections.iter_mut().find(|(s, _)| *s == selection) {
                    Some((_, targets)) => targets.push(Target::Shelf(number)),
                    None => selections.push((selection, vec![Target::Shelf(number)])),
                }
            }
        }
        for (selection, targets) in selections {
            self.add_feed(selection, targets);
        }
    }

    pub(crate) fn add_feed(&mut self, selection: Selection, targets: Vec<Target>) -> FeedId {
        let id = FeedId(self.next_feed);
        self.next_feed += 1;
        self.feeds.insert(id, Feed { selection, targets, touch: Touch::new(), high: 0 });
        id
    }
}

/// Projections are compared by address: two minds share a shelf only if they
/// use the very same function.
fn same_keep(a: Keep, b: Keep) -> bool {
    match (a, b) {
        (Keep::Everything, Keep::Everything) => true,
        (Keep::Only(a), Keep::Only(b)) => a == b,
        (Keep::Projection(a), Keep::Projection(b)) => std::ptr::fn_addr_eq(a, b),
        (Keep::Everything | Keep::Only(_) | Keep::Projection(_), _) => false,
    }
}
