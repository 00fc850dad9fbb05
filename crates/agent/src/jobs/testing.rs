//! A server for tests of jobs: it notes what it is called for, and what stands on
//! the volume at that moment.

use crate::admin::jobs::{Compaction, Holders, Jobs, Owners, Rewrite, Rewritten, Segment, Tables};
use crate::admin::{
    Answer, ByDatacenter, Error, Reading, RepairScope, RepairState, RepairTicket, RuntimeChange,
    ServerAdmin, TooFewCopies,
};
use crate::repair::Schema;
use crate::repair::schema::{Keyspace, Schemas, Table};
use crate::replication::{Keyspaces, Replication};
use crate::volume::Volume;
use futures::future::BoxFuture;
use palladion_api::ids::{HostId, StaticAddress};
use palladion_api::member::{Liveness, MemberState, RingMember};
use palladion_api::runtime::RuntimeSettings;
use palladion_api::task::SnapshotTask;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// How a rewrite goes that is called next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goes {
    /// As the server says.
    Ends(Rewritten),
    /// It runs until it was stopped so often.
    RunsUntilStopped(u32),
    /// The connection breaks; the server goes on for so many looks.
    Breaks(u32),
    /// It waits for a thread, and nothing of it shows.
    Waits,
    /// Somebody drops this table of the shop, and it fails.
    Drops(&'static str),
}

#[derive(Default)]
pub struct State {
    pub calls: Vec<String>,
    pub rewrites: VecDeque<Goes>,
    pub compactions: Vec<Compaction>,
    pub looks: u32,
    pub stopped: u32,
    pub repairs: VecDeque<RepairState>,
    pub next_repair: i64,
    /// Of repairs up to this number nothing is known any more.
    pub forgotten: i64,
    /// Repairs that do not end when they are asked to.
    pub deaf: bool,
    pub levels: RuntimeSettings,
    pub mode: Option<&'static str>,
    pub refuses: Option<&'static str>,
    /// Host IDs of the ring, "1" is the server's own.
    pub members: Vec<(&'static str, MemberState)>,
    /// Those of them that are down.
    pub down: Vec<&'static str>,
    /// How often the schema was changed.
    pub schema: u32,
    /// Members that have a copy of everything besides the two.
    pub more_copies: Vec<&'static str>,
    /// Who has a copy of `system_auth` besides.
    pub copy_of_auth: Option<&'static str>,
    /// Every repair of this keyspace fails.
    pub fails: Option<&'static str>,
    /// A segment of so many ranges does not end before it is ended.
    pub slow: Option<usize>,
    /// How often the repair under way was asked to end.
    pub ends: u32,
    /// Segments with which the server has nothing to do.
    pub idle: u32,
    /// Why the schema cannot be read.
    pub no_schema: Option<&'static str>,
    /// Tables of the shop that are there besides its two.
    pub created: Vec<&'static str>,
    /// Tables that are there no more.
    pub dropped: Vec<&'static str>,
    /// For how long tables keep deletions, where it is not ten days.
    pub graces: BTreeMap<&'static str, u32>,
    /// It does not answer when it is asked to end repairs.
    pub silent: bool,
    /// It does not answer when it is asked to flush, or about snapshots.
    pub never_answers: bool,
    /// A table of the shop with more bytes than any disk has.
    pub huge: Option<&'static str>,
    /// The connection breaks when it is called for an operation.
    pub breaks: bool,
    /// The connection breaks when it is asked about a repair.
    pub hides_repairs: bool,
    /// For so many looks it shows streams of a rebuild.
    pub rebuilds: u32,
    /// How its keyspaces are replicated.
    pub replications: BTreeMap<String, Replication>,
    /// Copies of a keyspace in dc1, where it is not one.
    pub here: BTreeMap<&'static str, u32>,
    /// The datacenter of a member is not known: copies are not counted by it.
    pub no_datacenter: bool,
    /// For so many looks servers do not agree on the schema.
    pub disagrees: u32,
    /// What somebody elsewhere has written at the same time: seen here once servers agree.
    pub overwritten: Option<(&'static str, Replication)>,
    /// The connection breaks behind the next statement.
    pub loses_answer: bool,
    /// The datacenter of a member, where it is not dc1.
    pub elsewhere: BTreeMap<&'static str, &'static str>,
}

pub struct Fake {
    pub state: Mutex<State>,
    pub volume: Volume,
}

impl Fake {
    /// What is on the disk at the moment of a call.
    fn called(&self, what: String) -> MutexGuard<'_, State> {
        super::kill::point();
        let notes = self.volume.jobs().unwrap();
        let item = notes.open().and_then(|note| note.item.clone());
        let at = item.map(|i| format!("{}.{}", i.keyspace, i.table.unwrap_or_default()));
        let mut state = self.state.lock().unwrap();
        state.calls.push(format!("{what} at {}", at.unwrap_or_default()));
        state
    }

    /// This answer, or none.
    fn answer<'a, T: Send + 'a>(&self, answer: Answer<'a, T>) -> Answer<'a, T> {
        match self.state.lock().unwrap().never_answers {
            true => Box::pin(std::future::pending()),
            false => answer,
        }
    }
}

fn now<T: Send + 'static>(value: T) -> Answer<'static, T> {
    Box::pin(async move { Ok(value) })
}

async fn broken() -> Error {
    let source = reqwest::Client::new().get("http://127.0.0.1:1/").send().await.unwrap_err();
    Error::Http { url: "http://127.0.0.1:1/".into(), source }
}

impl ServerAdmin for Fake {
    fn read(&self) -> Answer<'_, Reading> {
        let mut state = self.state.lock().unwrap();
        let is_agreed = state.disagrees == 0;
        state.disagrees = state.disagrees.saturating_sub(1);
        if state.disagrees == 0
            && !is_agreed
            && let Some((keyspace, written)) = state.overwritten.take()
        {
            state.replications.insert(keyspace.into(), written);
        }
        let members = state.members.iter().map(|(name, member_state)| RingMember {
            host_id: (*name).into(),
            address: StaticAddress::new(format!("10.0.0.{name}")),
            liveness: match state.down.contains(name) {
                true => Liveness::Down,
                false => Liveness::Up,
            },
            state: *member_state,
            datacenter: Some((*state.elsewhere.get(name).unwrap_or(&"dc1")).to_string()),
            version: None,
        });
        now(Reading {
            mode: state.mode.map(str::to_string),
            host_id: Some("1".into()),
            schema_agreed: Some(is_agreed),
            schema_version: Some(state.schema.to_string()),
            members: Some(members.collect()),
            ..Reading::default()
        })
    }

    fn drain(&self) -> Answer<'_, ()> {
        now(())
    }

