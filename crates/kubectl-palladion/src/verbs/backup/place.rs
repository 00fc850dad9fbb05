//! Where the repository is that a verb works on, and what opens it.

use super::local;
use crate::exit::{Exit, Trouble};
use crate::words::trouble::Said;
use clap::{Args, ValueEnum};
use clap_complete::engine::{ArgValueCompleter, PathCompleter};
use palladion_backup::store::Store;
use palladion_backup::vault::Vault;
use palladion_store::address::Address;
use palladion_store::credentials::Credentials;
use palladion_store::directory::Directory;
use palladion_store::objects::Objects;
use palladion_store::random::System;
use palladion_store::{credentials, keys, settings};
use std::path::PathBuf;

/// Where the repository is.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Repository")]
pub struct Place {
    /// The repository: a directory, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or azure://ACCOUNT/CONTAINER/PREFIX
    #[arg(long, value_name = "PLACE", add = ArgValueCompleter::new(PathCompleter::dir()))]
    pub store: Address,
    /// The directory of its keys, if it is sealed: a file for each key, and `current`
    #[arg(long, value_name = "DIRECTORY", add = ArgValueCompleter::new(PathCompleter::dir()))]
    keys: Option<PathBuf>,
    /// The directory of the credentials of s3://, gs:// or azure://: a file for each, as their Secret is mounted
    #[arg(
        long,
        value_name = "DIRECTORY",
        env = "PALLADION_BACKUP_CREDENTIALS",
        add = ArgValueCompleter::new(PathCompleter::dir())
    )]
    credentials: Option<PathBuf>,
    /// S3: the region of the bucket [default: us-east-1]
    #[arg(long)]
    region: Option<String>,
    /// Another server than the provider's: https://HOST:PORT
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,
    /// S3: where the bucket stands in a request [default: virtual]
    #[arg(long)]
    addressing: Option<Addressing>,
    /// S3: the checksum that the store compares [default: crc64nvme]
    #[arg(long)]
    checksum: Option<Checksum>,
    /// With --endpoint: encrypted or not [default: tls]
    #[arg(long)]
    transport: Option<Transport>,
}

/// Where the name of the bucket stands.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Addressing {
    /// In the name of the host
    Virtual,
    /// In the path
    Path,
}

/// What S3 compares with what arrives.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Checksum {
    /// CRC-64/NVME
    #[value(name = "crc64nvme")]
    Crc64Nvme,
    /// SHA-256
    #[value(name = "sha256")]
    Sha256,
    /// None: for stores that know neither
    None,
}

/// How requests travel.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Transport {
    /// Encrypted
    Tls,
    /// In the clear
    Plain,
}

impl Place {
    /// Open the repository, and do something with it.
    ///
    /// # Errors
    /// It cannot be opened, or what `run` says.
    pub fn with<T>(
        &self,
        run: impl FnOnce(&Vault<'_>) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let random = System::new().map_err(local)?;
        let keys = self.keys.as_deref().map(keys::read).transpose().map_err(local)?;
        let store = self.opened(&random)?;
        run(&Vault::open(&*store, keys, &random)?)
    }

    fn opened<'r>(&self, random: &'r System) -> Result<Box<dyn Store + 'r>, Trouble> {
        let settings = self.settings();
        settings::check(&self.store, &settings).map_err(usage)?;
        match &self.store {
            Address::Directory(root) => Ok(Box::new(Directory::open(root, random).map_err(local)?)),
            Address::Objects(address) => {
                let credentials = self.credentials()?;
                let store = Objects::open(address, &settings, &credentials).map_err(local)?;
                Ok(Box::new(store))
            }
        }
    }

    fn credentials(&self) -> Result<Credentials, Trouble> {
        let Some(directory) = &self.credentials else {
            let store = self.store.to_string();
            return Err(Trouble::new(Exit::Usage, Said::NoCredentials { store }));
        };
        credentials::read(directory).map_err(local)
    }

    fn settings(&self) -> settings::Settings {
        settings::Settings {
            region: self.region.clone(),
            endpoint: self.endpoint.clone(),
            addressing: self.addressing.map(Into::into),
            checksum: self.checksum.map(Into::into),
            transport: self.transport.map(Into::into),
            patience: settings::Patience::default(),
        }
    }
}

fn usage(why: String) -> Trouble {
    Trouble::new(Exit::Usage, Said::Local { why })
}

impl From<Addressing> for settings::Addressing {
    fn from(typed: Addressing) -> Self {
        match typed {
            Addressing::Virtual => Self::Virtual,
            Addressing::Path => Self::Path,
        }
    }
}

impl From<Checksum> for settings::Checksum {
    fn from(typed: Checksum) -> Self {
        match typed {
            Checksum::Crc64Nvme => Self::Crc64Nvme,
            Checksum::Sha256 => Self::Sha256,
            Checksum::None => Self::None,
        }
    }
}

impl From<Transport> for settings::Transport {
    fn from(typed: Transport) -> Self {
        match typed {
            Transport::Tls => Self::Tls,
            Transport::Plain => Self::Plain,
        }
    }
}
