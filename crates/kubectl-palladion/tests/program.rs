//! The program itself: its names, its start, and what it needs no connection for.

use std::os::unix::process::CommandExt;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// A start is felt in completion, where it is paid for every key.
const START: Duration = Duration::from_millis(30);

/// Run it under one of its names, where no Kubernetes cluster is to be found.
fn run(name: &str, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kubectl-palladion"))
        .arg0(name)
        .args(words)
        .env("KUBECONFIG", "/nonexistent")
        .env("HOME", "/nonexistent")
        .env_remove("KUBERNETES_SERVICE_HOST")
        .output()
        .expect("it should run")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn it_starts_at_once_where_no_connection_is_needed() {
    let words: [&[&str]; 4] = [
        &["version", "--client"],
        &["explain", "DataTooOld"],
        &["completion", "bash"],
        &["--help"],
    ];
    for words in words {
        let one = || {
            let began = Instant::now();
            let output = run("kubectl-palladion", words);
            assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
            began.elapsed()
        };
        // The best of many: others work on the machine too.
        let best = (0..30).map(|_| one()).min().unwrap_or_default();
        assert!(best < START, "{words:?} took {best:?}");
    }
}

#[test]
fn help_names_the_program_as_it_was_called() {
    let help = |name| text(&run(name, &["status", "--help"]).stdout);
    assert!(help("kubectl-palladion").contains("Usage: kubectl palladion status"));
    assert!(help("palladion").contains("Usage: palladion status"));
}

#[test]
fn kubectl_is_told_how_a_line_may_go_on() {
    let output = run("kubectl_complete-palladion", &["task", "ab"]);
    let (out, last) = (text(&output.stdout), ":4\n");
    assert!(out.starts_with("abort\t") && out.ends_with(last), "{out}");
    // Without a connection there are no names, and no error either.
    let names = run("kubectl_complete-palladion", &["status", ""]);
    assert!(text(&names.stdout).ends_with(last) && names.stderr.is_empty(), "{names:?}");
}

#[test]
fn no_way_to_a_kubernetes_cluster_is_exit_code_7_and_a_wrong_line_2() {
    let lost = run("palladion", &["status"]);
    assert_eq!(lost.status.code(), Some(7), "{}", text(&lost.stderr));
    assert!(text(&lost.stderr).contains("hint: kubectl config get-contexts"));
    assert_eq!(run("palladion", &["statsu"]).status.code(), Some(2));
    assert_eq!(run("palladion", &["decommission", "a"]).status.code(), Some(2), "no verb");
}

#[test]
fn an_answer_that_nobody_reads_is_no_panic() {
    for (name, words) in [
        ("kubectl_complete-palladion", ["task", "ab"]),
        ("kubectl-palladion", ["explain", "DataTooOld"]),
        ("kubectl-palladion", ["completion", "bash"]),
    ] {
        let (reader, writer) = std::io::pipe().expect("there should be a pipe");
        drop(reader);
        let ended = Command::new(env!("CARGO_BIN_EXE_kubectl-palladion"))
            .arg0(name)
            .args(words)
            .env("KUBECONFIG", "/nonexistent")
            .stdout(writer)
            .output()
            .expect("it should run");
        assert_eq!(text(&ended.stderr), "", "{words:?}");
        assert_eq!(ended.status.code(), Some(0), "{words:?}");
    }
}

#[test]
fn completion_does_not_wait_for_a_plugin_that_hangs() {
    let kubeconfig = std::env::temp_dir().join(format!("palladion-{}", std::process::id()));
    let plugin = "
apiVersion: v1
kind: Config
current-context: here
contexts: [{ name: here, context: { cluster: here, user: me } }]
clusters: [{ name: here, cluster: { server: 'https://127.0.0.1:1' } }]
users:
- name: me
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: sleep
      args: ['20']
      interactiveMode: Never
";
    std::fs::write(&kubeconfig, plugin).expect("it should be written");
    let began = Instant::now();
    let ended = Command::new(env!("CARGO_BIN_EXE_kubectl-palladion"))
        .arg0("kubectl_complete-palladion")
        .args(["status", ""])
        .env("KUBECONFIG", &kubeconfig)
        .stderr(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .status()
        .expect("it should run");
    // It is in a folder that is not kept.
    let _ = std::fs::remove_file(&kubeconfig);
    assert!(ended.success());
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}
