//! kubectl's flags for where to look, and what is read there.

use crate::clean::quoted;
use crate::exit::Trouble;
use crate::read::member::HAS_LEFT;
use crate::read::ring::Ring;
use crate::read::text;
use crate::read::{member::Member, repair::Repair, schedule::Schedule, task::Task};
use crate::session::Session;
use crate::words::trouble::Hint;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter};
use palladion_api::labels;
use palladion_cassandra::resources::{CLUSTER, MEMBER, SCHEDULE, TASK};
use palladion_engine::door::read::selection;
use palladion_engine::door::rights::Refusal;
use palladion_engine::door::{Door, Way};
use palladion_engine::request::Selection;
use palladion_plan::ObjectKey;
use serde_json::Value;
use std::path::PathBuf;

/// Where to look.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Where")]
pub struct Where {
    /// Namespace. Default: that of the context
    #[arg(short, long, value_name = "NAMESPACE", add = ArgValueCandidates::new(crate::candidates::namespaces), value_parser = NonEmptyStringValueParser::new())]
    pub namespace: Option<String>,
    /// Context of the kubeconfig. Default: the current one
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub context: Option<String>,
    /// Path of the kubeconfig. Default: $KUBECONFIG, then ~/.kube/config, then the pod's account
    #[arg(long, value_name = "PATH", add = ArgValueCompleter::new(clap_complete::engine::PathCompleter::file()))]
    pub kubeconfig: Option<PathBuf>,
}

/// The flags of a place as they were typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct At {
    namespace: String,
    server: String,
}

impl At {
    fn of(at: &Where) -> Self {
        let flag = |name: &str, value: Option<String>| {
            value.map(|v| format!(" {name} {}", quoted(&v))).unwrap_or_default()
        };
        let kubeconfig = at.kubeconfig.as_ref().map(|path| path.display().to_string());
        Self {
            namespace: flag("-n", at.namespace.clone()),
            server: flag("--context", at.context.clone()) + &flag("--kubeconfig", kubeconfig),
        }
    }

    /// The flags by which kubectl finds the same API server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// A hint; a command looks at the same place as the one that suggests it.
    pub fn command(&self, hint: &Hint) -> String {
        let Self { namespace, server } = self;
        match hint {
            Hint::AllReasons
            | Hint::Explain { .. }
            | Hint::Install
            | Hint::Kubeconfig
            | Hint::Yes => hint.to_string(),
            Hint::CanI { .. } | Hint::AllRings | Hint::Connection => format!("{hint}{server}"),
            Hint::StatusOf { .. }
            | Hint::WatchTask { .. }
            | Hint::TasksOf { .. }
            | Hint::MembersOf { .. } => format!("{hint}{namespace}{server}"),
        }
    }
}

/// The same for verbs that can look everywhere.
#[derive(Clone, Debug, Default, Args)]
pub struct Anywhere {
    #[command(flatten)]
    at: Where,
    /// All namespaces
    #[arg(short = 'A', long, conflicts_with = "namespace", help_heading = "Where")]
    pub all_namespaces: bool,
}

/// A connection and a namespace.
#[derive(Clone)]
pub struct Place {
    /// The connection.
    pub door: Door,
    /// The namespace; `None` for all.
    pub namespace: Option<String>,
}

impl Where {
    /// How the API server is found.
    pub fn way(&self) -> Way {
        Way { kubeconfig: self.kubeconfig.clone(), context: self.context.clone() }
    }

    /// The place.
    ///
    /// # Errors
    /// There is no way to the API server.
    pub async fn open(&self, session: &mut Session<'_>) -> Result<Place, Trouble> {
        session.at = At::of(self);
        let door = session.door(&self.way()).await?;
        let namespace = self.namespace.clone().unwrap_or_else(|| door.namespace().to_string());
        Ok(Place { door, namespace: Some(namespace) })
    }
}

impl Anywhere {
    /// The place.
    ///
    /// # Errors
    /// There is no way to the API server.
    pub async fn open(&self, session: &mut Session<'_>) -> Result<Place, Trouble> {
        let place = self.at.open(session).await?;
        let namespace = if self.all_namespaces { None } else { place.namespace };
        Ok(Place { namespace, ..place })
    }
}

/// For messages.
impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "namespace {namespace}"),
            None => f.write_str("any namespace"),
        }
    }
}

impl Place {
    /// The namespace of the one object that a verb names.
    pub fn namespace(&self) -> &str {
        self.namespace.as_deref().unwrap_or_default()
    }

    /// What the rings here are selected by.
    pub fn rings_selection(&self) -> Selection {
        selection(CLUSTER, self.namespace.as_deref(), "")
    }

