//! All queues as the node itself lists them, by an expression that is evaluated in its
//! virtual machine. The management API shows a user only the virtual hosts that it has
//! permissions in, and an empty list to one that has none: by it the agent would forget a
//! node that alone has a queue of a virtual host which somebody made yesterday.

use super::terms::Table;
use super::{Queue, terms};
use palladion_api::rabbitmq::NodeName;
use serde_json::{Map, Value};

/// What of a queue is told: `info/2` of a type is what the management API shows of it. Of
/// its arguments only figures, as the agent reads no others.
///
/// Which replicas of a stream are online, a coordinator says that runs on each node but one
/// that has only just joined (`rabbit_stream_queue:i/2` fails without it, up to 3.13): that
/// none is said to be online holds a change back, and the list is there. Members are in the
/// node's own tables, and an answer without them would be taken for a queue that is nowhere.
const TELL: &str = "\
I = fun(M, Q, K) -> proplists:get_value(K, M:info(Q, [K]), []) end, \
O = fun({_, Node}) -> Node; (P) when is_pid(P) -> node(P); (_) -> null end, \
S = fun(Q) -> {resource, V, queue, N} = amqqueue:get_name(Q), T = amqqueue:get_type(Q), \
R = lists:member(T, [rabbit_quorum_queue, rabbit_stream_queue]), \
[V, N, T, O(amqqueue:get_pid(Q)), \
amqqueue:is_durable(Q), is_pid(amqqueue:get_exclusive_owner(Q)), \
case R of true -> I(T, Q, members); false -> [] end, \
case R of true -> try I(T, Q, online) catch _:_ -> [] end; false -> [] end, \
case T of \
rabbit_classic_queue -> case erlang:function_exported(amqqueue, get_sync_slave_pids, 1) of \
true -> case amqqueue:get_sync_slave_pids(Q) of L when is_list(L) -> [node(P) || P <- L]; \
_ -> [] end; false -> [] end; _ -> [] end, \
maps:from_list([{K, W} || {K, _, W} <- amqqueue:get_arguments(Q), is_integer(W)])] \
end";

/// Those of all virtual hosts, and those that are down with the only node that has them. One
/// that ends with its connection is nobody's loss, and there may be very many.
const ALL: &str = "[S(Q) || V <- rabbit_vhost:list_names(), \
Q <- rabbit_amqqueue:list(V) ++ rabbit_amqqueue:list_down(V), \
not is_pid(amqqueue:get_exclusive_owner(Q))]";

const WORDS: &str =
    "[X || [V, _, T, O, _, _, Ms, On, Sy, _] <- R, X <- [V, T, O | Ms ++ On ++ Sy]]";
const ROW: &str = "[[G(V), N, G(T), G(O), D, E, [G(X) || X <- Ms], [G(X) || X <- On], \
[G(X) || X <- Sy], A] || [V, N, T, O, D, E, Ms, On, Sy, A] <- R]";

/// A queue: virtual host, name, kind, node, durable, exclusive, members, online, mirrors in
/// step, arguments.
type Row = (
    usize,
    String,
    usize,
    usize,
    bool,
    bool,
    Vec<usize>,
    Vec<usize>,
    Vec<usize>,
    Map<String, Value>,
);

/// The expression by which all of them, or one, are asked for.
pub fn expression(of: Option<(&str, &str)>) -> String {
    let list = of.map_or_else(
        || ALL.to_string(),
        |(vhost, name)| {
            let (vhost, name) = (terms::binary(vhost), terms::binary(name));
            format!(
                "[S(Q) || {{ok, Q}} <- \
                 [rabbit_amqqueue:lookup(rabbit_misc:r({vhost}, queue, {name}))]]"
            )
        },
    );
    let rows = format!("(fun() -> {TELL}, {list} end)()");
    terms::as_json(&terms::by_words(&rows, WORDS, ROW))
}

