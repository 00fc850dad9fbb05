//! A token of an account of Azure, as its owner makes one for whoever may do no more.
//! <https://learn.microsoft.com/rest/api/storageservices/create-account-sas>

use crate::servers::ACCOUNT;
use crate::support::s3::SECRET;
use aws_lc_rs::hmac;

/// Which version of its rules.
const VERSION: &str = "2022-11-02";
const EXPIRES: &str = "2099-01-01T00:00:00Z";

/// With these rights on blobs, a letter each: `r`ead, `w`rite, `c`reate, `l`ist, `d`elete.
pub fn with_rights(rights: &str) -> String {
    // Services, kinds of resources, then no begin, addresses, protocol and scope of encryption.
    let fields = [ACCOUNT, rights, "b", "co", "", EXPIRES, "", "", VERSION, "", ""];
    // The key of the account, before it is written in Base64.
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
    let signed = base64(hmac::sign(&key, fields.join("\n").as_bytes()).as_ref());
    let signed = signed.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
    format!("sv={VERSION}&ss=b&srt=co&sp={rights}&se={EXPIRES}&sig={signed}")
}

/// A crate for this alone would be built with other features than the rest asks it for.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |three: &[u8]| {
        let at = |place: usize| u32::from(three.get(place).copied().unwrap_or_default());
        let bits = (at(0) << 16) | (at(1) << 8) | at(2);
        let digit = |place: usize| char::from(DIGITS[(bits >> (18 - 6 * place)) as usize & 63]);
        let digits: String = (0..=three.len()).map(digit).collect();
        format!("{digits:=<4}")
    };
    bytes.chunks(3).map(group).collect()
}
