//! What of a snapshot could not be read.

palladion_api::sentences! {
    /// Why a fact of a snapshot is not known.
    pub enum Unread {
        Unwatched { what: &'static str } => "{what} are not being watched yet";
        Field { field: String, object: String, why: String } => "cannot parse `{field}` of {object}: {why}";
    }
}
