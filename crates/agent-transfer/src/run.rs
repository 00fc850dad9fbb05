//! The process: it stands back behind the database, ends with who waits for it,
//! reads what it is told, does it, and says how it ended.

use crate::archive::work as archive;
use crate::metered::{Metered, Rate};
use crate::orders::{Discard, Outcome};
use crate::settings::{Change, Entries, Settings, Work};
use crate::tell::{Done, ended, say};
use crate::words::stopped::Stopped;
use crate::{replay, restore, retention, upload, work};
use palladion_backup::Trouble;
use palladion_backup::repository::Sealing;
use palladion_backup::seal::Keys;
use palladion_backup::store::Store;
use palladion_backup::vault::Vault;
use palladion_store::address::Address;
use palladion_store::directory::Directory;
use palladion_store::objects::Objects;
use palladion_store::random::System;
use palladion_store::{credentials, keys, settings};
use rustix::process::{
    Resource, Rlimit, Signal, getppid, nice, set_parent_process_death_signal, setrlimit,
};
use std::io::BufRead;
use std::process::ExitCode;

/// Bytes of memory of its own, at the most; manifests of earlier backups grow with their files.
const MOST_MEMORY: u64 = 512 * 1024 * 1024;
/// Behind the database, before what only waits.
const NICE: i32 = 10;

/// Run the child.
pub fn run() -> ExitCode {
    let result = told().and_then(|(settings, rate)| carry_out(&settings, rate));
    say(&ended(&result));
    match result {
        Ok(_) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// It shares the memory of the database's container: what it must not take it is refused, and
/// where memory is short it goes before the database does.
fn stand_back_for_memory() {
    let most = Rlimit { current: Some(MOST_MEMORY), maximum: Some(MOST_MEMORY) };
    // Neither is worth failing for.
    let _ = setrlimit(Resource::Data, most);
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
}

fn told() -> Result<(Settings, Rate), Stopped> {
    let settings = |why: String| Stopped::Settings { why };
    nice(NICE).map_err(|error| settings(error.to_string()))?;
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| settings(error.to_string()))?;
    stand_back_for_memory();
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(|error| settings(error.to_string()))?;
    let told: Settings =
        serde_json::from_str(&line).map_err(|error| settings(error.to_string()))?;
    // It may have ended before we asked to end with it.
    let parent = getppid().map(|parent| parent.as_raw_nonzero().get());
    if told.parent.is_some() && told.parent != parent {
        std::process::exit(1);
    }
    let rate = Rate::new(told.bytes_per_second);
    let later = rate.clone();
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            if let Ok(Change { bytes_per_second }) = serde_json::from_str(&line) {
                later.set(bytes_per_second);
            }
        }
    });
    Ok((told, rate))
}

/// Do what was told.
///
/// # Errors
/// Why it has stopped.
pub fn carry_out(settings: &Settings, rate: Rate) -> Result<Done, Stopped> {
    if let Work::Discard(order) = &settings.work {
        return discarded(settings, order, rate);
    }
    if let Work::Upload(order) = &settings.work {
        // First: while a store is away the snapshot goes on growing beside the database.
        if let Some(data) = order.data.iter().find(|data| data.exists()) {
            upload::space(data)?.has(order.least_free)?;
        }
    }
    let random = System::new().map_err(|why| Stopped::Opening { why })?;
    let store = Metered::new(opened(settings, &random)?, rate);
    let keys = unlocked(settings)?;
    let vault = match settings.work {
        Work::Prepare(_) => Vault::create(&store, keys, &random, settings.repository.clone())?,
        Work::Describe(_)
        | Work::Upload(_)
        | Work::Finish(_)
        | Work::Verify(_)
        | Work::Discard(_)
        | Work::Fetch(_)
        | Work::Expire(_)
        | Work::Sweep(_)
        | Work::Archive(_) => {
            let vault = Vault::open(&store, keys, &random)?;
            is_ours(&vault, settings)?;
            vault
        }
        Work::Read(_) | Work::Tokens(_) | Work::Batch(_) | Work::Segments(_) => {
            let vault = Vault::open(&store, keys, &random)?;
            is_ordered(&vault, settings)?;
            vault
        }
    };
    let done = match &settings.work {
        Work::Prepare(order) => work::prepare(&vault, order),
        Work::Describe(order) => work::describe(&vault, order),
        Work::Upload(order) => upload::upload(&vault, &store, (&settings.id, order)),
        Work::Finish(order) => work::finish(&vault, order),
        Work::Verify(order) => work::verify(&vault, order),
        Work::Discard(order) => work::discard(order),
        Work::Fetch(order) => work::fetch(&vault, order),
        Work::Read(order) => restore::read(&vault, &settings.id, order),
        Work::Tokens(order) => restore::tokens(&vault, &settings.id, order),
        Work::Batch(order) => restore::batch(&vault, &store, (&settings.id, order)),
        Work::Segments(order) => replay::segments(&vault, &store, (&settings.id, order)),
        Work::Expire(order) => retention::expire(&vault, order),
        Work::Sweep(order) => retention::sweep(&vault, order),
        Work::Archive(order) => archive::archive(&vault, order),
    };
    // Whatever came of it, it counts.
    store.tell();
    done
}