    fn decommission(&self, copies: TooFewCopies) -> Answer<'_, ()> {
        drop(self.called(format!("leave, too few copies: {copies:?}")));
        now(())
    }

    fn reload_seeds(&self) -> Answer<'_, ()> {
        now(())
    }

    fn runtime(&self) -> Answer<'_, RuntimeSettings> {
        now(self.state.lock().unwrap().levels.clone())
    }

    fn change_runtime<'a>(&'a self, change: &'a RuntimeChange) -> Answer<'a, ()> {
        let mut state = self.called(format!("levels {:?}", change.log_levels));
        for (logger, level) in &change.log_levels {
            match level {
                Some(level) => state.levels.log_levels.insert(logger.clone(), *level),
                None => state.levels.log_levels.remove(logger),
            };
        }
        now(())
    }

    fn keyspaces(&self) -> Answer<'_, Vec<String>> {
        now(vec!["shop".into(), "system_auth".into()])
    }

    fn copies(&self) -> Answer<'_, BTreeMap<String, u32>> {
        now([("shop".to_string(), 2)].into())
    }

    fn copies_by_datacenter<'a>(
        &'a self,
        _: &'a BTreeMap<StaticAddress, String>,
        of: Option<&'a str>,
    ) -> Answer<'a, ByDatacenter> {
        let state = self.state.lock().unwrap();
        if state.no_datacenter {
            let (operation, message) = ("count copies".to_string(), "no datacenter".to_string());
            return Box::pin(async { Err(Error::Failed { operation, message }) });
        }
        let here = |name: &str| state.here.get(name).copied().unwrap_or(1);
        let dc1 = |name| ("dc1".to_string(), here(name));
        let counted = match of {
            Some(name) => (name.to_string(), [dc1(name)].into()),
            None => {
                ("system_auth".to_string(), [dc1("system_auth"), ("dc2".to_string(), 1)].into())
            }
        };
        now(ByDatacenter { copies: [counted].into(), uneven: Vec::new() })
    }

    fn rebuild<'a>(&'a self, source: &'a str, keyspace: &'a str) -> Answer<'a, ()> {
        let mut state = self.called(format!("rebuild {keyspace} from {source}"));
        let breaks = state.breaks;
        let fails = state.fails == Some(keyspace);
        state.breaks = false;
        Box::pin(async move {
            let operation = "rebuild".to_string();
            match (breaks, fails) {
                (true, _) => Err(broken().await),
                (false, true) => Err(Error::Failed { operation, message: "stream failed".into() }),
                (false, false) => Ok(()),
            }
        })
    }

    fn rebuilding(&self) -> Answer<'_, Option<u8>> {
        let mut state = self.state.lock().unwrap();
        let rebuilds = state.rebuilds > 0;
        state.rebuilds = state.rebuilds.saturating_sub(1);
        now(rebuilds.then_some(40))
    }

    fn start_native_transport(&self) -> Answer<'_, ()> {
        drop(self.called("start the native transport".into()));
        now(())
    }

    fn stop_native_transport(&self) -> Answer<'_, ()> {
        drop(self.called("stop the native transport".into()));
        now(())
    }

    fn cleanup<'a>(&'a self, keyspace: &'a str) -> Answer<'a, ()> {
        let breaks = self.called(format!("cleanup {keyspace}")).breaks;
        Box::pin(async move { if breaks { Err(broken().await) } else { Ok(()) } })
    }

    fn flush<'a>(&'a self, keyspace: &'a str) -> Answer<'a, ()> {
        let breaks = self.called(format!("flush {keyspace}")).breaks;
        Box::pin(async move { if breaks { Err(broken().await) } else { Ok(()) } })
    }

    fn upgrade_sstables<'a>(&'a self, _: &'a str) -> Answer<'a, ()> {
        now(())
    }

    fn remove_node<'a>(&'a self, _: &'a HostId) -> Answer<'a, ()> {
        now(())
    }

    fn jobs(&self) -> Option<&dyn Jobs> {
        Some(self)
    }

    fn begin_repair<'a>(
        &'a self,
        keyspace: &'a str,
        _: RepairScope,
    ) -> Answer<'a, Option<RepairTicket>> {
        let mut state = self.called(format!("repair {keyspace}"));
        state.next_repair += 1;
        let (number, breaks) = (state.next_repair, state.breaks);
        Box::pin(async move {
            if breaks {
                return Err(broken().await);
            }
            Ok(Some(RepairTicket { keyspace: keyspace.into(), number }))
        })
    }

    fn repair_state<'a>(&'a self, ticket: &'a RepairTicket) -> Answer<'a, RepairState> {
        let mut state = self.state.lock().unwrap();
        if state.hides_repairs {
            return Box::pin(async { Err(broken().await) });
        }
        if ticket.number > state.next_repair || ticket.number <= state.forgotten {
            return now(RepairState::Unknown);
        }
        if state.fails == Some(ticket.keyspace.as_str()) {
            return now(RepairState::Failed("endpoint not alive".into()));
        }
        now(state.repairs.pop_front().unwrap_or(RepairState::Completed))
    }
}

