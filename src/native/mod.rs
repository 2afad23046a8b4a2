//! Runs the full client on the person's terminal with ccc around it: the relay between the two
//! terminals, the client's reports through its hooks and its transcript, and ccc's answers.

pub mod hooks;
pub mod keys;
pub mod lines;
pub mod origin;
pub mod relay;
pub mod server;
pub mod settings;
pub mod status_line;
pub mod surface;
pub mod told;
pub mod transcript;
pub mod unreported;
pub mod words;
