//! Why the archived commit log of a member of a backup does not reach a point in time.

palladion_api::sentences! {
    /// See the module.
    pub enum Unreached {
        Nothing => "nothing of its commit log is archived";
        Begins { at: String } => "its archive begins at {at}, too late for this backup; restore from a backup that was begun a minute after that, or later";
        Ends { until: String } => "its archive ends at {until}; restore to a time until then";
        Gap { until: String, why: String } => "its archive has a gap after {until}: {why}; restore to a time until then, or from a later backup";
        Unsaid { until: String } => "its archive has a gap after {until}; restore to a time until then, or from a later backup";
        Schema { until: String, from: String } => "tables were created, altered or dropped between {until} and {from}; restore to a time until {until}, or from a backup that was taken after {from}";
        Between { from: String, to: String } => "what was written between {from} and {to} was archived in one piece; restore to a time until {from}, or from {to} on";
        Members { until: String } => "members joined, left or moved after {until}; restore to a time until then, or from a later backup";
        Tokens { until: String } => "it had other tokens after {until}; restore to a time until then, or from a later backup";
        OtherLine { found: String, own: String } => "its commit log was written by Cassandra {found}, and this ring runs {own}; restore it into a ring of that version";
    }
}
