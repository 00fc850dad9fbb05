//! Stands for the programs of the command line: takes the verbs that the agent uses, in the
//! words of 3.10, and answers as they do.

use super::fake_node::{TABLES_OF_OTHERS, start_app, take_in};
use super::fake_state::{State, names};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use palladion_agent_rabbitmq::read::terms;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What RabbitMQ's programs end with when the node says no (`EX_UNAVAILABLE`).
const NO: u8 = 69;

/// Beside the state: every call, without what came by the input.
pub const CALLS: &str = "calls";

pub fn run(program: &str, arguments: &[String]) -> ExitCode {
    let own = std::env::var("RABBITMQ_NODENAME").unwrap();
    let expected = ["--quiet", "--longnames", "--node", own.as_str()];
    assert_eq!(arguments[..4], expected, "{arguments:?}");
    let words: Vec<&str> = arguments[4..].iter().map(String::as_str).collect();
    let mut calls = File::options().create(true).append(true).open(CALLS).unwrap();
    writeln!(calls, "{program} {}", words.join(" ")).unwrap();
    let state = State::here();
    if state.read()["members"].is_null() {
        return no("Error: unable to perform an operation on node. Please see diagnostics");
    }
    match program {
        "rabbitmqctl" => ctl(&state, &own, &words),
        "rabbitmq-upgrade" => match words[0] {
            "drain" | "revive" => {
                state.change(|state| state["drained"] = (words[0] == "drain").into());
                ExitCode::SUCCESS
            }
            "await_online_quorum_plus_one" | "await_online_synchronized_mirror" => {
                ExitCode::SUCCESS
            }
            other => panic!("{other}"),
        },
        "rabbitmq-plugins" => {
            assert_eq!(words[..2], ["set", "rabbitmq_management"]);
            ExitCode::SUCCESS
        }
        "rabbitmq-queues" => queues(&state, &words),
        other => panic!("{other} {words:?}"),
    }
}

fn no(words: &str) -> ExitCode {
    eprintln!("{words}");
    ExitCode::from(NO)
}

/// A line of the input, as for a password.
fn line() -> String {
    let mut text = String::new();
    std::io::stdin().read_line(&mut text).unwrap();
    let text = text.trim_end().to_string();
    assert!(!text.is_empty(), "a password comes by the input");
    text
}

fn ctl(state: &State, own: &str, words: &[&str]) -> ExitCode {
    match words {
        ["eval", "--formatter=string", expression] | ["eval", expression] => {
            println!("{}", eval(state, own, expression))
        }
        ["stop_app"] => state.change(|state| state["app"] = false.into()),
        ["start_app"] if state.hangs() => {
            state.wait_while_it_hangs();
            return no("Error: the node is gone");
        }
        ["start_app"] => {
            start_app(&data(own), own);
            state.change(|state| state["app"] = true.into());
        }
        ["join_cluster", node] => return join(state, own, node),
        ["list_users", "--formatter", "json"] => {
            let users = state.read()["users"].as_object().cloned().unwrap();
            println!(
                "{}",
                users.keys().map(|user| json!({ "user": user, "tags": [] })).collect::<Value>()
            );
        }
        ["list_vhosts", "name", "--formatter", "json"] => {
            let vhosts = names(&state.read()["vhosts"]);
            println!("{}", vhosts.iter().map(|name| json!({ "name": name })).collect::<Value>());
        }
        ["add_user", name] => {
            assert!(state.read()["users"][*name].is_null(), "it exists already");
            state.change(|state| state["users"][*name] = line().into());
        }
        ["change_password", name] => state.change(|state| state["users"][*name] = line().into()),
        ["set_user_tags", name, tag] => state.change(|state| state["tags"][*name] = (*tag).into()),
        ["set_permissions", "-p", vhost, name, ".*", ".*", ".*"] => {
            assert!(names(&state.read()["vhosts"]).iter().any(|name| name == vhost));
            state.change(|state| state["permissions"][*vhost] = json!([name]));
        }
        ["list_permissions", "-p", vhost, "--formatter", "json"] => {
            let users = names(&state.read()["permissions"][*vhost]);
            println!("{}", users.iter().map(|user| json!({ "user": user })).collect::<Value>());
        }
        ["delete_user", name] => {
            state.change(|state| state["users"].as_object_mut().unwrap().remove(*name));
        }
        ["add_vhost", name] => state.change(|state| {
            state["vhosts"].as_array_mut().unwrap().push((*name).into());
        }),
        [
            "list_feature_flags",
            "name",
            "state",
            "stability",
            "provided_by",
            "--formatter",
            "json",
        ] => {
            println!("{}", state.read()["flags"]);
        }
        ["enable_feature_flag", name] => state.change(|state| {
            let flags = state["flags"].as_array_mut().unwrap();
            let flag = flags.iter_mut().find(|flag| flag["name"] == *name).unwrap();
            flag["state"] = "enabled".into();
        }),
        ["import_definitions", path, "--format", "json"] => return import(state, own, path),
        ["forget_cluster_node", node] => state.change(|state| {
            state["members"].as_array_mut().unwrap().retain(|member| member != *node);
        }),
        other => panic!("{other:?}"),
    }
    ExitCode::SUCCESS
}

