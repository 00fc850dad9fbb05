//! The two macros by which a crate declares what people read.

/// Declares enums of sentences; [`crate::words`] has a worked example.
///
/// A variant is `Name { field: Type } => Reason, "words with {field}";`. Either
/// every variant of an enum has a reason, and the enum is
/// [`Reasoned`](crate::words::Reasoned), or none has. Use it once per file, in
/// a file that [`vocabulary!`](crate::vocabulary) names.
#[macro_export]
macro_rules! sentences {
    ($(
        $(#[$meta:meta])*
        $vis:vis enum $Name:ident {
            $(
                $(#[$variant_meta:meta])*
                $Variant:ident $({ $($(#[$field_meta:meta])* $field:ident : $type:ty),* $(,)? })?
                    => $($Reason:ident,)? $text:literal;
            )+
        }
    )+) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Debug, PartialEq, Eq)]
            $vis enum $Name {
                $(
                    $(#[$variant_meta])*
                    #[doc = ""]
                    #[doc = concat!("> ", $text)]
                    $Variant $({ $(
                        $(#[$field_meta])*
                        #[doc = concat!("`{", stringify!($field), "}` of the sentence.")]
                        $field: $type
                    ),* })?,
                )+
            }

            impl ::core::fmt::Display for $Name {
                // A field may be there for those who match the variant only.
                #[allow(unused_variables)]
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    match self {
                        $(Self::$Variant $({ $($field),* })? => ::core::write!(f, $text),)+
                    }
                }
            }

            impl $crate::words::Sentence for $Name {
                fn name(&self) -> &'static str {
                    match self {
                        $(Self::$Variant { .. } =>
                            concat!(stringify!($Name), "::", stringify!($Variant)),)+
                    }
                }

                fn category(&self) -> Option<$crate::Reason> {
                    match self {
                        $(Self::$Variant { .. } => $crate::category_of_sentence!($($Reason)?),)+
                    }
                }
            }

            impl $crate::words::Example for $Name {
                fn examples(_field: &'static str) -> Vec<Self> {
                    let mut all = Vec::new();
                    $({
                        $($(
                            let $field = <$type as $crate::words::Example>::examples(stringify!($field));
                        )*)?
                        let times = 1_usize $($(.max($field.len()))*)?;
                        for at in 0..times {
                            let _ = at;
                            all.push(Self::$Variant $({
                                $($field: $field[at % $field.len()].clone()),*
                            })?);
                        }
                    })+
                    all
                }
            }

            $crate::reasons_of_sentences!($Name: $($Variant [$($Reason)?])+);
        )+

        /// Every sentence of this file, with samples in place of what varies.
        pub(super) fn samples() -> Vec<$crate::words::Sample> {
            let mut all = Vec::new();
            $(all.extend($crate::words::samples_of::<$Name>(module_path!()));)+
            all
        }
    };
}

/// Names every file of a folder of words: makes one `samples()` of theirs.
#[macro_export]
macro_rules! vocabulary {
    ($($file:ident),+ $(,)?) => {
        /// Every sentence of this folder, with samples in place of what varies.
        pub fn samples() -> Vec<$crate::words::Sample> {
            let mut all = Vec::new();
            $(all.extend($file::samples());)+
            all
        }
    };
}

/// Part of [`sentences!`](crate::sentences).
#[doc(hidden)]
#[macro_export]
macro_rules! category_of_sentence {
    () => {
        None
    };
    ($Reason:ident) => {
        Some($crate::Reason::$Reason)
    };
}

/// Part of [`sentences!`](crate::sentences).
#[doc(hidden)]
#[macro_export]
macro_rules! reasons_of_sentences {
    ($Name:ident: $($Variant:ident [$Reason:ident])+) => {
        impl $crate::words::Reasoned for $Name {
            fn reason(&self) -> $crate::Reason {
                match self { $(Self::$Variant { .. } => $crate::Reason::$Reason,)+ }
            }
        }
    };
    ($Name:ident: $($Variant:ident [])+) => {};
    ($Name:ident: $($rest:tt)+) => {
        compile_error!(concat!(
            "either every variant of ", stringify!($Name), " has a reason, or none has"
        ));
    };
}
