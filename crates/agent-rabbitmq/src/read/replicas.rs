//! How far replicas are: the index that each has reached, and what the leader has
//! committed. One call tells it of all queues of the node.
//!
//! Under load a replica never has the leader's index at the same moment. It has caught up
//! once its index has reached what the leader had committed at an earlier look. Nobody but
//! the leader says what that is: a follower knows of less, and would be measured by itself.

use super::terms::Table;
use super::{name, terms};
use palladion_api::rabbitmq::NodeName;
use palladion_api::service_member::QueueNames;
use std::collections::BTreeMap;

/// A queue and its replicas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueReplicas {
    /// Its virtual host.
    pub vhost: String,
    /// Its name.
    pub name: String,
    /// Its replicas, as far as they answer.
    pub replicas: Vec<Replica>,
}

/// A replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replica {
    /// Its node.
    pub node: NodeName,
    /// The last index of its log.
    pub reached: Option<i64>,
    /// The last index that it knows to be committed; of a stream the last that it has, as its
    /// committed offset says nothing until a majority has answered the writer.
    pub committed: Option<i64>,
    /// What it is among the others, in RabbitMQ's word.
    pub role: Option<String>,
}

impl Replica {
    /// Is it the one that the others copy: the leader of a quorum queue, the writer of a
    /// stream?
    fn leads(&self) -> bool {
        matches!(self.role.as_deref(), Some("leader" | "writer"))
    }
}

impl QueueReplicas {
    /// What the leader has committed; not known while it does not answer.
    pub fn committed(&self) -> Option<i64> {
        let leaders = self.replicas.iter().filter(|replica| replica.leads());
        leaders.filter_map(|leader| leader.committed).max()
    }

    /// Is it one that elects nobody who lacks what was confirmed, by what the replica on this
    /// node is in it? A quorum queue is; a stream elects with whatever is there.
    fn elects_by_its_log(&self, node: &NodeName) -> bool {
        let own = self.replicas.iter().find(|replica| replica.node == *node);
        let role = own.and_then(|replica| replica.role.as_deref());
        matches!(role, Some("follower" | "pre_vote" | "candidate" | "await_condition"))
    }

    /// The last index on a node.
    pub fn reached(&self, node: &NodeName) -> Option<i64> {
        self.replicas.iter().find(|replica| replica.node == *node)?.reached
    }
}

/// Whose replicas of a queue must have caught up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Awaited {
    /// The one on this node, which was added for that of another.
    pub added: Option<NodeName>,
    /// More than half of those on these nodes; of none nothing is awaited.
    pub most_of: Vec<NodeName>,
}

impl Awaited {
    /// Is there nothing to wait for?
    pub fn is_nobody(&self) -> bool {
        self.added.is_none() && self.most_of.is_empty()
    }

    /// Have they all up to this index?
    pub fn have(&self, index: i64, now: &QueueReplicas) -> bool {
        let has = |node: &&NodeName| now.reached(node).is_some_and(|reached| reached >= index);
        let those = self.most_of.iter().filter(has).count();
        let most = self.most_of.is_empty() || those * 2 > self.most_of.len();
        most && self.added.iter().all(|node| has(&node))
    }
}

/// Erlang for all quorum queues and streams with a replica on the node. `status/2` of both
/// is what `rabbitmq-queues quorum_status` and `rabbitmq-streams stream_status` show; later
/// versions call the last index of a log otherwise. That of a stream fails on a node whose
/// coordinator does not run: nothing is known of that stream then, and of others it is.
const ALL: &str = "\
[[V, N, \
try M:status(V, N) of L when is_list(L) -> [F(R) || R <- L]; _ -> [] catch _:_ -> [] end] \
|| {M, Qs} <- [{rabbit_quorum_queue, rabbit_amqqueue:list_local_quorum_queues()}, \
{rabbit_stream_queue, rabbit_amqqueue:list_local_stream_queues()}], \
Q <- Qs, {resource, V, queue, N} <- [amqqueue:get_name(Q)]]";

