//! The Stop hook of the plain client: the events it receives, its replies, and the state it keeps.

pub mod background;
pub mod client_environment;
pub mod config_change;
pub mod event;
pub mod pinned;
pub mod reply;
pub mod state;
pub mod task;
pub mod transcript_file;
