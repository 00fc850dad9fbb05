//! Jolokia's configuration and policy: loopback, credentials made anew at each
//! start, POST only, and exactly what the agent reads and calls.

use crate::management::beans::{CALLS, REPLAY_CALL, REPLAY_READ, WRITES, reads};
use crate::management::{Credentials, ORIGIN};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::SocketAddr;
use std::path::Path;

/// One for the looks, one for a call that lasts days, one to stop it, one for a
/// call that an earlier agent has left there, one for a load and one for a load that an
/// earlier try has left there, one for a drain beside them, one in reserve: when all are taken, the server is not seen until one of the calls ends.
const THREADS: u32 = 8;

/// The properties file, which only the server's user may read.
pub fn properties(address: SocketAddr, credentials: &Credentials, policy: &Path) -> String {
    format!(
        "host={}\nport={}\nuser={}\npassword={}\nexecutor=fixed\nthreadNr={THREADS}\n\
         agentContext=/jolokia\ndiscoveryEnabled=false\ndisableDetectors=true\nincludeRequest=false\n\
         policyLocation=file://{}\n",
        address.ip(),
        address.port(),
        credentials.user,
        credentials.password,
        policy.display(),
    )
}

/// May the server be given segments of a commit log? A corrupt one ends it, and one that it replays
/// without a time and tables brings back what was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replays {
    /// In no start but one that is made for it.
    Refused,
    /// In this one.
    Allowed,
}

/// The policy file.
pub fn policy(replays: Replays) -> String {
    let mut allowed: BTreeMap<&str, (Vec<String>, Vec<&str>)> = BTreeMap::new();
    let read_only = reads().map(|(m, a)| (m, format!("<attribute mode=\"read\">{a}</attribute>")));
    let writable = WRITES.map(|(m, a)| (m, format!("<attribute>{a}</attribute>")));
    for (mbean, attribute) in read_only.chain(writable) {
        allowed.entry(mbean).or_default().0.push(attribute);
    }
    for (mbean, operation) in CALLS {
        allowed.entry(mbean).or_default().1.push(operation);
    }
    if replays == Replays::Allowed {
        let (mbean, attribute) = REPLAY_READ;
        let read = format!("<attribute mode=\"read\">{attribute}</attribute>");
        allowed.entry(mbean).or_default().0.push(read);
        let (mbean, operation) = REPLAY_CALL;
        allowed.entry(mbean).or_default().1.push(operation);
    }
    // No command is allowed in general: then only what `allow` lists is.
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<restrict>\n  \
         <remote><host>127.0.0.1</host><host>::1</host></remote>\n  \
         <http><method>post</method></http>\n  <cors><allow-origin>{ORIGIN}</allow-origin><strict-checking/></cors>\n  \
         <commands></commands>\n  <allow>\n",
    );
    for (mbean, (attributes, operations)) in &allowed {
        let _ = writeln!(text, "    <mbean>\n      <name>{mbean}</name>");
        for attribute in attributes {
            let _ = writeln!(text, "      {attribute}");
        }
        for operation in operations {
            let _ = writeln!(text, "      <operation>{operation}</operation>");
        }
        text.push_str("    </mbean>\n");
    }
    text.push_str("  </allow>\n</restrict>\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_allows_what_we_use_and_nothing_else() {
        insta::assert_snapshot!(policy(Replays::Refused));
    }

    #[test]
    fn only_a_start_that_is_made_for_it_takes_segments() {
        let (bean, call) = REPLAY_CALL;
        assert!(!policy(Replays::Refused).contains(bean));
        let with = policy(Replays::Allowed);
        assert!(with.contains(bean) && with.contains(call), "{with}");
    }

    #[test]
    fn credentials_stand_only_in_the_properties() {
        let credentials = Credentials { user: "u".into(), password: "p".into() };
        let text = properties(
            "127.0.0.1:8778".parse().unwrap(),
            &credentials,
            Path::new("/run/palladion/policy.xml"),
        );
        insta::assert_snapshot!(text);
        assert_eq!(format!("{credentials:?}"), "Credentials(hidden)");
    }
}
