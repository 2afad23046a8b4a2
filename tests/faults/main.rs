//! What must not go wrong, provoked on the built program: signals at bad moments, closed windows,
//! output that nobody reads, clients that say odd things or nothing, processes that are killed,
//! stopped or left behind. One file per group. Every test waits for something that it can see.

#![cfg(target_os = "linux")]

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

#[path = "../screen/client.rs"]
#[allow(dead_code, reason = "each test binary uses its own part of it")]
mod client;
#[path = "../screen/glass.rs"]
#[allow(dead_code, reason = "each test binary uses its own part of it")]
mod glass;
#[path = "../screen/person.rs"]
#[allow(dead_code, reason = "each test binary uses its own part of it")]
mod person;
#[path = "../screen/picture.rs"]
#[allow(dead_code, reason = "each test binary uses its own part of it")]
mod picture;
#[path = "../screen/stage.rs"]
#[allow(dead_code, reason = "each test binary uses its own part of it")]
mod stage;

mod agent;
mod early_judge;
mod files;
mod hook;
mod hostile_text;
mod secrets;
mod signals;
mod streams;
mod table;
mod terminal;
mod tool;
