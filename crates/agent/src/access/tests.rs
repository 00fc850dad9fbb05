//! What is reported of tries to log in, and when.

use super::*;

fn subject(password: &str) -> Subject {
    let credentials = Credentials { username: "palladion".into(), password: password.into() };
    Subject { tag: "start-1".into(), credentials: Some(credentials) }
}

fn kind(access: &Access) -> Option<AccessProblemKind> {
    access.problem().map(|p| p.kind)
}

#[test]
fn a_secret_that_changes_is_tried_at_once() {
    let (mut access, now) = (Access::default(), Instant::now());
    let old = access.begin(&subject("old"), now).unwrap();
    assert!(access.begin(&subject("new"), now).is_none(), "one try at a time");
    access.note(old, Answer::In, now);
    assert!(access.begin(&subject("old"), now + REST / 2).is_none());
    assert!(access.begin(&subject("new"), now).is_some());
}

#[test]
fn a_rejected_password_is_a_problem_once_it_lasts() {
    let (mut access, now) = (Access::default(), Instant::now());
    let refused =
        || Answer::Refused("Provided username palladion and/or password are incorrect".into());
    access.note(subject("p"), refused(), now);
    assert_eq!(kind(&access), None);
    access.note(subject("p"), refused(), now + PATIENCE);
    assert_eq!(kind(&access), Some(AccessProblemKind::CredentialsRefused));
    access.note(subject("p"), Answer::Unanswered("reset".into()), now + PATIENCE);
    assert_eq!(kind(&access), Some(AccessProblemKind::CredentialsRefused), "not known otherwise");
    access.note(subject("q"), Answer::In, now + PATIENCE);
    assert_eq!(kind(&access), None);
}

#[test]
fn a_server_that_does_not_answer_is_a_problem_once_it_lasts() {
    let (mut access, now) = (Access::default(), Instant::now());
    let unanswered = || Answer::Unanswered("connection refused".into());
    access.note(subject("p"), unanswered(), now);
    assert_eq!(kind(&access), None);
    access.note(subject("p"), unanswered(), now + PATIENCE);
    assert_eq!(kind(&access), Some(AccessProblemKind::Unanswered));
    access.note(subject("p"), Answer::In, now + PATIENCE);
    assert_eq!(kind(&access), None);
    let again = Subject { tag: "start-2".into(), ..subject("p") };
    access.note(again, unanswered(), now + 2 * PATIENCE);
    assert_eq!(kind(&access), None, "a server that was restarted has its time again");
}

#[test]
fn each_start_of_a_server_is_proven_by_a_log_in() {
    let (mut access, now) = (Access::default(), Instant::now());
    let of = |access: &Access, tag| access.of_launch(tag).map(|p| p.kind);
    assert_eq!(of(&access, "start-1"), Some(AccessProblemKind::Pending));
    access.note(subject("p"), Answer::In, now);
    assert_eq!(of(&access, "start-1"), None);
    assert_eq!(of(&access, "start-2"), Some(AccessProblemKind::Pending));
}

#[test]
fn only_a_wrong_password_is_called_wrong() {
    let of =
        |code, message: &str| Answer::of(Err(Error::Refused { code, message: message.into() }));
    let wrong = "Provided username palladion and/or password are incorrect";
    assert_eq!(of(0x0100, wrong), Answer::Refused(wrong.into()));
    let unable = "Cannot achieve consistency level LOCAL_QUORUM";
    assert!(matches!(of(0x0100, unable), Answer::Unanswered(_)));
    assert!(matches!(of(0x1001, "the server is overloaded"), Answer::Unanswered(_)));
}

#[test]
fn a_default_role_that_is_left_open_is_a_problem_at_once_and_keeps_nobody_out() {
    use roles::DefaultRole::{LeftOpen, WasClosed};
    let (mut access, now) = (Access::default(), Instant::now());
    access.note(subject("p"), Answer::In.beside(LeftOpen, true), now);
    assert_eq!(kind(&access), Some(AccessProblemKind::DefaultUserOpen));
    assert!(access.begin(&subject("p"), now + REPORTED).is_some(), "it is looked at soon again");
    access.note(subject("p"), Answer::In.beside(WasClosed, true), now + REPORTED);
    assert_eq!((kind(&access), access.of_launch("start-1")), (None, None));
    let refused = |left, is_named| match Answer::Refused("no".into()).beside(left, is_named) {
        Answer::Refused(why) => why,
        other => panic!("{other:?}"),
    };
    assert!(refused(LeftOpen, true).contains("anybody can log in"));
    assert!(refused(WasClosed, true).contains("name another user"));
    assert_eq!(refused(WasClosed, false), "no");
}

#[test]
fn a_missing_secret_is_a_problem_at_once() {
    let mut access = Access::default();
    let of = Subject { tag: "start-1".into(), credentials: None };
    access.note(of, Answer::Missing, Instant::now());
    assert_eq!(kind(&access), Some(AccessProblemKind::CredentialsMissing));
}

#[test]
fn a_secret_is_read_as_it_is_mounted_now() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join(AGENTS_FOLDER);
    assert!(Credentials::mounted(directory.path(), AGENTS_FOLDER).is_none());
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("username"), "palladion\n").unwrap();
    assert!(
        Credentials::mounted(directory.path(), AGENTS_FOLDER).is_none(),
        "half a Secret is none"
    );
    for password in ["one", "an other "] {
        std::fs::write(folder.join("password"), password).unwrap();
        assert_eq!(
            Credentials::mounted(directory.path(), AGENTS_FOLDER).unwrap().password,
            password
        );
    }
}

#[test]
fn a_closed_server_is_reached_inside_its_pod() {
    let pod_ip: IpAddr = "10.1.0.5".parse().unwrap();
    assert_eq!(listens_on(pod_ip, true).to_string(), "127.0.0.1");
    assert_eq!(listens_on(pod_ip, false), pod_ip);
}
