//! ccc: a supervised coding loop around the `claude` command line client. See ARCHITECTURE.md.

#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

// Core: no I/O, no clock, no environment, but for the adapters that ARCHITECTURE.md names.
pub mod brief;
pub mod checks;
pub mod client;
pub mod event;
pub mod machine;
pub mod review;

// Adapters: each touches one part of the world.
pub mod case;
pub mod clock;
pub mod config;
pub mod console;
pub mod directories;
pub mod endpoint;
pub mod executables;
pub mod files;
pub mod hook;
pub mod native;
pub mod process;
pub mod prompt;
pub mod record;
pub mod surface;
pub mod threads;
pub mod tree;

// Where they meet.
pub mod session;

// Scripted sessions.
pub mod fixture;
pub mod gauntlet;

// The command line.
pub mod cli;
pub mod cmd;
