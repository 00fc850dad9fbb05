//! When a process is asked to read its files again: once for each change that
//! the operator has announced by a label and that the kubelet has mounted.

use crate::labels::Labels;
use palladion_api::gate::CONFIG;

/// So many seconds after its announcement a change must have been taken.
pub const CONFIRMED: i64 = 180;

/// What a pod has taken so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reload {
    /// Hash of the files that the process has read.
    noted: String,
    /// A change that was announced, and since when.
    announced: Option<(String, i64)>,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Nothing.
    Nothing,
    /// The process has to read its files again.
    Signal,
}

/// Has the pod what was announced?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Yes, or there is still time.
    InTime,
    /// Not for too long.
    Late,
}

impl Reload {
    /// The process has started with the files of this hash.
    pub fn new(noted: &str) -> Self {
        Self { noted: noted.to_string(), announced: None }
    }

    /// Look at the labels and at the hash of the mounted files, at this second.
    pub fn look(&mut self, labels: &Labels, mounted: &str, now: i64) -> Due {
        let Some(wanted) = labels.get(CONFIG).filter(|wanted| *wanted != self.noted) else {
            self.announced = None;
            return Due::Nothing;
        };
        match &self.announced {
            Some((hash, _)) if hash == wanted => {}
            Some(_) | None => self.announced = Some((wanted.to_string(), now)),
        }
        if wanted == mounted { Due::Signal } else { Due::Nothing }
    }

    /// The process was signalled with these files.
    pub fn signalled(&mut self, mounted: &str) {
        self.noted = mounted.to_string();
        self.announced = None;
    }

    /// Has the pod what was announced?
    pub fn taken(&self, now: i64) -> Taken {
        match &self.announced {
            Some((_, since)) if now - since >= CONFIRMED => Taken::Late,
            Some(_) | None => Taken::InTime,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(hash: &str) -> Labels {
        [(CONFIG, hash)].into_iter().collect()
    }

    #[test]
    fn a_change_is_signalled_once_and_when_its_files_are_mounted() {
        let mut reload = Reload::new("a");
        assert_eq!(reload.look(&label("a"), "a", 0), Due::Nothing);
        assert_eq!(reload.look(&label("a"), "b", 1), Due::Nothing, "nobody has announced it");
        assert_eq!(reload.look(&label("b"), "a", 2), Due::Nothing, "it is not mounted");
        assert_eq!(reload.look(&label("b"), "b", 3), Due::Signal);
        reload.signalled("b");
        assert_eq!(reload.look(&label("b"), "b", 4), Due::Nothing);
    }

    #[test]
    fn a_change_that_is_not_taken_in_time_is_late() {
        let mut reload = Reload::new("a");
        let _ = reload.look(&label("b"), "a", 10);
        assert_eq!(reload.taken(189), Taken::InTime);
        assert_eq!(reload.taken(190), Taken::Late);
        let _ = reload.look(&label("c"), "a", 190);
        assert_eq!(reload.taken(200), Taken::InTime, "another change has its own time");
        assert_eq!(reload.look(&label("a"), "a", 201), Due::Nothing, "it was taken back");
        assert_eq!(reload.taken(1000), Taken::InTime);
    }
}
