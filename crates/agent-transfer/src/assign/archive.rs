//! From the order of an archive to what the child is told of one look.

use super::{Own, with};
use crate::orders::archive::Archive;
use crate::settings::{Settings, Work};
use crate::words::stopped::Stopped;
use palladion_api::backup::{ArchiveOrder, Transfer, TransferWork};
use palladion_api::ids::{HostId, VolumeId};

/// What the child is told.
///
/// # Errors
/// The pod has other credentials, or a word of the order is not known.
pub fn archive(order: &ArchiveOrder, own: &Own, work: Archive) -> Result<Settings, Stopped> {
    let transfer = Transfer {
        id: "archive".into(),
        epoch: 0,
        host_id: HostId::new(work.host.to_string()),
        volume_id: VolumeId::new(""),
        backup: String::new(),
        repository: order.repository.clone(),
        store: order.store.clone(),
        credentials_secret_name: order.credentials_secret_name.clone(),
        source_credentials: false,
        // What is written to a commit log must be sent as fast.
        bytes_per_second: None,
        minimum_bytes_per_second: None,
        work: TransferWork::default(),
    };
    with(&transfer, own, || Ok(Work::Archive(Box::new(work))))
}
