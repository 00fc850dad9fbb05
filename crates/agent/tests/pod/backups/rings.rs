//! A ring that begins with a backup: a member without a server reads it and notes tokens, starts
//! with these, closed, and is opened by an order.

use super::super::cases::Case;
use super::super::processes::signal;
use super::loads::taken;
use super::restores::backed_up;
use super::*;
use palladion_agent_transfer::tokens::hash;
use palladion_api::backup::NEVER_STARTED;

pub const ALL: &[Case] = &[
    ("a_member_begins_with_the_tokens_and_files_of_a_backup", a_ring_begins),
    ("a_closed_member_stays_closed_whoever_is_killed_until_it_is_opened", it_stays_closed),
    ("without_the_tokens_that_are_noted_no_server_starts", without_tokens),
];

/// A ring with a backup, and a member of another one that has never started.
pub struct Rings {
    pub old: Pod,
    pub new: Pod,
    pub manifest: String,
}

impl Rings {
    pub fn new() -> Self {
        let old = a_pod();
        let manifest = backed_up(&old);
        let mut new = Pod::new();
        let config = new.path("etc/server.json");
        let mut of: Value = serde_json::from_str(&fs::read_to_string(&config).unwrap()).unwrap();
        of["numTokens"] = json!(2);
        fs::write(&config, of.to_string()).unwrap();
        fs::write(new.path("tmp").join(CQL), new.cql.to_string()).unwrap();
        // As of a ring without another member: its file is not written again for seeds.
        new.api.change_spec("m-0", json!({"seeds": ["10.96.0.11"]}));
        new.start();
        new.wait_for("an empty volume", |s| s["volume"]["state"] == "Empty");
        Self { old, new, manifest }
    }

    pub fn source(&self) -> Value {
        self.old.api.status("m-0")["hostID"].clone()
    }

    /// Give the new member an order.
    pub fn order(&self, id: &str, work: Value) {
        let status = self.new.api.status("m-0");
        let host = status["hostID"].as_str().unwrap_or(NEVER_STARTED);
        let mut order = json!({
            "id": id, "epoch": 1, "hostID": host, "volumeID": status["volume"]["volumeID"],
            "backup": "b1", "repository": {"id": "repository-1", "sealed": false},
            "store": {"at": self.old.path("store")},
        });
        for (key, value) in work.as_object().unwrap() {
            order[key] = value.clone();
        }
        self.new.api.replace_in_spec("m-0", "transfer", order);
    }

    #[track_caller]
    pub fn done(&self, id: &str, work: Value) -> Value {
        self.order(id, work);
        let status = ended(&self.new, id);
        assert_eq!(status["state"], "Done", "{status:#}\n{}", self.new.log());
        status
    }

    fn tokens(&self) -> Value {
        json!({"tokens": {"manifestHash": self.manifest, "source": self.source()}})
    }

    fn permit(&self, nonce: &str, hash: &str) {
        let volume = self.new.api.status("m-0")["volume"]["volumeID"].clone();
        let start = json!({
            "kind": "Initialize", "nonce": nonce, "podUID": "pod-1", "volumeID": volume,
            "reason": "a test", "attempt": 1, "data": "MustBeEmpty",
            "restore": {"source": self.source(), "tokensHash": hash},
        });
        self.new.api.replace_in_spec("m-0", "start", start);
    }

    /// With its first start made.
    pub fn started() -> Self {
        Self::new().begun()
    }

    /// The same, of one that has not.
    pub fn begun(self) -> Self {
        let rings = self;
        rings.done("r1-tokens-1", rings.tokens());
        rings.permit("n1", &own_hash());
        rings.new.wait_for("a full member", |s| s["permit"]["state"] == "Done");
        rings
    }

    pub fn is_closed(&self) -> bool {
        let status = self.new.api.status("m-0");
        status["server"]["closed"] == true && status["server"]["reason"] == "Restoring"
    }
}

/// Of the tokens that the fake server has.
pub fn own_hash() -> String {
    hash(["1", "2"].into_iter())
}

fn yaml(pod: &Pod) -> String {
    fs::read_to_string(pod.path("run/conf/cassandra.yaml")).unwrap()
}

