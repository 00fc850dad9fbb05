//! Queues, in a sentence: how many, and which.

use palladion_api::service_member::QueueNames;
use palladion_plan::words::{Count, Names};

palladion_plan::sentences! {
    /// Some queues.
    pub enum Queues {
        None => "no queue";
        All { count: Count, names: Names } => "{count} ({names})";
        Some { count: Count, names: Names } => "{count} ({names} among them)";
    }
}

/// Characters that the names of one list take in a sentence. A status keeps 1,024 of a
/// question to a user, which has three lists at the most and ends with the command that
/// answers it; longer, it would be refused with the whole status.
const ROOM: usize = 80;

impl From<&QueueNames> for Queues {
    fn from(queues: &QueueNames) -> Self {
        let shown = shown(&queues.names);
        let known = u32::try_from(shown.len()).unwrap_or(u32::MAX);
        let (count, names) = (Count::of(queues.count, "queue"), Names::of(shown));
        match queues.count {
            0 => Queues::None,
            all if all <= known => Queues::All { count, names },
            _ => Queues::Some { count, names },
        }
    }
}

/// The first names, as many as there is room for, and one at the least.
fn shown(names: &[String]) -> Vec<String> {
    let mut room = ROOM;
    let mut shown = Vec::new();
    for name in names.iter().take(Names::SHOWN) {
        let long = name.chars().count();
        if long > room && shown.is_empty() {
            shown.push(name.chars().take(ROOM - 1).chain(['…']).collect());
        }
        if long > room {
            break;
        }
        shown.push(name.clone());
        // With what stands between two names.
        room = room.saturating_sub(long + ", ".len());
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::replace::{Loses, Problem};
    use palladion_api::ids::{MemberName, Nonce};
    use palladion_api::{labels, waits};
    use palladion_plan::words::Several;

    fn queues(number: usize, long: usize) -> QueueNames {
        QueueNames::of((0..number).map(|n| format!("{n:03}{}", "q".repeat(long - 3))))
    }

    #[test]
    fn as_many_names_are_shown_as_there_is_room_for() {
        let words = |queues: &QueueNames| Queues::from(queues).to_string();
        assert_eq!(words(&queues(0, 9)), "no queue");
        assert_eq!(words(&queues(2, 5)), "2 queues (000qq and 001qq)");
        let some = words(&queues(20, 38));
        let two: Vec<String> = queues(2, 38).names;
        assert_eq!(some, format!("20 queues ({} among them)", two.join(" and ")));
        let cut = words(&queues(1, 500));
        assert!(cut.starts_with("1 queue (000q") && cut.ends_with("…)"), "{cut}");
    }

    /// All that a cluster may be called, and as much as an agent may report.
    #[test]
    fn the_longest_question_to_a_user_fits_into_a_status() {
        let many = QueueNames { count: u32::MAX, ..queues(25, 700) };
        let (one, two) = (Queues::from(&many), Queues::from(&many));
        let loses = vec![
            Loses::Quorum { queues: Queues::from(&many) },
            Loses::All { queues: one },
            Loses::All { queues: two },
        ];
        let problem = Problem::QueuesWouldLoseQuorum {
            member: MemberName::new("m".repeat(63)),
            loses: Several(loses),
            namespace: "n".repeat(63),
            cluster: "c".repeat(52),
            annotation: labels::ALLOW_FORGET,
            nonce: Nonce::new("f".repeat(16)),
        };
        let message = problem.to_string();
        assert!(message.chars().count() <= waits::LONGEST, "{}", message.chars().count());
    }
}
