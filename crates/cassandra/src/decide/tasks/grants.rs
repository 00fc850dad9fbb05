//! Which ranges are repaired at a time: those of which no member has copies in
//! common, what was never repaired first, then what was due first.
//!
//! The first that has to wait for a busy member keeps its members free: nothing
//! that comes after it takes them. Each repair ends, so that no range waits for
//! ever. This needs no memory of how long something has waited: what comes first
//! is the same for every leader.

use palladion_api::ids::{HostId, MemberName};
use palladion_api::member::Batch;
use std::collections::BTreeSet;

/// Ranges that a member could repair.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    /// The member.
    pub member: &'a MemberName,
    /// Its ranges.
    pub batch: &'a Batch,
}

/// Who has something to do besides.
#[derive(Clone, Debug, Default)]
pub struct Occupied<'a> {
    /// Members whose data is in a repair.
    pub busy: BTreeSet<&'a HostId>,
    /// Those that have more to do than they get done, and are to be spared.
    pub pressed: BTreeSet<&'a HostId>,
}

/// What is granted now: no member is in two of these, or in one of them and among
/// the busy; no more than there is room for. What is to be spared waits for what is
/// not, and comes alone where nothing else is left: it could wait until it is late.
pub fn choose<'a>(offers: Vec<Offer<'a>>, occupied: &Occupied<'a>, room: usize) -> Vec<Offer<'a>> {
    let is_pressed =
        |offer: &Offer<'a>| offer.batch.host_ids.iter().any(|host| occupied.pressed.contains(host));
    let (pressed, rest): (Vec<_>, Vec<_>) = offers.into_iter().partition(is_pressed);
    let granted = pick(rest, &occupied.busy, room);
    match granted.is_empty() && occupied.busy.is_empty() {
        true => pick(pressed, &occupied.busy, room.min(1)),
        false => granted,
    }
}

fn pick<'a>(
    mut offers: Vec<Offer<'a>>,
    busy: &BTreeSet<&'a HostId>,
    room: usize,
) -> Vec<Offer<'a>> {
    let place = |offer: &Offer<'a>| {
        let due = offer.batch.due_at.as_ref().map(|at| at.0);
        (due.is_some(), due, offer.member.clone(), offer.batch.host_ids.clone())
    };
    offers.sort_by_cached_key(place);
    let mut taken: BTreeSet<&'a HostId> = busy.clone();
    let mut keeps = Keeps::Nothing;
    let mut granted: Vec<Offer<'a>> = Vec::new();
    for offer in offers {
        let has_one = granted.iter().any(|other| other.member == offer.member);
        if has_one || granted.len() >= room || offer.batch.host_ids.is_empty() {
            continue;
        }
        let is_free = !offer.batch.host_ids.iter().any(|host| taken.contains(host));
        match (is_free, keeps) {
            (true, _) => granted.push(offer),
            (false, Keeps::Nothing) => keeps = Keeps::TheFirst,
            (false, Keeps::TheFirst) => continue,
        }
        taken.extend(&offer.batch.host_ids);
    }
    granted
}

/// Are members kept free for what has to wait?
#[derive(Clone, Copy)]
enum Keeps {
    Nothing,
    TheFirst,
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use std::collections::BTreeMap;

    fn batch(hosts: &str, due: Option<i64>) -> Batch {
        let due_at = due.map(|at| Time(Timestamp::from_second(at).unwrap()));
        Batch { host_ids: hosts.chars().map(|c| HostId::new(c.to_string())).collect(), due_at }
    }

