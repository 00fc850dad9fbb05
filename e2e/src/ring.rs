//! A ring under test: its manifest, its state, and clients that talk to it.

use std::time::Duration;

use anyhow::{Context, Result};
use palladion_api::reasons::Reason;
use serde_json::Value;

use crate::access::Access;
use crate::bed::{Bed, wait_for};
use crate::checked::Checks;
use crate::wanted::WantedRing;

/// A ring takes well under a minute; a busy machine takes longer.
const FORMS_IN: Duration = Duration::from_secs(600);
/// The pod that clients run in.
pub(crate) const CLIENT: &str = "client";

/// A ring of Cassandra in a namespace of its own.
pub struct Ring<'a> {
    /// Where it runs.
    pub bed: &'a Bed,
    /// Its namespace.
    pub namespace: String,
    /// Name of the CassandraCluster.
    pub name: String,
    pub(crate) checks: Checks,
    pub(crate) access: Option<Access>,
}

impl<'a> Ring<'a> {
    /// The ring whose cluster is named like its namespace, whether or not it is
    /// there.
    pub fn at(bed: &'a Bed, namespace: &str) -> Self {
        let name = namespace.to_string();
        let checks = Checks::default();
        Self { bed, namespace: namespace.to_string(), name, checks, access: None }
    }

    /// Make a ring in a fresh namespace and wait until all members are ready,
    /// the rows are written if there are to be any, and nothing is left to do.
    pub fn create(bed: &'a Bed, namespace: &str, wanted: &WantedRing) -> Result<Self> {
        let manifest = wanted.manifest(namespace);
        let ring = Self::create_from(bed, namespace, &manifest, wanted.members())
            .context("the ring should form")?;
        if let Some(copies) = wanted.copies() {
            ring.write_data(copies).context("data should be written")?;
        }
        ring.wait_settled().context("the ring should settle")?;
        Ok(ring)
    }

    /// Make one from a manifest whose cluster is named like the namespace, and
    /// wait until all members are ready.
    pub fn create_from(
        bed: &'a Bed,
        namespace: &str,
        manifest: &str,
        members: u32,
    ) -> Result<Self> {
        bed.fresh_namespace(namespace)?;
        let ring = Self::at(bed, namespace);
        bed.apply(namespace, manifest)?;
        ring.start_client()?;
        ring.wait_ready(members)?;
        Ok(ring)
    }

    /// The ring that is to come in a fresh namespace, where a client runs already.
    pub fn with_client(bed: &'a Bed, namespace: &str) -> Result<Self> {
        bed.fresh_namespace(namespace)?;
        let ring = Self::at(bed, namespace);
        ring.start_client()?;
        Ok(ring)
    }

    /// Names of the members, sorted.
    pub fn member_names(&self) -> Result<Vec<String>> {
        let mut names: Vec<String> = self
            .members()?
            .iter()
            .filter_map(|m| m["metadata"]["name"].as_str().map(str::to_string))
            .collect();
        names.sort();
        Ok(names)
    }

    /// The member objects.
    pub fn members(&self) -> Result<Vec<Value>> {
        self.bed.list(&self.namespace, "cassandramembers")
    }

    /// One member object.
    pub fn member(&self, name: &str) -> Result<Value> {
        self.bed
            .get(&self.namespace, "cassandramember", name)?
            .with_context(|| format!("member {name} should exist"))
    }

    /// The cluster object.
    pub fn cluster(&self) -> Result<Value> {
        self.bed
            .get(&self.namespace, "cassandracluster", &self.name)?
            .context("the cluster should exist")
    }

    /// A condition of the cluster.
    pub fn condition(&self, type_: &str) -> Result<Option<Value>> {
        let cluster = self.cluster()?;
        let conditions = cluster["status"]["conditions"].as_array().cloned().unwrap_or_default();
        Ok(conditions.into_iter().find(|c| c["type"] == type_))
    }

    /// Wait until a condition has this reason, and return its message.
    pub fn wait_reason(&self, type_: &str, reason: Reason, patience: Duration) -> Result<String> {
        wait_for(
            &format!("{type_} to be {reason}; it is {:?}", self.condition(type_)),
            patience,
            || {
                let condition = self.condition(type_)?;
                Ok(condition
                    .filter(|c| c["reason"] == reason.as_str())
                    .map(|c| c["message"].as_str().unwrap_or_default().to_string()))
            },
        )
    }

    /// Wait until a condition has this reason and its message says this. A
    /// scheduler or kubelet may first say something that passes.
    pub fn wait_told(
        &self,
        type_: &str,
        reason: Reason,
        says: &str,
        patience: Duration,
    ) -> Result<()> {
        let mut last = None;
        let told = wait_for(&format!("{type_} {reason} to say {says:?}"), patience, || {
            last = self.condition(type_)?;
            let right = last.as_ref().is_some_and(|c| {
                c["reason"] == reason.as_str()
                    && c["message"].as_str().is_some_and(|m| m.contains(says))
            });
            Ok(right.then_some(()))
        });
        told.with_context(|| format!("the condition is {last:?}"))
    }

