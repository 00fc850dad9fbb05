//! Whether the name of the node leads to this pod. The others reach it by that name alone;
//! a node that starts before its name is there, or with the address of the pod before, is
//! seen by nobody and may take itself for alone.

use crate::words::server::Named;
use palladion_api::rabbitmq::NodeName;
use palladion_api::words::Names;
use std::net::{IpAddr, UdpSocket};
use std::time::Duration;

/// A name server that does not answer in this time is asked again.
const ANSWER_TIME: Duration = Duration::from_secs(3);

/// Look the name up.
///
/// # Errors
/// It leads nowhere, or to somebody else.
pub async fn resolve(node: &NodeName) -> Result<(), Named> {
    let Some(host) = node.host() else {
        return Err(Named::NoHost { node: node.clone() });
    };
    let asked = tokio::time::timeout(ANSWER_TIME, tokio::net::lookup_host((host, 0))).await;
    let found: Vec<IpAddr> = match asked {
        Err(_) => return Err(Named::Late { node: node.clone() }),
        Ok(Err(error)) => {
            return Err(Named::Unresolved { node: node.clone(), why: error.to_string() });
        }
        Ok(Ok(addresses)) => addresses.map(|address| address.ip()).collect(),
    };
    match found.iter().any(|address| is_ours(*address)) {
        true => Ok(()),
        false => Err(Named::Elsewhere { node: node.clone(), found: Names::of(found) }),
    }
}

/// An address that a socket can have is one of this pod's.
fn is_ours(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_name_must_lead_here() {
        assert_eq!(resolve(&NodeName::new("rabbit@127.0.0.1")).await, Ok(()));
        let elsewhere = resolve(&NodeName::new("rabbit@192.0.2.1")).await.unwrap_err();
        assert!(elsewhere.to_string().contains("192.0.2.1"), "{elsewhere}");
        let odd = resolve(&NodeName::new("rabbit")).await.unwrap_err();
        assert!(matches!(odd, Named::NoHost { .. }));
    }
}
