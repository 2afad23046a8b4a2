//! The built program on a terminal, read as a person reads it: every test types keys, and looks at
//! the screen that an emulator makes of ccc's output. The client's lines are said by the test, one
//! at a time, so that nothing depends on how fast anything is.
//!
//! Exact pictures are in `snapshots/` and nowhere else. After a wanted change of the looks:
//!
//! ```sh
//! UPDATE_SCREENS=1 cargo test --test screen pictures
//! ```

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

mod client;
mod glass;
mod person;
mod picture;
mod stage;

mod clipboard;
mod colours;
mod commands;
mod editing;
mod ending;
#[cfg(target_os = "linux")]
mod flood;
mod interrupts;
mod modes;
mod panic;
mod paste;
mod permission;
mod pictures;
mod resize;
mod shell_commands;
mod streaming;
#[cfg(target_os = "linux")]
mod suspend;
mod waiting;
mod ways_out;
