//! ccc: a supervised coding loop around the `claude` command line client. See ARCHITECTURE.md.

// Core: no I/O, no clock, no environment.
pub mod claude_args;
pub mod event;
pub mod form;
pub mod hook;
pub mod launch;
pub mod machine;
pub mod review_prompt;
pub mod session_id;
pub mod stream;
pub mod verdict;

// Adapters: each touches one part of the world.
pub mod child;
pub mod config;
pub mod endpoint;
pub mod external_editor;
pub mod files;
pub mod history;
pub mod instructions;
pub mod project_files;
pub mod pty;
pub mod record;
pub mod shim;
pub mod signals;
pub mod state;
pub mod supervisor;
pub mod surface;

// Where they meet.
pub mod session;

// Scripted sessions.
pub mod fixture;

// The command line.
pub mod cli;
pub mod cmd;
