//! The built program from the outside, without the real client.

mod agent_process;
mod command_line;
mod fixtures;
mod init;
mod room;