impl Keyspaces for Fake {
    fn present<'a>(&'a self, keyspace: &'a str) -> BoxFuture<'a, anyhow::Result<Replication>> {
        let state = self.state.lock().unwrap();
        let row = state.replications.get(keyspace).cloned();
        Box::pin(async move { row.ok_or_else(|| anyhow::anyhow!("it does not exist")) })
    }

    fn replicate<'a>(
        &'a self,
        keyspace: &'a str,
        to: &'a Replication,
    ) -> BoxFuture<'a, anyhow::Result<()>> {
        let mut state = self.called(format!("alter {keyspace} to {}", to.shown()));
        state.replications.insert(keyspace.into(), to.clone());
        if state.overwritten.is_some() {
            state.disagrees = 2;
        }
        let is_lost = std::mem::take(&mut state.loses_answer);
        Box::pin(async move {
            let io = || std::io::Error::from(std::io::ErrorKind::ConnectionReset);
            let address = std::net::SocketAddr::from(([127, 0, 0, 1], 9042));
            match is_lost {
                true => Err(crate::cql::Error::Io { address, source: io() }.into()),
                false => Ok(()),
            }
        })
    }
}

impl Schemas for Fake {
    fn read(&self) -> BoxFuture<'_, Result<Schema, String>> {
        let state = self.state.lock().unwrap();
        let why = state.no_schema;
        let grace = |name: &str| state.graces.get(name).copied().unwrap_or(864_000);
        let table = |name: &str| Table { id: name.into(), grace: grace(name) };
        let is_there = |name: &&&str| !state.dropped.contains(*name);
        let named = |name: &&str| ((*name).to_string(), table(name));
        let keyspace = |tables: &[&str]| Keyspace {
            replication: "{}".into(),
            tables: tables.iter().filter(is_there).map(named).collect(),
        };
        let shop = [&["items", "orders"], state.created.as_slice()].concat();
        let keyspaces = [
            ("shop".to_string(), keyspace(&shop)),
            ("system_auth".to_string(), keyspace(&["roles"])),
        ];
        let schema = Schema { keyspaces: keyspaces.into() };
        Box::pin(async move { why.map_or(Ok(schema), |why| Err(why.to_string())) })
    }
}

