//! All queues as the node itself lists them, by an expression that is evaluated in its
//! virtual machine. The management API shows a user only the virtual hosts that it has
//! permissions in, and an empty list to one that has none: by it the agent would forget a
//! node that alone has a queue of a virtual host which somebody made yesterday.

use super::{Queue, terms};

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
#{vhost => V, name => N, type => T, node => O(amqqueue:get_pid(Q)), \
durable => amqqueue:is_durable(Q), exclusive => is_pid(amqqueue:get_exclusive_owner(Q)), \
members => case R of true -> I(T, Q, members); false -> [] end, \
online => case R of true -> try I(T, Q, online) catch _:_ -> [] end; false -> [] end, \
synchronised_slave_nodes => case T of \
rabbit_classic_queue -> case erlang:function_exported(amqqueue, get_sync_slave_pids, 1) of \
true -> case amqqueue:get_sync_slave_pids(Q) of L when is_list(L) -> [node(P) || P <- L]; \
_ -> [] end; false -> [] end; _ -> [] end, \
arguments => maps:from_list([{K, W} || {K, _, W} <- amqqueue:get_arguments(Q), is_integer(W)])} \
end";

/// Those of all virtual hosts, and those that are down with the only node that has them.
const ALL: &str = "[S(Q) || V <- rabbit_vhost:list_names(), Q <- rabbit_amqqueue:list(V) ++ rabbit_amqqueue:list_down(V)]";

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
    terms::as_json(&format!("(fun() -> {TELL}, {list} end)()"))
}

/// Read the answer.
pub fn parse(text: &str) -> Option<Vec<Queue>> {
    serde_json::from_str(&terms::answer(text)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::QueueKind;
    use base64::Engine as _;

    /// Cut from an answer of 3.10.8.
    #[test]
    fn queues_are_read_as_the_node_lists_them() {
        let json = r#"[{"arguments":{"x-initial-cluster-size":3},"durable":true,
            "exclusive":false,"members":["rabbit@a"],"name":"st","node":"rabbit@a",
            "online":["rabbit@a"],"synchronised_slave_nodes":[],"type":"rabbit_stream_queue",
            "vhost":"/"},{"arguments":{},"durable":true,"exclusive":false,"members":[],
            "name":"c","node":"rabbit@a","online":[],"synchronised_slave_nodes":[],
            "type":"rabbit_classic_queue","vhost":"v2"}]"#;
        let text = base64::engine::general_purpose::STANDARD.encode(json);
        let queues = parse(&format!("<<\"{text}\">>")).unwrap();
        assert_eq!((queues[0].kind(), queues[0].initial_size()), (QueueKind::Stream, Some(3)));
        assert_eq!((queues[1].kind(), queues[1].vhost.as_str()), (QueueKind::Classic, "v2"));
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

    #[test]
    fn the_expression_is_one_and_its_brackets_close() {
        for text in [expression(None), expression(Some(("/", "a\")")))] {
            terms::assert_one_expression(&text);
        }
    }
}
