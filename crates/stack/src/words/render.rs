//! Templates.

palladion_plan::sentences! {
    /// What is wrong with a template.
    pub enum Fault {
        Undefined => "a variable, or a field of one, does not exist";
        TooMuchWork => "it does not end: shorten its loops";
        TooLong { bytes: usize, most: usize } => "the text has {bytes} bytes, and at most {most} are allowed";
        NoJson { why: String } => "the text is no JSON: {why}";
        Detailed { why: String, detail: String } => "{why}: {detail}";
        Other { why: String } => "{why}";
    }

    /// Why a value is not compared.
    pub enum Incomparable {
        Long { most: usize } => "values of more than {most} bytes are not compared";
    }
}
