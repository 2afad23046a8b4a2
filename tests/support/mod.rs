//! What the test binaries share.

pub mod api;
pub mod ccc;
pub mod client;
pub mod held;
pub mod processes;
pub mod terminal;
