//! The Stop hook of the plain client: what it is told, and what it remembers.

pub mod background;
pub mod client_environment;
pub mod config_change;
pub mod event;
pub mod pinned;
pub mod reply;
pub mod state;
pub mod task;
pub mod transcript_file;
