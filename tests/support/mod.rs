//! What the test binaries share.

pub mod api;
pub mod ccc;
pub mod client;
pub mod dispositions;
pub mod held;
pub mod patience;
pub mod processes;
pub mod shell;
pub mod terminal;