/// Read the answer.
pub fn parse(text: &str) -> Option<Vec<Queue>> {
    let table: Table<Row> = serde_json::from_str(&terms::answer(text)?).ok()?;
    table.rows.iter().map(|row| queue(&table, row)).collect()
}

fn queue(table: &Table<Row>, row: &Row) -> Option<Queue> {
    let (vhost, name, kind, node, durable, exclusive, members, online, mirrors, arguments) = row;
    Some(Queue {
        name: name.clone(),
        vhost: table.word(*vhost)??.to_string(),
        kind: table.word(*kind)?.map(str::to_string),
        durable: *durable,
        exclusive: *exclusive,
        node: table.word(*node)?.map(NodeName::new),
        members: table.nodes(members)?,
        online: table.nodes(online)?,
        synchronised_slave_nodes: table.nodes(mirrors)?,
        arguments: arguments.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::QueueKind;
    use base64::Engine as _;

    fn printed(json: &str) -> String {
        format!("<<\"{}\">>", base64::engine::general_purpose::STANDARD.encode(json))
    }

    /// As 3.10.8 answers.
    #[test]
    fn queues_are_read_as_the_node_lists_them() {
        let json = r#"{"rows":[[0,"st",6,3,true,false,[3,4],[3],[],{"x-initial-cluster-size":3}],
            [1,"c",5,2,true,false,[],[],[],{}]],
            "words":["/","v2",null,"rabbit@a","rabbit@b","rabbit_classic_queue",
            "rabbit_stream_queue"]}"#;
        let queues = parse(&printed(json)).unwrap();
        assert_eq!((queues[0].kind(), queues[0].initial_size()), (QueueKind::Stream, Some(3)));
        assert_eq!(queues[0].members, ["rabbit@a", "rabbit@b"].map(NodeName::new));
        assert_eq!((&queues[0].online[..], queues[0].durable), (&queues[0].members[..1], true));
        assert_eq!((queues[1].kind(), queues[1].vhost.as_str()), (QueueKind::Classic, "v2"));
        assert_eq!(queues[1].node, None);
        // What names a place that there is not is no answer, and not an empty one.
        assert_eq!(
            parse(&printed(r#"{"words":[],"rows":[[0,"q",0,0,true,false,[],[],[],{}]]}"#)),
            None
        );
        // A node whose application is stopped has no tables: that is no empty list.
        assert_eq!(parse("{:aborted, {:no_exists, [:rabbit_vhost]}}"), None);
    }

    /// On a node that has just joined no coordinator of streams runs yet.
    #[test]
    fn a_stream_whose_replicas_do_not_say_whether_they_are_online_is_listed() {
        for text in [expression(None), expression(Some(("/", "s")))] {
            assert!(text.contains("try I(T, Q, online) catch _:_ -> [] end"), "{text}");
            assert!(text.contains("true -> I(T, Q, members);"), "{text}");
        }
    }

    /// A node's name has 60 characters: a queue of three would be told by 700 bytes.
    #[test]
    fn what_a_queue_takes_of_an_answer_does_not_grow_with_the_names_of_nodes() {
        let row = r#"[0,"tenant-orders-12345",2,3,true,false,[3,4,5],[3,4,5],[],{}],"#;
        let most = usize::try_from(crate::wire::ctl::MOST_BYTES).unwrap();
        assert!(most * 3 / 4 / row.len() > 80_000);
        for text in [expression(None), expression(Some(("/", "s")))] {
            assert!(text.contains("rows => [[G(V), N, G(T), G(O), D, E, [G(X) || X <- Ms]"));
        }
        assert!(expression(None).contains("not is_pid(amqqueue:get_exclusive_owner(Q))"));
    }

    #[test]
    fn the_expression_is_one_and_its_brackets_close() {
        for text in [expression(None), expression(Some(("/", "a\")")))] {
            terms::assert_one_expression(&text);
        }
    }
}
