//! What is kept for clients and for the other members, side by side.

use super::{Issued, Own, Reader, Reads};
use crate::volume::Volume;
use crate::words::start::Waiting;
use anyhow::Result;
use jiff::Timestamp;
use palladion_api::ids::MemberName;
use palladion_api::member::{CertificateProblem, MemberTls, MemberTlsStatus, Purpose};
use palladion_api::server_config::{ClientEncryption, ServerConfig};
use std::path::Path;

/// Key, request and certificate for each purpose.
pub struct Certificates {
    client: Issued,
    internode: Issued,
}

impl Default for Certificates {
    fn default() -> Self {
        Self { client: Issued::of(Purpose::Client), internode: Issued::of(Purpose::Internode) }
    }
}

/// Does a server that is configured so need a certificate that the operator signs?
fn is_needed(config: &ServerConfig, purpose: Purpose) -> bool {
    match purpose {
        Purpose::Client => config.client_encryption() == ClientEncryption::OfOperator,
        Purpose::Internode => config.speaks_tls_to_members(),
    }
}

impl Certificates {
    fn each(&mut self) -> [&mut Issued; 2] {
        [&mut self.client, &mut self.internode]
    }

    fn needed<'a>(&'a mut self, config: &'a ServerConfig) -> impl Iterator<Item = &'a mut Issued> {
        self.each().into_iter().filter(|issued| is_needed(config, issued.purpose))
    }

    /// What the operator is told.
    pub fn status(&self) -> Option<MemberTlsStatus> {
        let (client, internode) = (self.client.status(), self.internode.status());
        (client.is_some() || internode.is_some())
            .then(|| MemberTlsStatus { client: client.cloned(), internode: internode.cloned() })
    }

    /// Do what the orders say, beside a server that runs with this configuration, if one does;
    /// what cannot be told in the status comes back.
    pub fn follow(
        &mut self,
        volume: &Volume,
        own: Own<'_>,
        orders: &MemberTls,
        running: Option<&ServerConfig>,
        now: Timestamp,
    ) -> Option<CertificateProblem> {
        let mut problem = None;
        for issued in self.each() {
            if let Some(order) = orders.of(issued.purpose) {
                let reader = match running {
                    Some(config) if is_needed(config, issued.purpose) => Reader::Runs,
                    Some(_) | None => Reader::IsNotThere,
                };
                problem = problem.or(issued.follow(volume, own, order, reader, now));
            }
        }
        problem
    }

    /// What a start waits for, if a server that is configured so could not be served with it.
    pub fn start_waits(
        &mut self,
        config: &ServerConfig,
        volume: &Volume,
        member: &MemberName,
        orders: Option<&MemberTls>,
    ) -> Option<Waiting> {
        self.needed(config).find_map(|issued| {
            let order = orders.and_then(|orders| orders.of(issued.purpose));
            issued.start_waits(volume, member, order)
        })
    }

    /// Put the files where a server that is configured so reads them.
    ///
    /// # Errors
    /// There is no certificate, or the files cannot be written.
    pub fn place(
        &mut self,
        config: &ServerConfig,
        volume: &Volume,
        directory: &Path,
        reads: Reads,
    ) -> Result<()> {
        self.needed(config).try_for_each(|issued| issued.place(volume, directory, reads))
    }

    /// Who has left keeps no key.
    ///
    /// # Errors
    /// The files cannot be removed.
    pub fn wipe(&mut self, volume: &Volume) -> Result<()> {
        self.each().into_iter().try_for_each(|issued| issued.wipe(volume))
    }
}
