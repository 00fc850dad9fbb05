//! The UUID of an XFS file system. `statfs` tells the number of the device
//! instead: `xfs_fs_statfs` fills `f_fsid` with it, where ext4 and btrfs make it
//! from their UUIDs. The geometry, which has the UUID, is given to everybody who
//! can open a directory (ioctl_xfs_fsgeometry(2)), so also without privileges.

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::ioctl::{Getter, Opcode, ioctl, opcode};
use std::path::Path;

/// `struct xfs_fsop_geom_v4`: eight numbers of 32 bits, four of 64, the UUID, eight of 32.
const SIZE: usize = 112;
const UUID: std::ops::Range<usize> = 64..80;

/// The geometry is copied bytewise, so that nothing depends on its alignment.
type Geometry = [u8; SIZE];
/// `XFS_IOC_FSGEOMETRY_V4`: every kernel answers it. The size is a part of the number, so
/// that a kernel that knows another structure refuses it.
const GEOMETRY: Opcode = opcode::read::<Geometry>(b'X', 124);

/// The UUID of the XFS file system that this directory is on; none where it does not say.
pub(super) fn uuid(directory: &Path) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = openat(CWD, directory, flags, Mode::empty()).ok()?;
    #[expect(unsafe_code, reason = "no crate has this call, and XFS no other way to say who it is")]
    // SAFETY: for this number the kernel writes one structure of this size, or fails.
    let geometry = unsafe { ioctl(opened, Getter::<GEOMETRY, Geometry>::new()) }.ok()?;
    let uuid = geometry.get(UUID)?;
    let is_set = uuid.iter().any(|byte| *byte != 0);
    is_set.then(|| uuid.iter().map(|byte| format!("{byte:02x}")).collect())
}
