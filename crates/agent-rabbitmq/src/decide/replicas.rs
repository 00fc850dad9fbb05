//! How many replicas a queue should have, by how many it has and how many it was declared with.
//!
//! What a queue had before one of its nodes was lost nobody has noted. An odd number of replicas
//! was somebody's choice, RabbitMQ's own among them, which gives a stream that is declared without
//! a number one on each node; above the declared number an even one is what a change has left: one
//! too few after a replica was deleted with its node, one too many in the middle of a move.

/// Does a queue lack a replica, which a node that has joined and has none of it takes? Those
/// declared with more than there are nodes that run have one on each.
pub fn lacks_one(has: usize, declared: usize, running: usize) -> bool {
    // An even number bears the loss of no more nodes than the odd one below it, and of five
    // copies two losses would leave three.
    has < declared.min(running) || is_uneven(has, declared)
}

/// Has it one more than it should have, as an earlier move that was cut short leaves it? Then
/// that one takes the place of the one that is moved.
pub fn has_spare(has: usize, declared: usize) -> bool {
    has == declared.saturating_add(1) || is_uneven(has, declared)
}

/// Has it more than it was declared with, and an even number?
fn is_uneven(has: usize, declared: usize) -> bool {
    has > declared && has.is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_lacks_what_it_was_declared_with_as_far_as_there_are_nodes() {
        assert!(lacks_one(1, 3, 2) && lacks_one(2, 3, 3) && lacks_one(3, 5, 4));
        assert!(!lacks_one(3, 3, 4), "three is what it has by default, and never all");
        assert!(!lacks_one(1, 1, 4) && !lacks_one(2, 2, 3), "so few were asked for");
        assert!(!lacks_one(2, 3, 2), "there is nobody else");
    }

    #[test]
    fn a_queue_that_had_an_odd_number_of_replicas_lacks_the_one_that_was_deleted_with_its_node() {
        assert!(lacks_one(4, 3, 5) && lacks_one(6, 3, 7) && lacks_one(2, 1, 3));
        assert!(!lacks_one(5, 3, 7) && !lacks_one(3, 1, 5));
        // One more of its nodes is lost, and still counts.
        assert!(lacks_one(4, 3, 4));
    }

    #[test]
    fn a_replica_that_an_earlier_move_has_added_is_one_too_many() {
        assert!(has_spare(2, 1) && has_spare(4, 3) && has_spare(3, 2));
        assert!(!has_spare(1, 1) && !has_spare(3, 3));
        assert!(!has_spare(2, 3), "it has too few");
        assert!(!has_spare(3, 1) && !has_spare(5, 3), "somebody has grown it");
    }
}
