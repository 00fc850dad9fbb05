//! Sample values, so that one test can print every sentence there is.

use super::{Count, Names, Quoted, Sentence, Several, Span};
use crate::cluster::{InternodeTlsMode, TurnStep};
use crate::ids::{
    ClientAddress, HostId, LockToken, MemberName, Nonce, PodUid, RackName, StaticAddress, Uid,
    VolumeId,
};
use crate::member::{
    DataBeforeStart, DebtKind, Liveness, MemberState, OperationKind, OperationState, PermitKind,
    ServerState, VolumeState, Word,
};
use crate::rabbitmq::NodeName;
use crate::reasons::Reason;
use crate::zookeeper::{ServerId, Zxid};
use jiff::{SignedDuration, Timestamp};

/// A type that can stand in a sentence and gives values to show it with.
pub trait Example: Clone {
    /// At least one value for a field of this name; more where they print
    /// differently, such as one and many.
    fn examples(field: &'static str) -> Vec<Self>;
}

/// A sentence with sample values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Path of the module that declares it.
    pub module: &'static str,
    /// The enum and its variant.
    pub name: &'static str,
    /// Its reason, where it has one.
    pub reason: Option<Reason>,
    /// The sentence.
    pub text: String,
}

/// Every variant of an enum of sentences.
pub fn samples_of<S: Sentence + Example>(module: &'static str) -> Vec<Sample> {
    S::examples("")
        .into_iter()
        .map(|s| Sample { module, name: s.name(), reason: s.category(), text: s.to_string() })
        .collect()
}

impl Example for String {
    fn examples(field: &'static str) -> Vec<Self> {
        vec![format!("<{}>", field.replace('_', " "))]
    }
}

impl Example for &'static str {
    fn examples(_field: &'static str) -> Vec<Self> {
        vec!["<text>"]
    }
}

impl Example for Reason {
    fn examples(_field: &'static str) -> Vec<Self> {
        vec![Reason::Running]
    }
}

impl Example for Quoted {
    fn examples(field: &'static str) -> Vec<Self> {
        String::examples(field).into_iter().map(Quoted).collect()
    }
}

impl Example for Names {
    fn examples(_field: &'static str) -> Vec<Self> {
        vec![Names::of(["a-0"]), Names::of(["a-0", "b-0"]), Names::of(["a-0", "b-0", "c-0"])]
    }
}

impl Example for Count {
    /// The field is named for what is counted: `members`.
    fn examples(field: &'static str) -> Vec<Self> {
        let noun = match field {
            "copies" => "copy",
            field => field.strip_suffix('s').unwrap_or(field),
        };
        vec![Count::of(1, noun), Count::of(3, noun)]
    }
}

impl<T: Example> Example for Several<T> {
    fn examples(field: &'static str) -> Vec<Self> {
        T::examples(field).chunks(2).map(|two| Several(two.to_vec())).collect()
    }
}

impl Example for Span {
    fn examples(_field: &'static str) -> Vec<Self> {
        vec![Span(SignedDuration::from_secs(300))]
    }
}

impl Example for Word {
    fn examples(_field: &'static str) -> Vec<Self> {
        vec![Self::new("Rewind")]
    }
}

impl Example for Timestamp {
    fn examples(_field: &'static str) -> Vec<Self> {
        vec![Timestamp::UNIX_EPOCH]
    }
}

macro_rules! identities {
    ($($type:ty),+) => {
        $(impl Example for $type {
            fn examples(field: &'static str) -> Vec<Self> {
                String::examples(field).into_iter().map(Self::new).collect()
            }
        })+
    };
}

identities!(
    ClientAddress,
    HostId,
    LockToken,
    MemberName,
    Nonce,
    PodUid,
    RackName,
    StaticAddress,
    Uid,
    VolumeId
);

impl Example for NodeName {
    fn examples(field: &'static str) -> Vec<Self> {
        String::examples(field).into_iter().map(Self::new).collect()
    }
}

impl Example for ServerId {
    fn examples(_field: &'static str) -> Vec<Self> {
        vec![Self::new(3)]
    }
}

impl Example for Zxid {
    fn examples(_field: &'static str) -> Vec<Self> {
        vec![Self::new(0x1_0000_0003)]
    }
}

macro_rules! states {
    ($($type:ident::$example:ident),+ $(,)?) => {
        $(impl Example for $type {
            fn examples(_field: &'static str) -> Vec<Self> {
                vec![Self::$example]
            }
        })+
    };
}

// A sentence prints them by `{field:?}`, as they stand in an object.
states!(
    DataBeforeStart::Keep,
    DebtKind::Cleanup,
    InternodeTlsMode::Prefer,
    Liveness::Up,
    MemberState::Normal,
    OperationKind::Repair,
    OperationState::Running,
    PermitKind::Join,
    ServerState::Running,
    TurnStep::Join,
    VolumeState::Joined,
);

macro_rules! numbers {
    ($($type:ty),+) => {
        $(impl Example for $type {
            fn examples(_field: &'static str) -> Vec<Self> {
                vec![3]
            }
        })+
    };
}

numbers!(i32, i64, u16, u32, u64, usize);
