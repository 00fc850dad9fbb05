//! The identity of a file system as agents report it and the operator records it:
//! `<type>/<ID>/<directory that is mounted>`. Some file systems have no ID but
//! the number of the device that they are on, which the next disk gets as well,
//! and which may be another one after the machine has started again.

/// How an ID begins that is the number of a device.
pub const DEVICE: &str = "device ";

/// What comparing two identities says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// It is the same file system.
    Same,
    /// It is another one.
    Other,
    /// Nothing: one of them is a device number.
    Unknown,
}

/// Compare what was recorded with what is found.
pub fn compare(recorded: &str, found: &str) -> Comparison {
    if kind(recorded) != kind(found) {
        return Comparison::Other;
    }
    match (tells(recorded) && tells(found), recorded == found) {
        (false, _) => Comparison::Unknown,
        (true, true) => Comparison::Same,
        (true, false) => Comparison::Other,
    }
}

/// Does an identity tell this file system from every other one?
pub fn tells(identity: &str) -> bool {
    let id = identity.split('/').nth(1).unwrap_or_default();
    // Agents used to write the number as an ID. One that is made of 64 bits of a UUID looks
    // like that once in four billion.
    let is_number = id.len() == 16 && id.starts_with("00000000");
    !identity.is_empty() && !is_number && !id.starts_with(DEVICE)
}

fn kind(identity: &str) -> &str {
    identity.split('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXT4: &str = "ext4/7033aa87c1a0fbe2/pv/a";
    const XFS: &str = "xfs/1fd108ae430442179b781ccf34f280e8/";

    #[test]
    fn an_id_tells_and_the_number_of_a_device_does_not() {
        assert!(tells(EXT4) && tells(XFS) && tells("of another notation"));
        for number in ["xfs/0000000000000821/", "xfs/device 8:33/", "f2fs/0000000000000700/a", ""] {
            assert!(!tells(number), "{number}");
        }
    }

    #[test]
    fn what_is_the_same_in_all_but_a_number_is_not_known_to_be_the_same() {
        use Comparison::{Other, Same, Unknown};
        assert_eq!(compare(EXT4, EXT4), Same);
        assert_eq!(compare(XFS, XFS), Same);
        assert_eq!(compare(EXT4, XFS), Other);
        assert_eq!(compare(EXT4, "ext4/7033aa87c1a0fbe2/pv/b"), Other);
        let by_number = "xfs/0000000000000821/";
        for found in [by_number, "xfs/device 8:33/", "xfs/device 8:49/", XFS] {
            assert_eq!(compare(by_number, found), Unknown, "{found}");
            assert_eq!(compare(found, by_number), Unknown, "{found}");
        }
        assert_eq!(compare(by_number, EXT4), Other);
    }
}
