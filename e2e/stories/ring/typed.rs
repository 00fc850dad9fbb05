//! What people type: the command line on a ring that is well.

use palladion_e2e::person::Person;
use palladion_e2e::{Ring, bed};

use super::NAMESPACE;

pub(super) fn status_members_and_contact(ring: &Ring<'_>) {
    ring.wait_settled().expect("settled");
    ring.wait_well().expect("well");
    let typed = |line: &str| bed().palladion(&format!("{line} -n {NAMESPACE}")).expect("typed");
    let status = typed("status ring");
    assert_eq!(status.code, 0, "{status:?}");
    assert!(status.out.contains("WELL") && status.out.contains("3/3 ready"), "{}", status.out);
    let members = typed("members ring -o json");
    for name in ring.member_names().expect("names") {
        assert!(members.out.contains(&name), "{name}: {}", members.out);
    }
    let views = typed("ring ring");
    assert_eq!(views.code, 0, "{views:?}");
    let contact = typed("contact ring");
    assert_eq!(contact.out.lines().count(), 3, "{}", contact.out);
    let address = contact.out.lines().next().unwrap_or_default();
    let (host, port) = address.split_once(':').expect("address and port");
    let question = "SELECT cluster_name FROM system.local";
    let said = ring.in_client(&["cqlsh", host, port, "-e", question]).expect("an answer by cqlsh");
    assert!(said.contains("(1 rows)"), "{said}");
    let missing = typed("status rnig");
    assert_eq!(missing.code, 3, "{missing:?}");
}

pub(super) fn plan_on_all_facts(ring: &Ring<'_>) {
    ring.wait_settled().expect("settled");
    let plan = bed().palladion(&format!("plan ring -n {NAMESPACE}")).expect("typed");
    assert_eq!(plan.code, 0, "{plan:?}");
    assert!(plan.out.contains("nothing to do: the ring matches its spec"), "{plan:?}");
    assert!(plan.said.is_empty(), "the settings are on record: {plan:?}");
}

/// By the roles of the chart: who may view the namespace sees the ring, and
/// only who may also read nodes and volumes plans.
pub(super) fn rights_that_are_missing(_ring: &Ring<'_>) {
    let nobody = Person::user("nobody", &["system:authenticated"]).expect("nobody");
    let refused = nobody.palladion(&format!("members ring -n {NAMESPACE}")).expect("typed");
    assert_eq!(refused.code, 4, "{refused:?}");
    let rule = "apiGroups: [\"palladion.dev\"]\n  resources: [cassandramembers]\n  verbs: [list]";
    assert!(refused.said.contains(rule), "{}", refused.said);

    let binding = "create rolebinding viewer --clusterrole=view --user=viewer";
    bed().kubectl(&format!("{binding} -n {NAMESPACE}")).expect("bound");
    let viewer = Person::user("viewer", &["system:authenticated"]).expect("viewer");
    let typed = |line: &str| viewer.palladion(&format!("{line} -n {NAMESPACE}")).expect("typed");
    assert_eq!(typed("status ring").code, 0);
    let blind = typed("plan ring");
    assert_eq!(blind.code, 4, "{blind:?}");
    assert!(blind.out.contains("FactUnknown"), "the operator's own words: {}", blind.out);
    assert!(blind.said.contains("resources: [nodes]"), "{}", blind.said);
    assert_eq!(typed("pause ring").code, 4);

    let binding = "create clusterrolebinding planner --clusterrole=palladion-plan-reader";
    bed().kubectl(&format!("{binding} --user=viewer")).expect("bound");
    let binding = "create rolebinding planner --clusterrole=palladion-plan-reader-namespace";
    bed().kubectl(&format!("{binding} --user=viewer -n {NAMESPACE}")).expect("bound");
    let plan = typed("plan ring");
    bed().kubectl(&format!("delete rolebinding planner -n {NAMESPACE}")).expect("no longer bound");
    bed().kubectl("delete clusterrolebinding planner").expect("no longer bound");
    bed().kubectl(&format!("delete rolebinding viewer -n {NAMESPACE}")).expect("no longer bound");
    assert_eq!(plan.code, 0, "{plan:?}");
}

pub(super) fn nothing_is_stored_that_is_only_tried(ring: &Ring<'_>) {
    let member = ring.member_names().expect("names").remove(0);
    let tried =
        bed().palladion(&format!("replace {member} --dry-run -n {NAMESPACE}")).expect("typed");
    assert_eq!(tried.code, 0, "{tried:?}");
    assert!(tried.out.contains("kind: CassandraTask"), "{}", tried.out);
    let unasked = bed().palladion(&format!("replace {member} -n {NAMESPACE}")).expect("typed");
    assert_eq!(unasked.code, 2, "nobody can be asked: {unasked:?}");
    assert!(bed().list(NAMESPACE, "cassandratasks").expect("tasks").is_empty());
}
