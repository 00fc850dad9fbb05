//! What a member's pod has of the store of backups: the Secrets with credentials and keys, as
//! files, both optional, since nothing that a backup lacks keeps a database down; or the volume
//! that is the store. Pods of rings without `spec.backup` have none of it.

use crate::validate::{Valid, ValidBackup};
use palladion_api::backup::{
    BACKUP_CREDENTIALS, BACKUP_CREDENTIALS_SECRET, BACKUP_KEYS, BACKUP_VOLUME,
};
use serde_json::{Value, json};

/// Readable for user and group of the server (0440).
const FILE_MODE: i32 = 0o440;
/// Entries of a Secret with credentials.
const ENTRIES: [&str; 7] = [
    "accessKeyId",
    "secretAccessKey",
    "sessionToken",
    "serviceAccount.json",
    "accountKey",
    "sasToken",
    "ca.crt",
];
/// What the names of entries begin with that are for another store, from which a restore reads.
const SOURCE: &str = "source.";
/// The entry that says for which store credentials are.
const STORE_OF: &str = "store";
const CREDENTIALS: &str = "backup-credentials";
const KEYS: &str = "backup-keys";
const STORE: &str = "backups";

/// The volumes.
pub fn volumes(valid: &Valid) -> Vec<Value> {
    let Some(backup) = &valid.backup else {
        return Vec::new();
    };
    let secret = |name: &str, secret: &String| {
        let secret = json!({ "secretName": secret, "optional": true, "defaultMode": FILE_MODE });
        json!({ "name": name, "secret": secret })
    };
    let credentials = backup.credentials_secret.as_ref().map(|name| {
        // Named, so that no other Secret becomes files of a pod by its name alone.
        let entries = ENTRIES.iter().chain([&STORE_OF]);
        let keys = entries.flat_map(|key| [(*key).to_string(), format!("{SOURCE}{key}")]);
        let items: Vec<Value> =
            keys.map(|key| json!({ "key": key.as_str(), "path": key })).collect();
        let mut volume = secret(CREDENTIALS, name);
        volume["secret"]["items"] = items.into();
        volume
    });
    let store = backup
        .claim
        .as_ref()
        .map(|claim| json!({ "name": STORE, "persistentVolumeClaim": { "claimName": claim } }));
    credentials.into_iter().chain([secret(KEYS, &backup.key_secret)]).chain(store).collect()
}

/// Where the container of the server has them.
pub fn mounts(valid: &Valid) -> Vec<Value> {
    let Some(ValidBackup { credentials_secret, claim, .. }) = &valid.backup else {
        return Vec::new();
    };
    let read =
        |name: &str, path: &str| json!({ "name": name, "mountPath": path, "readOnly": true });
    let credentials = credentials_secret.as_ref().map(|_| read(CREDENTIALS, BACKUP_CREDENTIALS));
    let store = claim.as_ref().map(|_| json!({ "name": STORE, "mountPath": BACKUP_VOLUME }));
    credentials.into_iter().chain([read(KEYS, BACKUP_KEYS)]).chain(store).collect()
}

/// Which Secret it is, for the agent: the one that an order names may not be mounted yet.
pub fn environment(valid: &Valid) -> Option<Value> {
    let secret = valid.backup.as_ref()?.credentials_secret.as_ref()?;
    Some(json!({ "name": BACKUP_CREDENTIALS_SECRET, "value": secret }))
}