fn a_ring_begins() {
    let rings = Rings::new();
    let new = &rings.new;
    let found = rings.done("r1-catalog-1", json!({"catalog": {"wholeRing": true}}));
    assert_eq!(found["manifestHash"], rings.manifest.as_str());
    let member = &found["cataloged"]["members"][0];
    assert_eq!((&member["hostID"], &member["tokens"]), (&rings.source(), &json!(2)));
    assert_eq!(member["tokensHash"], own_hash().as_str());
    let old = rings.old.api.status("m-0");
    assert_eq!(member["tokensHash"], old["server"]["tokensHash"], "as a member reports it");
    assert_eq!(found["cataloged"]["sources"][0]["sstables"], SSTABLES);
    assert_eq!(found["cataloged"]["tables"][0]["state"], "Absent");
    assert_eq!(found["cataloged"]["tables"][0]["gcGraceSeconds"], 864_000);
    let noted = rings.done("r1-tokens-1", rings.tokens());
    let expected = json!({"source": rings.source(), "tokensHash": own_hash()});
    assert_eq!(noted["notedTokens"], expected);
    rings.permit("n1", &own_hash());
    let status = new.wait_for("a full member", |s| s["permit"]["state"] == "Done");
    assert_eq!(
        (&status["server"]["state"], &status["server"]["mode"]),
        (&json!("Running"), &json!("NORMAL"))
    );
    assert!(rings.is_closed(), "{status:#}");
    assert_eq!(new.get("/readyz").0, 503);
    assert!(new.get("/readyz").1.contains("Restoring"));
    assert!(yaml(new).contains("rpc_address: 127.0.0.1"), "{}", yaml(new));
    assert!(yaml(new).contains("initial_token: 1,2"), "{}", yaml(new));
    // It has tokens now, and keeps them.
    rings.order("r1-tokens-2", rings.tokens());
    assert_eq!(ended(new, "r1-tokens-2")["state"], "Refused");
    let work = json!({"load": {
        "manifestHash": rings.manifest, "source": rings.source(), "way": "Place",
    }});
    let placed = rings.done("r1-load-1", work);
    assert_eq!(placed["loaded"]["sstables"], SSTABLES);
    let table = new.path("data/data/shop/users-5f3c2b1a000040008000000000000abc");
    let mut found: Vec<String> = files(&table)
        .into_iter()
        .filter(|path| path.to_str().unwrap().ends_with("-Data.db"))
        .map(|path| palladion_backup::hash::Hash::of(&fs::read(path).unwrap()).to_string())
        .collect();
    let mut expected = taken(&rings.old);
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    rings.done("r1-open-1", json!({"open": {}}));
    let status = new.wait_for("clients", |s| s["server"]["reason"] == "Running");
    assert!(status["server"]["closed"].is_null(), "{status:#}");
    eventually("readiness", || new.get("/readyz").0 == 200);
    assert!(yaml(new).contains("rpc_address: 0.0.0.0") && !yaml(new).contains("initial_token"));
    assert!(!new.path("data/.palladion/tokens.json").exists());
    // Once more: there is nothing to do.
    let server = new.server();
    rings.done("r1-open-2", json!({"open": {}}));
    assert_eq!(new.server(), server);
}

fn it_stays_closed() {
    let rings = Rings::started();
    let new = &rings.new;
    let (server, agent) = (new.server().unwrap(), new.agent().unwrap());
    signal(agent, "KILL");
    eventually("another agent", || new.agent().is_some_and(|now| now != agent));
    new.api.change_spec("m-0", json!({"evidence": {"nonce": "after"}}));
    new.wait_for("an answer of the new agent", |s| s["evidence"]["nonce"] == "after");
    assert!(rings.is_closed() && new.get("/readyz").0 == 503);
    signal(server, "KILL");
    new.wait_for("another start", |s| {
        s["startHistory"].as_array().is_some_and(|h| h.len() == 2)
            && s["server"]["state"] == "Running"
    });
    assert!(rings.is_closed() && yaml(new).contains("rpc_address: 127.0.0.1"));
    assert!(!yaml(new).contains("initial_token"), "it has them in its own tables");
    // The note that closes it is torn.
    fs::write(new.path("data/.palladion/auth.json"), "{").unwrap();
    signal(new.server().unwrap(), "KILL");
    new.wait_for("a third start", |s| {
        s["startHistory"].as_array().is_some_and(|h| h.len() == 3)
            && s["server"]["state"] == "Running"
    });
    assert!(rings.is_closed());
    // Whoever opens it is killed right after that.
    rings.order("r1-open-1", json!({"open": {}}));
    eventually("that it is noted", || !new.path("data/.palladion/tokens.json").exists());
    signal(new.agent().unwrap(), "KILL");
    assert_eq!(ended(new, "r1-open-1")["state"], "Done", "{}", new.log());
    eventually("readiness", || new.get("/readyz").0 == 200);
    let status = new.api.status("m-0");
    assert!(status["server"]["closed"].is_null(), "{status:#}");
}

fn without_tokens() {
    let rings = Rings::new();
    let new = &rings.new;
    let refused = |nonce: &'static str| {
        let refused =
            |s: &Value| s["permit"]["nonce"] == nonce && s["permit"]["state"] == "Refused";
        let status = new.wait_for("a refusal", refused);
        assert_eq!(new.server(), None);
        status["permit"]["message"].as_str().unwrap().to_string()
    };
    rings.permit("n1", &own_hash());
    assert!(refused("n1").contains("not noted on this volume"));
    rings.done("r1-tokens-1", rings.tokens());
    rings.permit("n2", &"ab".repeat(8));
    assert!(refused("n2").contains("expected tokens with hash"));
    // The configuration is another one: what a container mounts stays the same.
    let config = new.path("etc/server.json");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace("\"numTokens\":2", "\"numTokens\":4")).unwrap();
    signal(new.agent().unwrap(), "KILL");
    rings.permit("n3", &own_hash());
    assert!(refused("n3").contains("sets `num_tokens` to 4"));
    for work in [json!({"open": {}}), json!({"catalog": {}})] {
        let id = format!("r1-{}", work.as_object().unwrap().keys().next().unwrap());
        rings.order(&id, work);
        assert_eq!(ended(new, &id)["state"], "Refused");
    }
}
