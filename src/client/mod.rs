//! The client (`claude`): its protocol, its command lines, and the user's arguments for it.

pub mod account;
pub mod args;
pub mod case;
pub mod form;
pub mod launch;
pub mod mode;
pub mod plan;
pub mod session_id;
pub mod stream;
pub mod transcript;
pub mod version;
