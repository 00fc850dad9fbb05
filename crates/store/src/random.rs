//! Randomness of the machine.

use aws_lc_rs::rand::{SecureRandom, SystemRandom};
use palladion_backup::Random;

/// See the module.
#[derive(Debug)]
pub struct System(SystemRandom);

impl System {
    /// Ready to give.
    ///
    /// # Errors
    /// The machine gives none.
    pub fn new() -> Result<Self, String> {
        let random = Self(SystemRandom::new());
        random.filled().map(|_| random).ok_or("the machine gives no random bytes".to_string())
    }

    fn filled(&self) -> Option<[u8; 32]> {
        let mut bytes = [0; 32];
        self.0.fill(&mut bytes).ok().map(|()| bytes)
    }
}

impl Random for System {
    fn bytes(&self) -> [u8; 32] {
        // It has given before, in `new`; a salt that is not random would be worse than an end.
        self.filled().expect("the machine no longer gives random bytes")
    }
}