/// What it does not take it prints, as RabbitMQ does with a parameter of a wrong type.
fn import(state: &State, own: &str, path: &str) -> ExitCode {
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    if file["users"].is_object() {
        return no(&format!("Error:\n{{:badmatch, {}}}", file["users"]));
    }
    state.change(|state| {
        for queue in file["queues"].as_array().into_iter().flatten() {
            let mut queue = queue.clone();
            (queue["type"], queue["node"]) = ("classic".into(), own.into());
            state["queues"].as_array_mut().unwrap().push(queue);
        }
    });
    ExitCode::SUCCESS
}

/// As the node prints what an expression gives.
fn eval(state: &State, own: &str, expression: &str) -> String {
    let now = state.read();
    if expression.contains("rabbit:is_running()") {
        let members: Vec<String> =
            names(&now["members"]).iter().map(|name| format!("'{name}'")).collect();
        return format!("{{{},false,\n [{}]}}", now["app"], members.join(","));
    }
    if expression.contains("net_adm:ping") {
        let away = names(&now["away"]);
        let reached = names(&now["joins"]).iter().any(|node| is_asked(expression, node, &away));
        return reached.to_string();
    }
    if expression.contains("rpc:call(N, rabbit_mnesia, cluster_nodes") {
        let by: Vec<String> = names(&now["refuse"]).iter().map(|n| format!("'{n}'")).collect();
        return format!("[{}]", by.join(","));
    }
    if expression.contains("start_tcp_listener") {
        state.change(|state| state["open"] = true.into());
        return "ok".into();
    }
    if expression.contains("whereis(rabbit_stream_coordinator)") {
        return "here".into();
    }
    if expression.contains("rabbit_stream_coordinator:delete_replica") {
        state.change(|state| {
            let queues = state["queues"].as_array_mut().unwrap().iter_mut();
            let queue = queues.into_iter().find(|queue| is_named(queue, expression)).unwrap();
            for list in ["members", "online"] {
                let gone = |node: &Value| expression.contains(&terms::atom(node.as_str().unwrap()));
                queue[list].as_array_mut().unwrap().retain(|node| !gone(node));
            }
        });
        return "ok".into();
    }
    if expression.contains("C = rabbit_stream_coordinator") {
        // It is led elsewhere, and has no member on a node that is gone.
        return if expression.contains("transfer_leadership") { "elsewhere" } else { "absent" }
            .into();
    }
    let queues = now["queues"].as_array().cloned().unwrap_or_default();
    let is_of_one = expression.contains("rabbit_amqqueue:lookup");
    if expression.contains("amqqueue:is_durable") {
        state.takes_its_time();
        let wanted = |queue: &&Value| !is_of_one || is_named(queue, expression);
        return listed(queues.iter().filter(wanted));
    }
    assert!(expression.contains("Raft State"), "{expression}");
    let is_here = |queue: &&Value| match is_of_one {
        true => is_named(queue, expression),
        false => names(&queue["members"]).iter().any(|node| node == own),
    };
    replicas(queues.iter().filter(is_here))
}

/// Words, each once, and rows that have their places.
#[derive(Default)]
struct Words(Vec<Value>);

impl Words {
    fn place(&mut self, word: &Value) -> usize {
        let known = self.0.iter().position(|known| known == word);
        known.unwrap_or_else(|| {
            self.0.push(word.clone());
            self.0.len() - 1
        })
    }

    fn places(&mut self, list: &Value) -> Vec<usize> {
        list.as_array().into_iter().flatten().map(|word| self.place(word)).collect()
    }

    fn printed(self, rows: Vec<Value>) -> String {
        printed(&json!({ "words": self.0, "rows": rows }))
    }
}

/// Queues as the agent asks for them.
fn listed<'a>(queues: impl Iterator<Item = &'a Value>) -> String {
    let mut words = Words::default();
    let row = |queue: &Value| {
        let [vhost, kind, node] = ["vhost", "type", "node"].map(|field| words.place(&queue[field]));
        let [members, online, mirrors] = ["members", "online", "synchronised_slave_nodes"]
            .map(|field| words.places(&queue[field]));
        json!([
            vhost,
            queue["name"],
            kind,
            node,
            queue["durable"] == true,
            false,
            members,
            online,
            mirrors,
            {}
        ])
    };
    let rows = queues.map(row).collect();
    words.printed(rows)
}

