//! Why a server is not healthy, whatever it is.

palladion_api::sentences! {
    /// Why a server is not healthy.
    pub enum Health {
        Silent => "the server is not responding";
        NoServer => "the server is not running";
        NotWatched => "the agent was restarted; when this ended is not known";
        SaidNotWatched { said: String } => "{said}; the agent was restarted, and when this ended is not known";
    }
}
