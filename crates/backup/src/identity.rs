//! Is a file the one that an earlier manifest has? A number of an SSTable comes
//! again after a truncate and a restart, so everything counts that is cheap to
//! ask; what is the same is not read and not sent.

use crate::manifest::member::File;
use crate::take::Listed;

/// The volumes of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Volumes {
    /// The same one.
    Same,
    /// The member has another one now.
    Different,
}

/// Is it the same file, by all that is cheap to ask?
pub fn is_same(listed: &Listed, earlier: &File, volumes: Volumes) -> bool {
    let is_named_so = listed.table_id == earlier.table_id
        && listed.sstable == earlier.sstable
        && listed.component == earlier.component
        && listed.bytes == earlier.bytes
        && listed.identity.digest == earlier.identity.digest;
    let is_untouched = volumes == Volumes::Same
        && listed.identity.inode == earlier.identity.inode
        && listed.identity.modified == earlier.identity.modified;
    // An ID that is a UUID names one SSTable for ever, and Data.db never changes.
    let is_unique = listed.component == "Data.db"
        && listed.identity.digest.is_some()
        && has_unique_id(&listed.sstable);
    is_named_so && (is_untouched || is_unique)
}

/// `nb-3h5q_05kq_2kdm82q1hsz4bnxhjo-big` has, `nb-1-big` has not.
fn has_unique_id(sstable: &str) -> bool {
    let id = sstable.split('-').nth(1).unwrap_or_default();
    id.contains('_') && id.len() > 20
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Hash;
    use crate::manifest::member::Identity;

    fn both(sstable: &str, component: &str) -> (Listed, File) {
        let identity = Identity { inode: 5, modified: 6, digest: Some(7) };
        let listed = Listed {
            keyspace: "k".into(),
            table: "t".into(),
            table_id: "5f3c2b1a-0000-4000-8000-00000000000a".into(),
            sstable: sstable.into(),
            component: component.into(),
            bytes: 9,
            identity: identity.clone(),
        };
        let file = File {
            keyspace: "k".into(),
            table: "t".into(),
            table_id: listed.table_id.clone(),
            sstable: sstable.into(),
            component: component.into(),
            bytes: 9,
            sha256: Hash::of(b""),
            identity,
            pieces: Vec::new(),
        };
        (listed, file)
    }

    #[test]
    fn everything_counts_where_an_id_is_a_number() {
        let (listed, file) = both("nb-1-big", "Data.db");
        assert!(is_same(&listed, &file, Volumes::Same));
        assert!(!is_same(&listed, &file, Volumes::Different));
        let changes: [fn(&mut Listed); 5] = [
            |l| l.bytes += 1,
            |l| l.identity.inode += 1,
            |l| l.identity.modified += 1,
            |l| l.identity.digest = Some(8),
            |l| l.sstable = "nb-2-big".into(),
        ];
        for (at, change) in changes.iter().enumerate() {
            let mut other = listed.clone();
            change(&mut other);
            assert!(!is_same(&other, &file, Volumes::Same), "change {at}");
        }
    }

    #[test]
    fn data_under_a_unique_id_is_the_same_on_another_volume_and_nothing_else_is() {
        let unique = "nb-3h5q_05kq_2kdm82q1hsz4bnxhjo-big";
        let (listed, file) = both(unique, "Data.db");
        assert!(is_same(&listed, &file, Volumes::Different));
        let (listed, file) = both(unique, "Statistics.db");
        assert!(!is_same(&listed, &file, Volumes::Different));
    }
}
