//! Asks for our own member where the watch has told nothing for a while: a watch in which
//! nothing happens and one whose connection is dead look alike for minutes.

use super::contact::Contact;
use super::watch::{News, learn, only_ours};
use crate::metrics::Common;
use kube::api::ListParams;
use kube::core::DynamicObject;
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use std::time::Duration;
use tokio::sync::watch::{Receiver, Sender};
use tokio::time::{sleep, timeout};

/// Whoever has heard nothing for so long asks.
const QUIET: Duration = Duration::from_secs(60);
/// A question that is not answered in this time is asked again.
const ANSWER_TIME: Duration = Duration::from_secs(10);
/// Between two questions that were not answered.
const AGAIN: Duration = Duration::from_secs(10);

/// Ask for ever, as long as somebody needs to know; otherwise nothing is sent.
pub async fn ask<K: Resource + DeserializeOwned>(
    members: Api<DynamicObject>,
    name: String,
    news: Sender<News<K>>,
    contact: &Contact,
    mut is_needed: Receiver<bool>,
    metrics: Common,
) {
    let ours = ListParams::default().fields(&only_ours(&name));
    while is_needed.wait_for(|needed| *needed).await.is_ok() {
        // Who has heard nothing at all is about to be told by the first list of the watch.
        let ago = contact.heard_ago().unwrap_or(QUIET);
        if let Some(left) = QUIET.checked_sub(ago).filter(|left| !left.is_zero()) {
            sleep(left).await;
            continue;
        }
        match timeout(ANSWER_TIME, members.list(&ours)).await {
            Ok(Ok(list)) => match list.items.into_iter().next() {
                Some(member) => learn(&news, member, contact, &metrics),
                // That it is gone is for the watch to say, which knows what came before.
                None => sleep(AGAIN).await,
            },
            Ok(Err(_)) | Err(_) => {
                metrics.api_failures.inc();
                sleep(AGAIN).await;
            }
        }
    }
}
