//! Threads that keep processors busy.

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Busy until they are dropped.
pub struct Burners {
    stop: Arc<AtomicBool>,
}

impl Burners {
    /// So many.
    pub fn start(count: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        for _ in 0..count {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    spin_loop();
                }
            });
        }
        Self { stop }
    }
}

impl Drop for Burners {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