/// First what is on the volume: that a store does not answer keeps no disk full.
fn discarded(settings: &Settings, order: &Discard, rate: Rate) -> Result<Done, Stopped> {
    let done = work::discard(order)?;
    if order.outcome == Outcome::Leave {
        return Ok(done);
    }
    let random = System::new().map_err(|why| Stopped::Opening { why })?;
    let store = Metered::new(opened(settings, &random)?, rate);
    match Vault::open(&store, unlocked(settings)?, &random) {
        Ok(vault) => {
            is_ours(&vault, settings)?;
            work::fail(&vault, &order.backup)?;
        }
        // Where there is no repository no backup of it can become complete.
        Err(Trouble::NoRepository) => {}
        Err(other) => return Err(other.into()),
    }
    Ok(done)
}

fn is_ours(vault: &Vault<'_>, settings: &Settings) -> Result<(), Stopped> {
    is(vault, settings, vault.repository() == &settings.repository)
}

/// A restore may be from the backups of another ring: their ID says which they are.
fn is_ordered(vault: &Vault<'_>, settings: &Settings) -> Result<(), Stopped> {
    is(vault, settings, vault.repository().id == settings.repository.id)
}

fn is(vault: &Vault<'_>, settings: &Settings, is_right: bool) -> Result<(), Stopped> {
    let (found, ours) = (vault.repository(), &settings.repository);
    match is_right {
        true => Ok(()),
        false => {
            let (found, expected) = (found.id.clone(), ours.id.clone());
            Err(Trouble::Foreign { found, expected }.into())
        }
    }
}

fn opened<'r>(told: &Settings, random: &'r System) -> Result<Box<dyn Store + 'r>, Stopped> {
    let opening = |why: String| Stopped::Opening { why };
    let address: Address = told.store.at.parse().map_err(opening)?;
    let of_store = told.store.settings();
    settings::check(&address, &of_store).map_err(opening)?;
    match &address {
        Address::Directory(root) => Ok(Box::new(Directory::open(root, random).map_err(opening)?)),
        Address::Objects(objects) => {
            let none = || Stopped::NoCredentials { store: objects.to_string() };
            let folder = told.credentials.as_deref().ok_or_else(none)?;
            let place = (told.store.at.as_str(), told.store.endpoint.as_deref());
            let credentials = match told.entries {
                Entries::Own => credentials::read_own(folder, place),
                Entries::Source => credentials::read_source(folder, place),
            };
            let credentials = credentials.map_err(opening)?;
            let store = Objects::open(objects, &of_store, &credentials).map_err(opening)?;
            Ok(Box::new(store))
        }
    }
}

/// The keys, if the repository is sealed. Their Secret is mounted optionally, so its
/// directory may be empty.
fn unlocked(told: &Settings) -> Result<Option<Keys>, Stopped> {
    match (told.repository.sealing, &told.keys) {
        (Sealing::Plain, _) => Ok(None),
        (Sealing::Sealed, None) => Err(Trouble::KeysMissing.into()),
        (Sealing::Sealed, Some(folder)) => {
            keys::read(folder).map(Some).map_err(|why| Stopped::NoKeys { why })
        }
    }
}