    /// Wait until this many members are ready, and no others exist.
    pub fn wait_ready(&self, members: u32) -> Result<()> {
        let wanted = format!("{members}/{members}");
        let outcome = wait_for(&format!("{wanted} members"), FORMS_IN, || {
            Ok((self.cluster()?["status"]["members"] == wanted.as_str()).then_some(()))
        });
        outcome.with_context(|| {
            format!(
                "conditions: {}",
                self.cluster().map(|c| c["status"]["conditions"].to_string()).unwrap_or_default()
            )
        })
    }

    /// Wait until all is as wanted: nothing is being done any more.
    pub fn wait_settled(&self) -> Result<()> {
        self.wait_reason("Progressing", Reason::UpToDate, FORMS_IN).map(drop)
    }

    /// Wait until every check of its health passes; agents find a member healthy
    /// some seconds after it is ready.
    pub fn wait_well(&self) -> Result<()> {
        let outcome = self.wait_reason("Healthy", Reason::AllChecksPass, FORMS_IN).map(drop);
        outcome.with_context(|| {
            let cluster = self.cluster();
            cluster.map(|c| c["status"]["health"].to_string()).unwrap_or_default()
        })
    }

    /// Wait until there are this many members, all ready, with one view of the
    /// ring, and nothing is left to do.
    pub fn wait_members(&self, members: u32) -> Result<()> {
        self.wait_ready(members)?;
        self.wait_settled()?;
        self.wait_alike(usize::try_from(members)?)
    }

    /// Wait until every member sees the same ring of this many, all up and
    /// normal. Members hear of each other by gossip, some seconds apart.
    pub fn wait_alike(&self, members: usize) -> Result<()> {
        let mut last = String::new();
        let alike = wait_for("all members to see one ring", FORMS_IN, || {
            let views: Vec<Value> =
                self.members()?.iter().map(|m| m["status"]["ring"].clone()).collect();
            let whole = views.iter().all(|v| {
                v["members"] == members && v["exceptions"].as_array().is_none_or(Vec::is_empty)
            });
            last = format!("{views:?}");
            Ok((views.len() == members && whole).then_some(()))
        });
        alike.with_context(|| format!("they see {last}"))
    }

    /// Host IDs by member.
    pub fn host_ids(&self) -> Result<Vec<(String, String)>> {
        let mut ids: Vec<_> = self
            .members()?
            .iter()
            .map(|m| {
                let text = |pointer: &str| {
                    m.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_string()
                };
                (text("/metadata/name"), text("/status/hostID"))
            })
            .collect();
        ids.sort();
        Ok(ids)
    }

    /// Pod uids by member.
    pub fn pod_uids(&self) -> Result<Vec<(String, String)>> {
        let mut uids: Vec<_> = self
            .bed
            .list(&self.namespace, "pods")?
            .iter()
            .filter(|p| p["metadata"]["labels"]["palladion.dev/cluster"] == self.name.as_str())
            .map(|p| {
                let text = |key: &str| p["metadata"][key].as_str().unwrap_or_default().to_string();
                (text("name"), text("uid"))
            })
            .collect();
        uids.sort();
        Ok(uids)
    }

    /// A new client pod, after nodes were without power.
    pub fn restart_client(&self) -> Result<()> {
        self.bed.kubectl(&format!(
            "delete pod {CLIENT} -n {} --ignore-not-found --grace-period=0 --force",
            self.namespace
        ))?;
        self.start_client()
    }

    fn start_client(&self) -> Result<()> {
        let words = format!(
            "run {CLIENT} -n {} --image palladion.dev/tools:dev --image-pull-policy Never --restart Never --command -- /bin/busybox sleep 1000000",
            self.namespace
        );
        self.bed.kubectl(&words).map(drop)
    }

    /// Run a command in the client's pod, when that runs.
    pub fn in_client(&self, command: &[&str]) -> Result<String> {
        wait_for("the client to answer", Duration::from_secs(90), || {
            self.bed.exec(&self.namespace, CLIENT, command).map(Some)
        })
    }

    /// Run statements with a real client at QUORUM, with retries of the driver
    /// only; returns one line per row of the last statement.
    pub fn cql(&self, statements: &[&str]) -> Result<Vec<String>> {
        let host = format!("{}-client", self.name);
        let mut command = vec!["python3", "-c", PROGRAM, &host];
        command.extend(statements);
        let said = self.in_client(&command).context("an answer by CQL")?;
        Ok(said.lines().map(str::to_string).collect())
    }
}

const PROGRAM: &str = r#"
import sys
from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
from cassandra import ConsistencyLevel
profile = ExecutionProfile(consistency_level=ConsistencyLevel.QUORUM, request_timeout=20)
cluster = Cluster([sys.argv[1]], execution_profiles={EXEC_PROFILE_DEFAULT: profile}, connect_timeout=20, control_connection_timeout=20)
session = cluster.connect()
rows = []
for statement in sys.argv[2:]:
    rows = session.execute(statement)
for row in rows:
    print(*row)
cluster.shutdown()
"#;
