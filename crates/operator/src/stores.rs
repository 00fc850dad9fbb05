//! The stores of region locks: an etcd or Leases, with the credentials of one directory.

use palladion_engine::lock::{Leases, OpenStore};
use palladion_locks::{Credentials, Etcd};
use palladion_plan::lock::{LockStore, StoreAddress};
use std::path::Path;
use std::sync::Arc;

/// The file of the directory by which another Kubernetes is reached.
const KUBECONFIG: &str = "kubeconfig";

/// Opens them with the credentials of this directory.
pub fn with_credentials(directory: &Path) -> OpenStore {
    let directory = directory.to_path_buf();
    Arc::new(move |at, metrics| {
        let store: Arc<dyn LockStore> = match at {
            StoreAddress::Etcd { endpoints } => {
                Arc::new(Etcd::new(endpoints.clone(), Credentials::in_directory(&directory)))
            }
            StoreAddress::Lease { namespace } => {
                let (file, metrics) = (directory.join(KUBECONFIG), Arc::clone(metrics));
                Arc::new(Leases::new(file, namespace.clone(), metrics))
            }
        };
        Ok(store)
    })
}
