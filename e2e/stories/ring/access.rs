//! What a member may do, and who can reach its server.

use palladion_e2e::bed::text;
use palladion_e2e::{Ring, bed};

use super::NAMESPACE;

pub(super) fn own_status_alone(ring: &Ring<'_>) {
    let names = ring.member_names().expect("names");
    let (own, other) = (&names[0], &names[1]);
    let token = bed()
        .exec(NAMESPACE, own, &["cat", "/var/run/secrets/kubernetes.io/serviceaccount/token"])
        .expect("the token");
    let ask = |verb: &str, path: &str, body: &str| -> String {
        let program = "import sys,ssl,urllib.request as u\nr=u.Request('https://kubernetes.default.svc'+sys.argv[2],method=sys.argv[1],data=sys.argv[3].encode() or None,headers={'Authorization':'Bearer '+sys.argv[4],'Content-Type':'application/merge-patch+json'})\ntry:\n print(u.urlopen(r,context=ssl._create_unverified_context()).status)\nexcept u.HTTPError as e:\n print(e.code)\n";
        bed()
            .exec(NAMESPACE, "client", &["python3", "-c", program, verb, path, body, token.trim()])
            .expect("an answer")
            .trim()
            .to_string()
    };
    let member = |name: &str| {
        format!("/apis/palladion.dev/v1alpha1/namespaces/{NAMESPACE}/cassandramembers/{name}")
    };
    let patch = r#"{"status":{"address":"203.0.113.1"}}"#;
    let members = format!("/apis/palladion.dev/v1alpha1/namespaces/{NAMESPACE}/cassandramembers");
    assert_eq!(ask("GET", &format!("{members}?fieldSelector=metadata.name={own}"), ""), "200");
    assert_eq!(
        ask("PATCH", &format!("{}/status", member(other)), patch),
        "403",
        "another member's status"
    );
    assert_eq!(ask("PATCH", &member(own), r#"{"spec":{"run":"Stopped"}}"#), "403", "its own spec");
    assert_eq!(
        ask("GET", &format!("/api/v1/namespaces/{NAMESPACE}/secrets"), ""),
        "403",
        "secrets"
    );
    assert_eq!(ask("GET", &format!("/api/v1/namespaces/{NAMESPACE}/pods"), ""), "403", "pods");
    assert_eq!(
        ask("GET", "/apis/palladion.dev/v1alpha1/cassandramembers", ""),
        "403",
        "members elsewhere"
    );
    // Its own status it may write, and its agent puts the truth back.
    assert_eq!(
        ask("PATCH", &format!("{}/status", member(own)), r#"{"status":{"startHistory":null}}"#),
        "200"
    );
}

pub(super) fn management_port(ring: &Ring<'_>) {
    let name = &ring.member_names().expect("names")[0];
    let pod = bed().get(NAMESPACE, "pod", name).expect("get").expect("the pod");
    let ip = text(&pod, "/status/podIP");
    let program = "import socket,sys\ns=socket.socket();s.settimeout(3)\nprint(s.connect_ex((sys.argv[1],8778)))";
    let code = bed().exec(NAMESPACE, "client", &["python3", "-c", program, ip]).expect("an answer");
    assert_ne!(code.trim(), "0", "Jolokia must listen on loopback only");
    let shell = "exec 3<>/dev/tcp/127.0.0.1/8778; printf 'POST /jolokia/ HTTP/1.0\\r\\nContent-Length: 0\\r\\nAuthorization: Basic d3Jvbmc6d3Jvbmc=\\r\\n\\r\\n' >&3; head -1 <&3";
    let answer = bed().exec(NAMESPACE, name, &["bash", "-c", shell]).expect("an answer");
    assert!(answer.contains("401"), "wrong credentials were answered with {answer}");
    let visible =
        bed().exec(NAMESPACE, name, &["bash", "-c", IS_PASSWORD_VISIBLE]).expect("an answer");
    assert_eq!(visible.trim(), "hidden", "the password in arguments or environment");
}

/// Looks for the very password, which only its file has, in the arguments and the
/// environment of all processes. That the server's arguments name that file shows
/// that they can be read; no program gets the password to look for it.
const IS_PASSWORD_VISIBLE: &str = r#"
file=/run/palladion/jolokia.properties
password=$(sed -n 's/^password=//p' $file)
all=$(cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n')
if [ ${#password} -lt 8 ]; then echo "no password in $file"
elif [[ $all != *"$file"* ]]; then echo "no arguments to be read"
elif [[ $all == *"$password"* ]]; then echo visible
else echo hidden; fi
"#;