/// And for one, wherever its replicas are.
fn one(vhost: &str, name: &str) -> String {
    let (vhost, name) = (terms::binary(vhost), terms::binary(name));
    format!(
        "[[{vhost}, {name}, \
         try M:status({vhost}, {name}) of L when is_list(L) -> [F(R) || R <- L]; _ -> [] \
         catch _:_ -> [] end] \
         || {{ok, A}} <- [rabbit_amqqueue:lookup(rabbit_misc:r({vhost}, queue, {name}))], \
         M <- [amqqueue:get_type(A)]]"
    )
}

/// The expression by which all of them, or one, are asked for.
pub fn expression(of: Option<(&str, &str)>) -> String {
    let list = of.map_or_else(|| ALL.to_string(), |(vhost, name)| one(vhost, name));
    let rows = format!(
        "(fun() -> \
         P = fun(Ks, R) -> case [I || K <- Ks, {{K2, I}} <- R, K2 =:= K, is_integer(I)] of \
         [I | _] -> I; [] -> null end end, \
         W = fun(Ks, R) -> hd([X || K <- Ks, {{K2, X}} <- R, K2 =:= K] ++ [node()]) end, \
         F = fun(R) -> [W([<<\"Node Name\">>, node], R), \
         P([<<\"Last Written\">>, <<\"Log Index\">>, <<\"Last Log Index\">>, offset], R), \
         P([<<\"Commit Index\">>, offset], R), \
         case [X || K <- [<<\"Raft State\">>, role], {{K2, X}} <- R, K2 =:= K, is_atom(X)] \
         of [X | _] -> X; [] -> null end] end, \
         {list} end)()"
    );
    terms::as_json(&terms::by_words(&rows, WORDS, ROW))
}

const WORDS: &str = "[X || [V, _, Rs] <- R, X <- [V | [Y || [O, _, _, L] <- Rs, Y <- [O, L]]]]";
const ROW: &str = "[[G(V), N, [[G(O), E, C, G(L)] || [O, E, C, L] <- Rs]] || [V, N, Rs] <- R]";

/// A queue: virtual host, name, replicas; of each its node, the last index, the last that it
/// knows to be committed, and its role.
type Row = (usize, String, Vec<(usize, Option<i64>, Option<i64>, usize)>);

/// Read the answer.
pub fn parse(text: &str) -> Option<Vec<QueueReplicas>> {
    let table: Table<Row> = serde_json::from_str(&terms::answer(text)?).ok()?;
    table.rows.iter().map(|row| queue_replicas(&table, row)).collect()
}

fn queue_replicas(table: &Table<Row>, (vhost, name, replicas): &Row) -> Option<QueueReplicas> {
    let replica = |(node, reached, committed, role): &(usize, _, _, usize)| {
        Some(Replica {
            node: NodeName::new(table.word(*node)??),
            reached: *reached,
            committed: *committed,
            role: table.word(*role)?.map(str::to_string),
        })
    };
    let replicas = replicas.iter().map(replica).collect::<Option<_>>()?;
    Some(QueueReplicas { vhost: table.word(*vhost)??.to_string(), name: name.clone(), replicas })
}

/// Looks in which nobody leads a queue, after which nobody waits for its replica: with it a
/// leader would have been elected long since, and one that is busy have answered. From three to six
/// seconds lie between two.
const UNLED_LOOKS: u32 = 50;

/// Whether the replicas of a node have caught up since its start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CatchUp {
    /// What the replicas that are behind have to reach; nothing is known before the first look.
    marks: Option<BTreeMap<(String, String), Mark>>,
}

/// What a replica has to reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// What the leader had committed when it was seen first.
    Committed(i64),
    /// What that is is not known: so many looks have found the replica without a leader.
    Unled(u32),
}

impl Mark {
    /// By a look at a queue, after so many that have found no leader.
    fn of(queue: &QueueReplicas, own: &NodeName, unled: u32) -> Self {
        match queue.committed() {
            Some(committed) => Mark::Committed(committed),
            None if queue.elects_by_its_log(own) => Mark::Unled(unled.saturating_add(1)),
            None => Mark::Unled(unled),
        }
    }

    /// Is the replica waited for? No longer where its queue has lost its leader for good: it
    /// does not catch up, and no queue elects one that lacks what was confirmed.
    fn is_awaited(self) -> bool {
        match self {
            Mark::Committed(_) => true,
            Mark::Unled(looks) => looks < UNLED_LOOKS,
        }
    }
}