    fn chosen(offers: &[(&str, Batch)], busy: &str, room: usize) -> Vec<String> {
        let names: Vec<MemberName> =
            offers.iter().map(|(name, _)| MemberName::new(*name)).collect();
        let offers = offers.iter().zip(&names);
        let offers = offers.map(|((_, batch), member)| Offer { member, batch }).collect();
        let busy: Vec<HostId> = busy.chars().map(|c| HostId::new(c.to_string())).collect();
        let occupied = Occupied { busy: busy.iter().collect(), ..Occupied::default() };
        let granted = choose(offers, &occupied, room);
        let hosts = |offer: &Offer<'_>| -> String {
            offer.batch.host_ids.iter().map(HostId::as_str).collect()
        };
        granted.iter().map(|offer| format!("{} {}", offer.member, hosts(offer))).collect()
    }

    #[test]
    fn what_was_never_repaired_comes_first_and_no_member_is_in_two() {
        let offers = [
            ("a", batch("abc", Some(10))),
            ("d", batch("def", Some(20))),
            ("e", batch("bef", None)),
            ("g", batch("gh", Some(30))),
        ];
        assert_eq!(chosen(&offers, "", 9), ["e bef", "g gh"]);
        // `e` waits for `f`, and keeps `b` free.
        assert_eq!(chosen(&offers, "f", 9), ["g gh"]);
        assert_eq!(chosen(&offers, "", 1), ["e bef"]);
        assert_eq!(chosen(&offers, "abcdefgh", 9), Vec::<String>::new());
    }

    #[test]
    fn the_first_that_waits_keeps_its_members_free_and_no_other_one_does() {
        let offers = [
            ("a", batch("ab", Some(10))),
            ("c", batch("ce", Some(20))),
            ("d", batch("cd", Some(30))),
            ("b", batch("be", Some(40))),
        ];
        // `a` waits for `b` to be free; `c` for `e`, and `d` may take `c` before it.
        assert_eq!(chosen(&offers, "be", 9), ["d cd"]);
    }

    #[test]
    fn a_member_with_much_to_do_is_spared_as_long_as_there_is_something_else() {
        let (name, other) = (MemberName::new("a"), MemberName::new("c"));
        let (first, second) = (batch("ab", None), batch("cd", Some(10)));
        let offers = || {
            vec![Offer { member: &name, batch: &first }, Offer { member: &other, batch: &second }]
        };
        let (b, d) = (HostId::new("b"), HostId::new("d"));
        let granted = |pressed: &[&'static str], busy: &[&'static str]| {
            let of = |names: &[&'static str]| {
                let all = [&b, &d].into_iter().filter(|host| names.contains(&host.as_str()));
                all.collect::<BTreeSet<&HostId>>()
            };
            let occupied = Occupied { busy: of(busy), pressed: of(pressed) };
            let granted = choose(offers(), &occupied, 9);
            granted.iter().map(|offer| offer.member.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(granted(&[], &[]), ["a", "c"]);
        assert_eq!(granted(&["b"], &[]), ["c"]);
        assert_eq!(granted(&["b"], &["d"]), Vec::<String>::new(), "something is repaired");
        assert_eq!(granted(&["b", "d"], &[]), ["a"], "nothing else is left");
    }

    /// Batches of members on a ring, three copies each; those under way end after
    /// times that differ. None waits for more than all that comes before it.
    #[test]
    fn every_batch_has_its_turn() {
        let hosts: Vec<char> = ('a'..='i').collect();
        for seed in 0..50_u64 {
            let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
            let mut next = |below: u64| {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                random % below
            };
            let mut left: Vec<(MemberName, Batch)> = Vec::new();
            for (at, host) in hosts.iter().enumerate() {
                for _ in 0..6 {
                    let other = |n: u64| hosts[(at + 1 + usize::try_from(n).unwrap()) % 9];
                    let text: String = [*host, other(next(4)), other(4 + next(4))].iter().collect();
                    let due = i64::try_from(next(100)).unwrap();
                    left.push((MemberName::new(host.to_string()), batch(&text, Some(due))));
                }
            }
            let all = left.len();
            let mut running: BTreeMap<MemberName, (Batch, u64)> = BTreeMap::new();
            let (mut turns, mut most) = (0, 0);
            while !left.is_empty() || !running.is_empty() {
                let busy: BTreeSet<HostId> =
                    running.values().flat_map(|(batch, _)| batch.host_ids.clone()).collect();
                let idle = left.iter().filter(|(name, _)| !running.contains_key(name));
                let offers = idle.map(|(member, batch)| Offer { member, batch }).collect();
                let occupied = Occupied { busy: busy.iter().collect(), ..Occupied::default() };
                let granted = choose(offers, &occupied, usize::MAX);
                let granted: Vec<(MemberName, Batch)> =
                    granted.iter().map(|o| (o.member.clone(), o.batch.clone())).collect();
                for (member, batch) in granted {
                    assert!(!batch.host_ids.iter().any(|host| {
                        running.values().any(|(other, _)| other.host_ids.contains(host))
                    }));
                    let at = left.iter().position(|l| *l == (member.clone(), batch.clone()));
                    left.remove(at.unwrap());
                    running.insert(member, (batch, 1 + next(9)));
                }
                assert!(!running.is_empty(), "somebody repairs as long as something is left");
                most = most.max(running.len());
                running.values_mut().for_each(|(_, time)| *time -= 1);
                running.retain(|_, (_, time)| *time > 0);
                turns += 1;
            }
            assert!(turns <= all * 9, "{turns} turns of seed {seed}");
            assert!(most > 1, "several repair at a time");
        }
    }
}