    /// What the members here are selected by: all, or those of one ring.
    pub fn members_selection(&self, ring: Option<&str>) -> Selection {
        let labels = ring.map(|ring| format!("{}={ring}", labels::CLUSTER)).unwrap_or_default();
        selection(MEMBER, self.namespace.as_deref(), &labels)
    }

    /// What the tasks here are selected by.
    pub fn tasks_selection(&self) -> Selection {
        selection(TASK, self.namespace.as_deref(), "")
    }

    /// What the schedules here are selected by.
    pub fn schedules_selection(&self) -> Selection {
        selection(SCHEDULE, self.namespace.as_deref(), "")
    }

    /// The rings, by namespace and name.
    ///
    /// # Errors
    /// The server's refusal.
    pub async fn rings(&self) -> Result<Vec<Ring>, Refusal> {
        let all = self.door.list(&self.rings_selection()).await?;
        let mut rings: Vec<Ring> = all.iter().map(Ring::read).collect();
        rings.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
        Ok(rings)
    }

    /// One ring.
    ///
    /// # Errors
    /// The server's refusal.
    pub async fn ring(&self, name: &str) -> Result<Ring, Refusal> {
        Ok(Ring::read(&self.ring_object(name).await?))
    }

    /// One ring as it is stored.
    ///
    /// # Errors
    /// The server's refusal.
    pub async fn ring_object(&self, name: &str) -> Result<Value, Refusal> {
        self.door.get(&self.key_of_ring(name)).await
    }

    /// The key of a ring.
    pub fn key_of_ring(&self, name: &str) -> ObjectKey {
        ObjectKey::new(CLUSTER, self.namespace(), name)
    }

    /// The members, of one ring or of all, by rack and number.
    ///
    /// # Errors
    /// The server's refusal.
    pub async fn members(&self, ring: Option<&str>) -> Result<Vec<Member>, Refusal> {
        let all = self.door.list(&self.members_selection(ring)).await?;
        let mut members: Vec<Member> = all.iter().map(Member::read).collect();
        members.sort_by_key(Member::order);
        Ok(members)
    }

    /// How far the repair of the members of a ring is.
    ///
    /// # Errors
    /// The server's refusal.
    pub async fn repairs(&self, ring: &str) -> Result<Vec<Repair>, Refusal> {
        let mut all = self.door.list(&self.members_selection(Some(ring))).await?;
        // Whoever has left has no ranges; its object stays for as long as its address is kept.
        all.retain(|member| text(member, "/spec/run") != HAS_LEFT);
        all.sort_by_key(Repair::order);
        Ok(all.iter().map(Repair::read).collect())
    }

    /// One member.
    ///
    /// # Errors
    /// The server's refusal.
    pub async fn member(&self, name: &str) -> Result<Member, Refusal> {
        let key = ObjectKey::new(MEMBER, self.namespace(), name);
        Ok(Member::read(&self.door.get(&key).await?))
    }

    /// The tasks, of one ring or of all, the oldest first.
    ///
    /// # Errors
    /// The server's refusal.
    pub async fn tasks(&self, ring: Option<&str>) -> Result<Vec<Task>, Refusal> {
        let all = self.door.list(&self.tasks_selection()).await?;
        let mut tasks: Vec<Task> = all.iter().map(Task::read).collect();
        tasks.retain(|task| ring.is_none_or(|ring| task.ring == ring));
        tasks.sort_by_key(Task::order);
        Ok(tasks)
    }

    /// The schedules, of one ring or of all, by namespace and name.
    ///
    /// # Errors
    /// The server's refusal.
    pub async fn schedules(&self, ring: Option<&str>) -> Result<Vec<Schedule>, Refusal> {
        let all = self.door.list(&self.schedules_selection()).await?;
        let mut schedules: Vec<Schedule> = all.iter().map(Schedule::read).collect();
        schedules.retain(|schedule| ring.is_none_or(|ring| schedule.ring == ring));
        schedules.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
        Ok(schedules)
    }

    /// One schedule.
    ///
    /// # Errors
    /// The server's refusal.
    pub async fn schedule(&self, name: &str) -> Result<Schedule, Refusal> {
        Ok(Schedule::read(&self.schedule_object(name).await?))
    }

    /// One schedule as it is stored.
    ///
    /// # Errors
    /// The server's refusal.
    pub async fn schedule_object(&self, name: &str) -> Result<Value, Refusal> {
        self.door.get(&ObjectKey::new(SCHEDULE, self.namespace(), name)).await
    }

    /// One task.
    ///
    /// # Errors
    /// The server's refusal.
    pub async fn task(&self, name: &str) -> Result<Task, Refusal> {
        let key = ObjectKey::new(TASK, self.namespace(), name);
        Ok(Task::read(&self.door.get(&key).await?))
    }
}