impl CatchUp {
    /// Note a look at all replicas of a node.
    pub fn look(&mut self, own: &NodeName, seen: &[QueueReplicas]) {
        let key = |queue: &QueueReplicas| (queue.vhost.clone(), queue.name.clone());
        let Some(marks) = &mut self.marks else {
            let first = seen.iter().map(|queue| (key(queue), Mark::of(queue, own, 0)));
            self.marks = Some(first.collect());
            return;
        };
        let now: BTreeMap<(String, String), &QueueReplicas> =
            seen.iter().map(|queue| (key(queue), queue)).collect();
        marks.retain(|queue, mark| match now.get(queue) {
            // It was deleted, or has no replica here any more.
            None => false,
            Some(now) => match *mark {
                // Its leader did not answer: what it has committed is not known yet.
                Mark::Unled(looks) => {
                    *mark = Mark::of(now, own, looks);
                    true
                }
                Mark::Committed(mark) => now.reached(own).is_none_or(|reached| reached < mark),
            },
        });
    }

    /// Those that have not; `None` while that is not known.
    pub fn behind(&self) -> Option<QueueNames> {
        let awaited = self.marks.as_ref()?.iter().filter(|(_, mark)| mark.is_awaited());
        Some(QueueNames::of(awaited.map(|((vhost, queue), _)| name(vhost, queue))))
    }

    /// Those of queues that have lost their leader for good.
    pub fn unled(&self) -> QueueNames {
        let marks = self.marks.iter().flatten().filter(|(_, mark)| !mark.is_awaited());
        QueueNames::of(marks.map(|((vhost, queue), _)| name(vhost, queue)))
    }

    /// Have all that are waited for?
    pub fn is_done(&self) -> bool {
        self.behind().is_some_and(|behind| behind.is_empty())
    }

