//! What is decided before a session begins.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::event::Carried;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    /// Somebody is there to type and to answer questions.
    pub person: bool,
    pub supervising: bool,
    pub max_iterations: u32,
    pub review_timeout: Duration,
    /// A server started in the background never ends; after this long its review goes ahead.
    pub background_wait: Duration,
    pub resume: Option<String>,
    /// The user's arguments make the client print something and leave, as `--help` does.
    pub client_may_leave: bool,
    /// Makes this session's message ids its own: the client drops an id that it has seen before.
    pub seed: u64,
    pub carried: Option<Carried>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            person: true,
            supervising: true,
            max_iterations: 10,
            review_timeout: Duration::from_secs(600),
            background_wait: Duration::from_secs(600),
            resume: None,
            client_may_leave: false,
            seed: 0,
            carried: None,
        }
    }
}
