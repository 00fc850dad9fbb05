//! Backups that expire: what the operator orders is done by the child and answered.

use super::*;

pub const ALL: &[Case] = &[("what_is_to_expire_is_answered", what_is_to_expire_is_answered)];

fn what_is_to_expire_is_answered() {
    let pod = a_pod();
    let upload = until_upload(&pod);
    let sent = done(&pod, "upload-1", upload)["uploaded"].clone();
    done(&pod, "finish-1", finish_of(&pod, &sent));
    let work = json!({"backup": "retention-1", "expire": {"backups": ["b1", "b0"], "keep": 1}});
    let expired = done(&pod, "retention-1-expire", work)["expired"].clone();
    assert_eq!((&expired["absent"], &expired["stay"][0]["backup"]), (&json!(["b0"]), &json!("b1")));
    let why = expired["stay"][0]["why"].as_str().unwrap();
    assert!(why.contains("0 complete backups would be left"), "{why}");
    let work = json!({"backup": "retention-2", "sweep": {"backups": ["b1"]}});
    let swept = done(&pod, "retention-2-sweep", work)["swept"].clone();
    assert_eq!((&swept["unknown"], &swept["objects"]), (&json!(["b1"]), &json!(0)));
    assert!(swept["againInHours"].is_null() && swept["refused"].is_null(), "{swept}");
    assert!(verified(&pod, "b1").unwrap() > SSTABLES as u64, "the only one stays");
}