impl Jobs for Fake {
    fn tables(&self) -> Answer<'_, Tables> {
        let huge = self.state.lock().unwrap().huge;
        let size = |name: &str, bytes| if huge == Some(name) { 1 << 60 } else { bytes };
        let dropped = self.state.lock().unwrap().dropped.clone();
        let of = |tables: &[(&str, u64)]| {
            let there = tables.iter().filter(|(name, _)| !dropped.contains(name));
            there.map(|(name, bytes)| ((*name).to_string(), size(name, *bytes))).collect()
        };
        now(Tables::from([
            ("shop".into(), of(&[("items", 100), ("orders", 300)])),
            ("system_auth".into(), of(&[("roles", 10)])),
        ]))
    }

    fn compactions(&self) -> Answer<'_, Vec<Compaction>> {
        let mut state = self.state.lock().unwrap();
        if state.looks > 0 {
            state.looks -= 1;
            if state.looks == 0 {
                state.compactions.clear();
            }
        }
        now(state.compactions.clone())
    }

    fn owners(&self) -> Answer<'_, Owners> {
        now(Owners::default())
    }

    fn load<'a>(&'a self, folder: &'a std::path::Path) -> Answer<'a, ()> {
        drop(self.called(format!("load {}", folder.display())));
        now(())
    }

    fn take_new<'a>(&'a self, keyspace: &'a str, table: &'a str) -> Answer<'a, ()> {
        drop(self.called(format!("take {keyspace}.{table}")));
        now(())
    }

    fn recover<'a>(&'a self, segment: &'a std::path::Path) -> Answer<'a, ()> {
        drop(self.called(format!("recover {}", segment.display())));
        now(())
    }

    fn point_in_time(&self) -> Answer<'_, i64> {
        now(i64::MAX)
    }

    fn streamed(&self) -> Answer<'_, u64> {
        now(0)
    }

    fn stop_compaction<'a>(&'a self, id: &'a str) -> Answer<'a, ()> {
        self.called(format!("stop {id}")).stopped += 1;
        now(())
    }

    fn rewrite<'a>(
        &'a self,
        what: Rewrite<'a>,
        keyspace: &'a str,
        table: &'a str,
    ) -> Answer<'a, Rewritten> {
        Box::pin(async move {
            let goes = {
                let name = what.names()[0];
                let mut state = self.called(format!("{name} {keyspace}.{table}"));
                let entry = |id: &str, table: &str, name: &str| Compaction {
                    id: id.into(),
                    keyspace: keyspace.into(),
                    table: table.into(),
                    name: name.into(),
                    ..Default::default()
                };
                state.compactions = vec![
                    entry("ours", table, name),
                    entry("another-table", "other", name),
                    entry("another-kind", table, "Validation"),
                ];
                state.rewrites.pop_front().unwrap_or(Goes::Ends(Rewritten::Done))
            };
            match goes {
                Goes::Ends(how) => Ok(how),
                Goes::RunsUntilStopped(times) => loop {
                    if self.state.lock().unwrap().stopped >= times {
                        return Ok(Rewritten::Stopped);
                    }
                    tokio::time::sleep(Duration::from_millis(1)).await;
                },
                Goes::Waits => {
                    self.state.lock().unwrap().compactions.remove(0);
                    std::future::pending().await
                }
                Goes::Drops(dropped) => {
                    self.state.lock().unwrap().dropped.push(dropped);
                    let (operation, message) = (what.names()[0].into(), "Unknown table".into());
                    Err(Error::Failed { operation, message })
                }
                Goes::Breaks(looks) => {
                    self.state.lock().unwrap().looks = looks;
                    Err(broken().await)
                }
            }
        })
    }

    fn flush_tables<'a>(&'a self, keyspace: &'a str, tables: &'a [String]) -> Answer<'a, ()> {
        let refuses = self.called(format!("flush {keyspace} {tables:?}")).refuses;
        let failed = |message: &str| Error::Failed {
            operation: "forceKeyspaceFlush".into(),
            message: message.into(),
        };
        self.answer(Box::pin(async move { refuses.map_or(Ok(()), |m| Err(failed(m))) }))
    }

    fn take_snapshot<'a>(&'a self, what: &'a SnapshotTask, of: &'a [String]) -> Answer<'a, ()> {
        drop(self.called(format!("snapshot {} {of:?}", what.name)));
        self.answer(now(()))
    }

    fn clear_snapshot<'a>(&'a self, name: &'a str, keyspaces: &'a [String]) -> Answer<'a, ()> {
        drop(self.called(format!("clear {name} {keyspaces:?}")));
        self.answer(now(()))
    }

    fn repair_tables<'a>(
        &'a self,
        keyspace: &'a str,
        tables: &'a [String],
    ) -> Answer<'a, Option<RepairTicket>> {
        let mut state = self.called(format!("repair {keyspace} {tables:?}"));
        state.next_repair += 1;
        now(Some(RepairTicket { keyspace: keyspace.into(), number: state.next_repair }))
    }

    fn ranges<'a>(&'a self, keyspace: &'a str) -> Answer<'a, Vec<Holders>> {
        let mut more = self.state.lock().unwrap().more_copies.clone();
        let of_auth = self.state.lock().unwrap().copy_of_auth;
        more.extend(of_auth.filter(|_| keyspace == "system_auth"));
        let range = |start: &str, end: &str, members: &[&str]| Holders {
            start: start.into(),
            end: end.into(),
            members: members
                .iter()
                .chain(&more)
                .map(|name| StaticAddress::new(format!("10.0.0.{name}")))
                .collect(),
        };
        now(vec![
            range("0", "100", &["1", "2"]),
            range("100", "200", &["2", "1"]),
            range("200", "0", &["1", "2"]),
        ])
    }

    fn repair_segment<'a>(&'a self, what: &'a Segment) -> Answer<'a, Option<RepairTicket>> {
        let ranges: Vec<String> =
            what.ranges.iter().map(|r| format!("{}:{}", r.start, r.end)).collect();
        let (keyspace, tables) = (&what.keyspace, &what.tables);
        let mut state = self.called(format!("repair {keyspace} {tables:?} {}", ranges.join(",")));
        let open = self.volume.repairs().unwrap().open;
        assert_eq!(open.map(|open| open.segment).as_ref(), Some(what), "noted before it is called");
        if let Some(gone) = tables.iter().find(|name| state.dropped.contains(&name.as_str())) {
            let message = format!("Unknown keyspace/cf pair ({keyspace}.{gone})");
            let failed = Error::Failed { operation: "repairAsync".into(), message };
            return Box::pin(async move { Err(failed) });
        }
        if let Some(idle) = state.idle.checked_sub(1) {
            state.idle = idle;
            return now(None);
        }
        if state.slow.is_some_and(|slow| what.ranges.len() >= slow) {
            state.repairs = std::iter::repeat_n(RepairState::Running, 10_000).collect();
        }
        state.ends = 0;
        state.next_repair += 1;
        now(Some(RepairTicket { keyspace: keyspace.clone(), number: state.next_repair }))
    }

    fn end_repairs(&self) -> Answer<'_, ()> {
        let mut state = self.called("end repairs".into());
        state.ends += 1;
        if state.ends == 2 && !state.deaf {
            state.repairs = [RepairState::Failed("session ended".into())].into();
        }
        if state.silent {
            return Box::pin(std::future::pending());
        }
        now(())
    }
}
