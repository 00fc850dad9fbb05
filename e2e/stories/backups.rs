//! Backups of a ring into a store that speaks S3: complete only when all is there, sent once,
//! given up without a trace; and brought back.

mod archived;
mod covered;
mod disturbed;
mod elsewhere;
mod every;
mod expired;
mod login;
mod mounted;
mod restored;
mod returned;
mod rewound;
mod taken;

use std::sync::OnceLock;
use std::time::Duration;

use palladion_e2e::bed::text;
use palladion_e2e::s3::{self, S3};
use palladion_e2e::story::Story;
use palladion_e2e::{WantedRing, a_ring, bed};
use serde_json::Value;

pub(crate) const NAMESPACE: &str = "backups";
/// The snapshots of so few rows are sent in seconds; a busy machine takes longer.
const SOON: Duration = Duration::from_secs(240);

/// The store of the story, for as long as its process runs.
fn store() -> &'static S3 {
    static STORE: OnceLock<S3> = OnceLock::new();
    STORE.get_or_init(|| S3::on(&bed().cluster).expect("a store"))
}

/// Where a ring keeps its backups there.
fn place(ring: &str) -> String {
    format!(
        "{{s3: {{bucket: {}, prefix: rings/{ring}, endpoint: \"{}\", addressing: Path, transport: Plain}}}}",
        s3::BUCKET,
        store().endpoint()
    )
}

/// A ring of its own place, with what else `backup` has, and the credentials for it: for the place
/// of another ring, too.
fn with_place(ring: &str, source: &str, more: &str) -> String {
    at_its_place(of_three(), ring, source, more)
}

/// The same of this ring.
fn at_its_place(wanted: WantedRing, ring: &str, source: &str, more: &str) -> String {
    let (id, secret) = (s3::ID, s3::SECRET);
    let backup = format!("backup: {{store: {}, {more}}}", place(ring));
    let cluster = wanted.line(Box::leak(backup.into_boxed_str())).manifest(ring);
    let source = format!("s3://{}/rings/{source} {}", s3::BUCKET, store().endpoint());
    format!(
        "{cluster}
---
apiVersion: v1
kind: Secret
metadata: {{name: {ring}-backup}}
stringData: {{accessKeyId: {id}, secretAccessKey: {secret}, source.accessKeyId: {id}, source.secretAccessKey: {secret}, source.store: \"{source}\"}}
"
    )
}

/// Three members with rows, whose backups go there.
fn wanted() -> WantedRing {
    static LINE: OnceLock<String> = OnceLock::new();
    let line = LINE.get_or_init(|| format!("backup: {{store: {}}}", place("demo")));
    wanted_at(line)
}

/// The same, with this line of its own.
fn wanted_at(line: &'static str) -> WantedRing {
    of_three().line(line)
}

fn of_three() -> WantedRing {
    a_ring().racks(&[("a", 2), ("b", 1)]).rows(2)
}

/// The restore `back`, by which this ring begins with a backup from the place of another, with
/// more of its spec.
fn whole_ring(cluster: &str, source: &str, backup: &Value, more: &str) -> String {
    let status = |name: &str| text(backup, &format!("/status/{name}")).to_string();
    format!(
        "apiVersion: palladion.dev/v1alpha1
kind: CassandraRestore
metadata: {{name: back}}
spec:
  cluster: {cluster}
  mode: WholeRing
{more}  source:
    store: {}
    repositoryID: {}
    backupID: {}
    manifestHash: {}
",
        place(source),
        status("repositoryID"),
        status("id"),
        status("manifestHash"),
    )
}

pub fn story() -> Story {
    Story::named(NAMESPACE)
        .step("a ring is backed up", taken::as_a_whole)
        .step("its rows come back", restored::rows)
        .step("all that a schema can have comes back under another name", restored::every_word)
        .in_soak()
        .step("rows that are there go on a yes alone", restored::on_a_yes)
        .step("a whole ring comes back beside it", returned::beside_itself)
        .step("a second backup sends only what is new", taken::only_what_is_new)
        .step("a schedule takes the next one and keeps no more objects", taken::by_a_schedule)
        .step(
            "what expires is condemned, and a day later gone",
            expired::condemned_and_a_day_later_gone,
        )
        .step("a ring comes back as it was at a moment", rewound::to_a_moment)
        .in_soak()
        .step("a backup that is given up leaves nothing behind", taken::and_given_up)
        .in_soak()
        .step("the commit logs are archived all the time", archived::all_the_time)
        .in_soak()
        .step(
            "tables come into another ring with passwords and TLS",
            elsewhere::with_passwords_and_tls,
        )
        .in_soak()
        .step(
            "a ring with passwords comes back with its roles, from a backup without a member that is down",
            covered::comes_back_with_its_roles,
        )
        .in_soak()
        .step("backups go to a volume, and a volume that is away is reported", mounted::go_to_a_volume)
        .in_soak()
        .step(
            "a backup and a restore are complete whoever ends in each phase",
            disturbed::whoever_ends,
        )
        .in_soak()
        .into()
}