    /// Have all? Whoever finds a leader again is waited for again.
    pub fn is_over(&self) -> bool {
        self.marks.as_ref().is_some_and(BTreeMap::is_empty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> NodeName {
        NodeName::new("rabbit@a")
    }

    fn queue(name: &str, reached: i64, committed: Option<i64>) -> QueueReplicas {
        let leader = committed.map(|committed| Replica {
            node: NodeName::new("rabbit@b"),
            reached: Some(committed + 3),
            committed: Some(committed),
            role: Some("leader".into()),
        });
        let follower = Replica {
            node: own(),
            reached: Some(reached),
            committed: Some(reached - 1),
            role: Some("follower".into()),
        };
        let replicas = leader.into_iter().chain([follower]).collect();
        QueueReplicas { vhost: "/".into(), name: name.into(), replicas }
    }

    /// Equal indexes would never be seen while somebody publishes.
    #[test]
    fn a_replica_has_caught_up_when_it_has_what_was_committed_at_the_first_look() {
        let mut catch_up = CatchUp::default();
        assert_eq!((catch_up.behind(), catch_up.is_over()), (None, false));
        catch_up.look(&own(), &[queue("q", 10, Some(100)), queue("r", 100, Some(100))]);
        assert_eq!(catch_up.behind().unwrap().count, 2, "one look says nothing");
        catch_up.look(&own(), &[queue("q", 90, Some(200)), queue("r", 150, Some(200))]);
        assert_eq!(catch_up.behind().unwrap().names, ["q"]);
        catch_up.look(&own(), &[queue("q", 100, Some(300)), queue("r", 150, Some(400))]);
        assert!(catch_up.is_over(), "{catch_up:?}");
    }

    /// Without its leader nobody knows what a replica lacks: it has all that it knows of.
    #[test]
    fn a_queue_whose_leader_is_silent_is_behind_until_it_has_answered_and_once_more() {
        let mut catch_up = CatchUp::default();
        let silent = QueueReplicas { replicas: Vec::new(), ..queue("q", 0, None) };
        let without_leader = queue("q", 5, None);
        assert_eq!(without_leader.committed(), None);
        for seen in [silent, without_leader.clone(), without_leader] {
            catch_up.look(&own(), &[seen]);
            assert!(!catch_up.is_over());
        }
        catch_up.look(&own(), &[queue("q", 7, Some(7))]);
        assert!(!catch_up.is_over());
        catch_up.look(&own(), &[queue("q", 7, Some(7))]);
        assert!(catch_up.is_over());
    }

    /// It stays without one for ever where a majority of its replicas is gone. Of a stream
    /// nothing is said: it elects whatever is there.
    #[test]
    fn a_queue_that_has_lost_its_leader_for_good_is_not_waited_for_until_it_has_one() {
        let look = |catch_up: &mut CatchUp, queue: &QueueReplicas| {
            for _ in 0..UNLED_LOOKS {
                assert!(!catch_up.is_done());
                catch_up.look(&own(), std::slice::from_ref(queue));
            }
        };
        let mut catch_up = CatchUp::default();
        look(&mut catch_up, &queue("q", 5, None));
        assert!(catch_up.is_done() && !catch_up.is_over());
        assert_eq!((catch_up.behind().unwrap().count, catch_up.unled().names.len()), (0, 1));
        catch_up.look(&own(), &[queue("q", 5, Some(9))]);
        assert_eq!(catch_up.behind().unwrap().names, ["q"]);
        catch_up.look(&own(), &[queue("q", 9, Some(12))]);
        assert!(catch_up.is_over());
        let mut stream = queue("s", 5, None);
        stream.replicas[0].role = Some("replica".into());
        let silent = QueueReplicas { replicas: Vec::new(), ..queue("q", 0, None) };
        for unknown in [stream, silent] {
            let mut catch_up = CatchUp::default();
            look(&mut catch_up, &unknown);
            assert!(!catch_up.is_done(), "{unknown:?}");
        }
    }

    #[test]
    fn a_queue_that_is_gone_is_not_waited_for() {
        let mut catch_up = CatchUp::default();
        catch_up.look(&own(), &[queue("q", 1, Some(9))]);
        catch_up.look(&own(), &[]);
        assert!(catch_up.is_over());
    }

    /// A stream elects among those that are left, with whatever they have.
    #[test]
    fn more_than_half_of_those_that_stay_and_the_one_that_was_added_are_awaited() {
        let replica = |name: &str, reached: Option<i64>| Replica {
            node: NodeName::new(name),
            reached,
            committed: reached,
            role: None,
        };
        let all = [("a", Some(9)), ("b", Some(100)), ("c", Some(120)), ("d", None)];
        let replicas = all.map(|(name, reached)| replica(name, reached)).to_vec();
        let now = QueueReplicas { replicas, ..queue("s", 0, None) };
        let have = |added: Option<&str>, most_of: &[&str]| {
            let added = added.map(NodeName::new);
            let most_of = most_of.iter().map(|name| NodeName::new(*name)).collect();
            Awaited { added, most_of }.have(100, &now)
        };
        assert!(!have(None, &["a"]), "it is copying, and would be all that is left");
        assert!(!have(None, &["a", "b"]) && have(None, &["b", "c"]));
        assert!(have(None, &["a", "b", "c"]) && !have(None, &["a", "c", "d"]));
        assert!(!have(Some("a"), &["a", "b", "c"]) && !have(Some("d"), &[]));
        assert!(have(Some("b"), &["a", "b", "c"]) && have(Some("c"), &[]));
        assert!(Awaited::default().is_nobody());
    }

    #[test]
    fn an_answer_is_read_with_replicas_that_do_not_say() {
        use base64::Engine as _;
        let json = r#"{"rows":[[0,"q",[[4,null,null,2],[5,12,11,3],[6,12,12,1]]]],
            "words":["/","follower","noproc","leader","rabbit@a","rabbit@b","rabbit@c"]}"#;
        let text = base64::engine::general_purpose::STANDARD.encode(json);
        let read = parse(&format!("<<\"{text}\">>")).unwrap();
        assert_eq!((read[0].committed(), read[0].reached(&own())), (Some(11), None));
        assert_eq!(parse("{badrpc,nodedown}"), None);
    }

    #[test]
    fn a_stream_that_does_not_say_how_far_it_is_keeps_no_other_from_being_told() {
        for text in [expression(None), expression(Some(("/", "s")))] {
            assert!(text.contains("_ -> [] catch _:_ -> [] end"), "{text}");
        }
    }

    #[test]
    fn the_expression_is_one_and_its_brackets_close() {
        for text in [expression(None), expression(Some(("/", "a\")")))] {
            terms::assert_one_expression(&text);
        }
    }
}
