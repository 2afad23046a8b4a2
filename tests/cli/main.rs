//! The built program from the outside, without the real client.

#[path = "../support/dispositions.rs"]
mod dispositions;
#[path = "../support/patience.rs"]
mod patience;
#[path = "../support/processes.rs"]
mod processes;
#[path = "../support/room.rs"]
mod room;
#[path = "../support/shell.rs"]
mod shell;

mod agent_process;
#[cfg(target_os = "linux")]
mod case;
mod check;
mod checks_in_a_session;
mod command_line;
mod doctor;
mod fixtures;
mod full_disk;
mod hook;
mod init;
mod judge;
mod layering;
mod person;
mod plain;
mod plugin;
mod prompt;
mod proof;
mod providers;
mod relay;
mod replay;
mod scenarios;
mod sessions;
mod settings;
mod supervised_loop;
mod supervisor_mode;
mod validate;