/// How far replicas are.
fn replicas<'a>(queues: impl Iterator<Item = &'a Value>) -> String {
    let mut words = Words::default();
    let row = |queue: &Value| {
        let replicas: Vec<Value> = names(&queue["members"])
            .iter()
            .map(|node| {
                let role = if queue["node"] == **node { "leader" } else { "follower" };
                let reached = queue["reached"][node].as_i64().unwrap_or(10);
                json!([words.place(&json!(node)), reached, 9, words.place(&json!(role))])
            })
            .collect();
        json!([words.place(&queue["vhost"]), queue["name"], replicas])
    };
    let rows = queues.map(row).collect();
    words.printed(rows)
}

/// Is this node among those that an expression is about, and can be reached?
fn is_asked(expression: &str, node: &str, away: &[String]) -> bool {
    expression.contains(&terms::atom(node)) && !away.iter().any(|away| away == node)
}

/// Does an expression look this queue up?
fn is_named(queue: &Value, expression: &str) -> bool {
    let binary = |field: &str| terms::binary(queue[field].as_str().unwrap());
    let one = format!("rabbit_misc:r({}, queue, {})", binary("vhost"), binary("name"));
    expression.contains(&one)
}

/// As JSON in Base64.
fn printed(all: &Value) -> String {
    STANDARD.encode(all.to_string())
}

fn join(state: &State, own: &str, node: &str) -> ExitCode {
    let now = state.read();
    if now["app"] == true {
        return no(
            "Error: this command requires the 'rabbit' app to be stopped on the target node",
        );
    }
    if names(&now["away"]).iter().any(|away| away == node) {
        return no("Error:\n{:inconsistent_cluster, ~c\"cannot connect\"}");
    }
    if names(&now["refuse"]).iter().any(|by| by == node) {
        return no(&format!(
            "Error:\n{{:inconsistent_cluster, ~c\"Node {node} thinks it's clustered with node {own}, but {own} disagrees\"}}"
        ));
    }
    if state.hangs_inside() {
        return hangs_inside(state, own);
    }
    take_in(&data(own), &state.joined(own));
    ExitCode::SUCCESS
}

/// It has the tables of the others, which name it; its own file is written last.
fn hangs_inside(state: &State, own: &str) -> ExitCode {
    take_in(&data(own), &[own.to_string()]);
    std::fs::write(data(own).join(TABLES_OF_OTHERS), "x").unwrap();
    state.wait_while_it_hangs_inside();
    no("Error: the node is gone")
}

/// Where the node has its data.
fn data(own: &str) -> PathBuf {
    Path::new(&std::env::var("HOME").unwrap()).join(own)
}

fn queues(state: &State, words: &[&str]) -> ExitCode {
    let Some((vhost, words)) = options(words) else {
        return no("Error: Invalid options for this command");
    };
    match words[..] {
        ["add_member", "sick", _] => return no("Error:\n{:error, :timeout}"),
        ["add_member", name, node] => state.change(|state| {
            of_queue(state, vhost, name, "members").push(node.into());
            of_queue(state, vhost, name, "online").push(node.into());
        }),
        ["delete_member", name, node] => state.change(|state| {
            // What it says with exit code 0 is no proof (R10).
            if name != "stubborn" {
                for list in ["members", "online"] {
                    of_queue(state, vhost, name, list).retain(|member| member != node);
                }
            }
            if name == "first" {
                // Another member is at the same work, and has come to the next queue by now.
                for list in ["members", "online"] {
                    let next = of_queue(state, vhost, "second", list);
                    next.iter_mut().filter(|m| *m == node).for_each(|m| *m = "rabbit@d".into());
                }
            }
        }),
        ["rebalance", "all"] => {}
        ref other => panic!("{other:?}"),
    }
    ExitCode::SUCCESS
}

/// The virtual host, and what is no option. As the real ones read their arguments: what begins
/// with a dash is an option up to `--`, and one that they do not know is refused.
fn options<'a>(words: &[&'a str]) -> Option<(&'a str, Vec<&'a str>)> {
    let (mut vhost, mut rest, mut are_options) = ("/", Vec::new(), true);
    for word in words {
        match word.strip_prefix("--vhost=") {
            Some(named) if are_options => vhost = named,
            _ if are_options && *word == "--" => are_options = false,
            _ if are_options && word.starts_with('-') => return None,
            _ => rest.push(*word),
        }
    }
    Some((vhost, rest))
}

fn of_queue<'a>(state: &'a mut Value, vhost: &str, name: &str, list: &str) -> &'a mut Vec<Value> {
    let queues = state["queues"].as_array_mut().unwrap();
    let is_it = |queue: &&mut Value| queue["vhost"] == vhost && queue["name"] == name;
    queues.iter_mut().find(is_it).unwrap()[list].as_array_mut().unwrap()
}
